"""The question, and whose it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbench_dag.errors import InputError
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.prompt import Prompt, read_prompt

PLAIN = Example("a", Path("a.mp4"), "put {the} cup on the shelf")
OWN = Example("b", Path("b.mp4"), "pick", prompt="Rate {task} from 1 to 5.")


def test_the_question_holds_the_instruction_the_rubric_and_the_form_of_the_answer():
    question = Prompt().question(PLAIN)
    assert "The task: put {the} cup on the shelf\n" in question
    assert all(f"\n{score}: " in question for score in range(1, 6))
    assert question.endswith("\nANSWER: <score>")


def test_a_data_set_that_brings_its_own_question_is_asked_that_one():
    assert Prompt().question(OWN) == "Rate {task} from 1 to 5."
    assert Prompt().hash(OWN) != Prompt().hash(PLAIN) == Prompt().hash()


def test_a_prompt_file_must_say_where_the_instruction_goes(tmp_path: Path):
    (file := tmp_path / "prompt.txt").write_text("Rate this: {task}\n")
    assert read_prompt(file).question(PLAIN) == "Rate this: put {the} cup on the shelf"
    file.write_text("Rate this.")
    with pytest.raises(InputError, match=r"prompt.txt: prompt = 'Rate this.': must contain \{task\}"):
        read_prompt(file)
    with pytest.raises(InputError, match="can't be read"):
        read_prompt(tmp_path / "gone.txt")
