"""Settings files: TOML that is checked against a model."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from sbench_dag.errors import HIDDEN, InputError

Settings = TypeVar("Settings", bound=BaseModel)

# what pydantic shows as the value of such an error is a field that does not exist, or a whole table
_AROUND = ("missing", "extra_forbidden", "union_tag_invalid", "union_tag_not_found")


def read_toml(file: Path, kind: type[Settings], secret: Collection[str] = ()) -> Settings:
    """secret: the tables whose values no error shows.

    Nor does any show what a field holds that does not exist, or what stands around a missing one: that may be a secret
    in the wrong place.

    Raises:
        InputError: not TOML, a field that does not exist, or a wrong value.
    """
    try:
        return kind.model_validate(tomllib.loads(file.read_text()), strict=True)
    except tomllib.TOMLDecodeError as error:
        raise InputError(file, "toml", str(error), "not valid TOML") from None
    except ValidationError as error:
        first = error.errors()[0]
        hidden = first["type"] in _AROUND or first["loc"][0] in secret
        field, value = ".".join(map(str, first["loc"])), HIDDEN if hidden else first["input"]
        raise InputError(file, field, value, first["msg"].removeprefix("Value error, ")) from None
