"""What the parser makes of outputs that models really give."""

from __future__ import annotations

import time

import pytest

from sbench_dag.rewards.parser import parse
from sbench_dag.rewards.score import Status

SCORES = [
    # as asked
    ("ANSWER: 4", 4),
    ("answer: 1", 1),
    ("Answer:5", 5),
    ("ANSWER : 2", 2),
    ("  \n ANSWER: 3\n\n", 3),
    ("ANSWER: 4.", 4),
    ("ANSWER: 4<|im_end|>", 4),
    ("ANSWER: 3, since the bowl stays on the table", 3),
    ("ANSWER: 4 - Near Completion: the right region", 4),
    ("ANSWER: 4\n- 2 of 3 objects were moved\n- 1 fell", 4),
    ("The gripper holds the cup.\n\nANSWER: 5", 5),
    ("I rate it in the format ANSWER: <score>.\nANSWER: 2", 2),
    # marks around it
    ("ANSWER: **4**", 4),
    ("**ANSWER:** 4", 4),
    ("**ANSWER: 4**", 4),
    ("### ANSWER\n4", 4),
    ("ANSWER: `4`", 4),
    ("ANSWER: '4'", 4),
    ("ANSWER: <4>", 4),
    ("ANSWER: [4]", 4),
    ("ANSWER: [[4]]", 4),
    ("ANSWER: (4)", 4),
    ("[ANSWER]: 4", 4),
    ("ANSWER: \\boxed{4}", 4),
    ("ANSWER: $\\boxed{4}$", 4),
    ("<answer>4</answer>", 4),
    ("<answer>4</answer> 3 objects were moved", 4),
    # other words for it
    ("Final answer: 2", 2),
    ("The answer is 3.", 3),
    ("ANSWER = 3", 3),
    ("ANSWER 3", 3),
    ("ANSWER - 3", 3),
    ("Score: 4", 4),
    ("Score (1-5): 4", 4),
    ("Grasp score: 5\nPlace score: 2\nANSWER: 3", 3),
    ("Rating: 2/5", 2),
    ("4", 4),
    ("**4**", 4),
    ("4.", 4),
    ("4/5", 4),
    # numbers
    ("ANSWER: 4.0", 4),
    ("ANSWER: 4,0", 4),
    ("ANSWER: +4", 4),
    ("ANSWER: 4/5", 4),
    ("ANSWER: 4 / 5", 4),
    ("ANSWER: 4 out of 5", 4),
    ("ANSWER: [4/5]", 4),
    # several that agree
    ("ANSWER: 4\n\nSo the ANSWER: 4", 4),
    ("ANSWER: 4 (answer = 4.0)", 4),
    # JSON
    ('{"answer": 4}', 4),
    ('{"answer": "4", "reason": "the cup is 3 cm off"}', 4),
    ('```json\n{"score": 2}\n```', 2),
    # thinking
    ("<think>Is it ANSWER: 2?</think> ANSWER: 5", 5),
    ("the template opened it, ANSWER: 2</think>\nANSWER: 5", 5),
    ("<think>I was told to <think> first.</think> ANSWER: 5", 5),
    ("<think>a</think> ANSWER: 5 <think>b</think>", 5),
    ("<think>a <think>b</think> ANSWER: 1</think>ANSWER: 5", 5),
    ("<thinking>\nANSWER: 1\n</thinking>\n\n3", 3),
    # other scripts
    ("ＡＮＳＷＥＲ：４", 4),
    ("ANSWER：4", 4),
    ("ANSWER:\u200b4", 4),
    ("ANSWER: ٤", 4),
    ("ANSWER: ④", 4),
    ("ANSWER: 【4】", 4),
    ("答案：4分", 4),
    ("机器人没有拿起杯子。评分：1", 1),
    ("答え: 3", 3),
    ("정답: 3", 3),
    ("Antwort: 3", 3),
    ("La respuesta es clara.\nRéponse : 2", 2),
    ("Ответ: 5", 5),
]

NO_SCORES = [
    (None, "no text"),
    ("", "no text"),
    (" \n\t ", "no text"),
    ("I can't watch videos.", "no 'ANSWER: <score>' in it"),
    ("ANSWER:", "no 'ANSWER: <score>' in it"),
    ("ANSWER: <score>", "no 'ANSWER: <score>' in it"),
    ("ANSWER: N/A", "no 'ANSWER: <score>' in it"),
    ("ANSWER: four", "no 'ANSWER: <score>' in it"),
    ("ANSWER: IV", "no 'ANSWER: <score>' in it"),
    ("ANSWER: not 4", "no 'ANSWER: <score>' in it"),
    ("ANSWER: about 4", "no 'ANSWER: <score>' in it"),
    ("ANSWER: <4", "no 'ANSWER: <score>' in it"),
    ("ANSWER: 1-5", "no 'ANSWER: <score>' in it"),
    ("I will answer 4 questions", "no 'ANSWER: <score>' in it"),
    ("1. The robot moves.\n2. It stops.", "no 'ANSWER: <score>' in it"),
    ("4 objects were moved", "no 'ANSWER: <score>' in it"),
    ("The robot moved 4 cm", "no 'ANSWER: <score>' in it"),
    ('{"value": 4}', "no 'ANSWER: <score>' in it"),
    ("ANSWER: 0", "0 is not from 1 to 5"),
    ("ANSWER: 6", "6 is not from 1 to 5"),
    ("ANSWER: 45", "45 is not from 1 to 5"),
    ("ANSWER: -4", "-4 is not from 1 to 5"),
    ("ANSWER: −4", "-4 is not from 1 to 5"),
    ("45", "45 is not from 1 to 5"),
    ("ANSWER: 4.5", "4.5 is not a whole number"),
    ("ANSWER: 4,5", "4,5 is not a whole number"),
    ("4.5", "4.5 is not a whole number"),
    ("ANSWER: 4½", "'41/2' is not one score"),
    ("ANSWER: 1.2.3", "'1.2.3' is not a number"),
    ("ANSWER: 3-4", "'3-4' is not one score"),
    ("ANSWER: 3–4", "'3-4' is not one score"),
    ("ANSWER: 3 to 4", "'3 to 4' is not one score"),
    ("ANSWER: 3 or 4", "'3 or 4' is not one score"),
    ("ANSWER: 3, 4", "'3, 4' is not one score"),
    ("3-4", "'3-4' is not one score"),
    ("ANSWER: 4/10", "'4/10' is not one score"),
    ("ANSWER: 4 out of 10", "'4 out of 10' is not one score"),
    ("ANSWER: 4%", "'4%' is not one score"),
    ("ANSWER: 4e0", "'4e' is not one score"),
    ("ANSWER: 2\nANSWER: 5", "it answers 2 and 5"),
    ("ANSWER: 4\nOn reflection, ANSWER: 45", "45 is not from 1 to 5"),
    ("Score: 2. Later score: 3", "it answers 2 and 3"),
    ("<think>It seems that ANSWER: 4", "thinking was cut off before an answer"),
    ("ANSWER: 4 <think>or maybe", "thinking was cut off before an answer"),
    ("<think>ANSWER: 4</think>", "nothing but thinking"),
]


@pytest.mark.parametrize(("text", "value"), SCORES, ids=[repr(text)[:50] for text, _ in SCORES])
def test_one_whole_number_from_1_to_5_is_the_score(text: str, value: int):
    score = parse(text)
    assert (score.status, score.value, score.why) == (Status.SCORED, value, "")
    assert score.answer == text


@pytest.mark.parametrize(("text", "why"), NO_SCORES, ids=[repr(text)[:50] for text, _ in NO_SCORES])
def test_anything_else_is_unparseable_with_its_reason(text: str | None, why: str):
    score = parse(text)
    assert (score.status, score.value, score.why) == (Status.UNPARSEABLE, None, why)
    assert score.answer == text


BABBLE = ["(" * 100_000, "ANSWER " * 50_000, "ANSWER: <" * 30_000, "1 " * 100_000, "<think>" * 30_000]


@pytest.mark.parametrize("text", BABBLE, ids=[text[:9] for text in BABBLE])
def test_a_server_that_babbles_costs_no_more_than_a_moment(text: str):
    began = time.perf_counter()
    assert parse(text).status == Status.UNPARSEABLE
    assert time.perf_counter() - began < 2.0
