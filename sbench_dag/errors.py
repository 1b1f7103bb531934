"""What this library raises on purpose."""

from __future__ import annotations

from pathlib import Path

from sbench_dag.outcomes import Reason


class SbenchError(Exception):
    """Base of the errors below: the text is meant for the user as it stands."""


class SetupError(SbenchError):
    """Something has to be done first; the text says what."""


class InvalidError(SbenchError):
    """The harness can't give this item a result. `reason` is what lands in its row."""

    def __init__(self, reason: Reason, message: str):
        super().__init__(message)
        self.reason = reason


HIDDEN = object()
"""Instead of a value that may be a secret."""


class InputError(InvalidError):
    """A file is wrong. The text names the file, the field and the value, unless that is HIDDEN."""

    def __init__(self, file: Path | str, field: str, value: object, problem: str):
        self.file, self.field, self.value, self.problem = Path(file), field, value, problem
        found = field if value is HIDDEN else f"{field} = {_short(value)}"
        super().__init__(Reason.BAD_INPUT, f"{file}: {found}: {problem}")


def _short(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
