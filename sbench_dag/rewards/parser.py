"""A reward model's text -> its score. What does not say exactly one whole number from 1 to 5 has no score.

The grammar, after normalisation:

    text      := anything that holds statements | value
    statement := label [ "(" ... ")" ] separator value
    label     := a word of _ANSWER; only where no such statement has a value, one of _SCORE
    separator := ":" "=" ">" "->" "is" or a dash between spaces; nothing at all where the label begins its line
    value     := number [ "/5" | "out of 5" | "of 5" ], maybe in brackets

Normalisation: Unicode's compatibility forms and decimal digits become ASCII, markdown's marks, quotes and `\\boxed` go,
so do special tokens, closing tags, thinking, and mentions of the whole scale ("1-5", "1, 2, 3, 4, 5").

All statements must agree. A number is whole ("4.0" is 4, "4.5" is no score), within 1..5 (nothing is clipped), and
alone ("3-4", "3 or 4" are no scores). Other scales ("8/10", "80 %") and number words ("four") are no scores. Thinking
that was cut off before its end tag leaves no answer, whatever stands in it.
"""

from __future__ import annotations

import re
import unicodedata

from sbench_dag.rewards.score import HIGHEST, LOWEST, Score, Status

# \b knows no words in scripts without spaces
_ANSWER = r"\b(?:answer|antwort|respuesta|réponse|resposta|risposta|odpowiedź|yanıt|ответ)\b|答案|回答|答え|정답|답변"
_SCORE = r"\b(?:score|reward|rating|оценка|puntuación)\b|评分|評分|得分|分数|分數|スコア|評価|점수"

_THINKING = re.compile(r"<(/?)(?:think|thinking|thoughts?|reasoning)>", re.I)

_NUMBER = r"[-+]?\d[\d.,]*"
_SCALE = r"(?:[ \t]*(?:/|out\s+of|of)\s*5(?![\d.]))?"
_TOKEN = re.compile(r"<\|[^|<>]{0,40}\|>")
_CLOSING_TAG = re.compile(r"</\w{1,40}>")
_MARKS = re.compile(r"[*`~#$\"'“”‘’«»]|\\(?:boxed|text|mathbf|textbf)\b")
_BRACKETS = re.compile(rf"[\[({{<【「『《〈]\s*({_NUMBER}{_SCALE})\s*[\])}}>】」』》〉]")
_WHOLE_SCALE = re.compile(
    r"(?<![\d.,-])1\s*(?:(?:-|to)\s*5|,\s*2\s*,\s*3\s*,\s*4\s*,?\s*(?:or|and|to)?\s*5)(?![\d.,]*\d)"
)
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")

_SEPARATOR = r"(?:\s*[\])}】」]?\s*(?:\([^()\n]{0,40}\))?\s*(?::|=>?|->|>|→|\bis\b:?)\s*|[ \t]+-[ \t]+)"
_VALUE = re.compile(rf"({_NUMBER}){_SCALE}")
# those without a number are none: models echo the format that they were asked for
_STATEMENTS = [
    re.compile(
        rf"(?:(?:{label}){_SEPARATOR}|^[\[({{<【「\s]*(?:final\s+)?(?:{label})[\])}}>】」]?\s+)(?={_NUMBER})",
        re.I | re.M,
    )
    for label in (_ANSWER, _SCORE)
]
_CONTINUED = re.compile(r"[ \t]*(?:-|/|,|\bto\b|\bor\b|\band\b|\bout\s+of\b|\bof\b|&|±)\s*\d+|[ \t]*%|[A-Za-z]+")


def parse(text: str | None) -> Score:
    """SCORED with its value, or UNPARSEABLE with the reason in `why`. `answer` is the text as it came."""
    try:
        value = _read(text)
    except _NoScore as no:
        return Score(Status.UNPARSEABLE, why=str(no), answer=text)
    return Score(Status.SCORED, value, answer=text)


class _NoScore(Exception):
    pass


def _read(text: str | None) -> int:
    if text is None or not text.strip():
        raise _NoScore("no text")
    plain = _normalise(_without_thinking(text))
    for statements in _STATEMENTS:
        if values := [plain[found.end() :] for found in statements.finditer(plain)]:
            return _agreed([_whole(value)[0] for value in values])
    if _VALUE.match(plain.strip()):
        value, rest = _whole(plain.strip())
        if not rest.strip(" .!。\n"):
            return value
    raise _NoScore("no 'ANSWER: <score>' in it")


def _without_thinking(text: str) -> str:
    kept, thinking, at = [], False, 0
    for tag in _THINKING.finditer(text):
        if not thinking:
            kept.append(text[at : tag.start()])
        if tag[1] and not thinking:  # the chat template had opened it
            kept.clear()
        thinking, at = not tag[1], tag.end()
    if thinking:
        raise _NoScore("thinking was cut off before an answer")
    plain = " ".join([*kept, text[at:]])
    if not plain.strip():
        raise _NoScore("nothing but thinking")
    return plain


def _normalise(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).translate(_DASHES).replace("⁄", "/").replace("_", " ")
    text = "".join(_plain(character) for character in text)
    text = _CLOSING_TAG.sub("\n", _TOKEN.sub(" ", text))
    text = _WHOLE_SCALE.sub("…", _MARKS.sub("", text))
    for _ in range(2):
        text = _BRACKETS.sub(r" \1 ", text)
    return text


def _plain(character: str) -> str:
    if character.isascii():
        return character
    if unicodedata.category(character) == "Cf":  # zero-width marks
        return ""
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _whole(text: str) -> tuple[int, str]:
    """The score that the text begins with, and what follows it."""
    found = _VALUE.match(text)
    assert found is not None
    token = found[1].rstrip(".,")
    rest = text[found.end() :] if found.end() > found.end(1) else text[found.start(1) + len(token) :]
    if more := _CONTINUED.match(rest):
        raise _NoScore(f"{(token + more[0]).strip()!r} is not one score")
    try:
        number = float(token.replace(",", "."))
    except ValueError:
        raise _NoScore(f"{token!r} is not a number") from None
    if not LOWEST <= number <= HIGHEST:
        raise _NoScore(f"{token} is not from {LOWEST} to {HIGHEST}")
    if not number.is_integer():
        raise _NoScore(f"{token} is not a whole number")
    return int(number), rest


def _agreed(values: list[int]) -> int:
    if len(set(values)) > 1:
        raise _NoScore(f"it answers {' and '.join(map(str, sorted(set(values))))}")
    return values[0]
