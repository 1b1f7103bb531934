"""A fingerprint changes with what it covers and with nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from sbench_dag.outcomes import Outcome
from sbench_dag.work.fingerprint import code_sha256, fingerprint


@dataclass(frozen=True)
class Settings:
    limit: float = 0.5
    names: tuple[str, ...] = ("a", "b")


def test_equal_values_have_equal_fingerprints():
    assert fingerprint({"a": 1, "b": Settings()}) == fingerprint({"b": Settings(), "a": 1})
    assert fingerprint(Settings(0.6)) != fingerprint(Settings())
    assert fingerprint(Outcome.SUCCESS) == fingerprint("success")


def test_what_has_no_plain_form_is_refused():
    with pytest.raises(TypeError, match="object"):
        fingerprint(object())


def test_comments_docstrings_and_layout_are_no_code(tmp_path: Path):
    one, two, three = (tmp_path / name for name in ("one.py", "two.py", "three.py"))
    one.write_text('"""Says this."""\ndef f(x):\n    """And this."""\n    return x + 1\n')
    two.write_text('"""Says that."""\n\n\ndef f(x):\n    # why\n    return (\n        x + 1\n    )\n')
    three.write_text("def f(x):\n    return x + 2\n")
    assert code_sha256([one]) == code_sha256([two]) != code_sha256([three])
