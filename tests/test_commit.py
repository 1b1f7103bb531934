"""A run and a page say which code made them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sbench_dag import commit
from sbench_dag.commit import CHECKOUT, code_commit


def test_code_beside_which_no_git_folder_lies_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An installed package in somebody's repository is not of that repository."""
    monkeypatch.setattr(commit, "CHECKOUT", tmp_path)
    assert code_commit.__wrapped__() is None


@pytest.mark.skipif(not (CHECKOUT / ".git").exists(), reason="the tests run outside of a git checkout")
def test_the_commit_is_the_checkouts():
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    found = code_commit.__wrapped__()
    assert found is not None
    assert head.startswith(found.removesuffix("-dirty"))
