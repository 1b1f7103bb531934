"""Settings files: TOML that is checked against a model."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from sbench_dag.errors import InputError

Settings = TypeVar("Settings", bound=BaseModel)


def read_toml(file: Path, kind: type[Settings]) -> Settings:
    """
    Raises:
        InputError: not TOML, a field that does not exist, or a wrong value.
    """
    try:
        return kind.model_validate(tomllib.loads(file.read_text()), strict=True)
    except tomllib.TOMLDecodeError as error:
        raise InputError(file, "toml", str(error), "not valid TOML") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(file, ".".join(map(str, first["loc"])), first["input"], first["msg"]) from None
