"""What is written beside a small model's weights: all that can be known of it without loading them."""

from __future__ import annotations

from pathlib import Path

from sbench_dag.dataset.fields import get, read_json
from sbench_dag.errors import InputError
from sbench_dag.rewards.small.settings import Settings
from sbench_dag.rewards.small.words import Words
from sbench_dag.work.fingerprint import file_sha256, fingerprint

WEIGHTS, ABOUT = "weights.pt", "model.json"


def revision(folder: Path) -> str:
    """16 hex digits of what scores depend on; read without loading the weights.

    Raises:
        InputError: there is no model in the folder.
    """
    settings, words = read_about(folder)
    try:
        return fingerprint(file_sha256(folder / WEIGHTS), settings, words.known)
    except OSError as error:
        raise InputError(folder / WEIGHTS, "file", error.strerror, "can't be read") from None


def read_about(folder: Path) -> tuple[Settings, Words]:
    """
    Raises:
        InputError: there is no model in the folder, or one of another kind.
    """
    file = folder / ABOUT
    about = read_json(file)
    settings, words = get(file, about, "settings", dict), get(file, about, "words", list)
    try:
        return Settings(**settings), Words(tuple(words))
    except (TypeError, ValueError) as error:
        raise InputError(file, "settings", settings, str(error)) from None
