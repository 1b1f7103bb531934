"""Text files of one record a line, where one bad line hides no other."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sbench_dag.errors import InputError


def read_text(file: Path) -> str:
    """UTF-8. A byte-order mark, which spreadsheets write, is no part of the text.

    Raises:
        InputError: it can't be read.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(file, "file", file.name, f"can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(file, "file", str(error), "not UTF-8") from None


def jsonl(file: Path) -> Iterator[tuple[str, dict[str, Any] | InputError]]:
    """`line N` and its object, or what is wrong with it. Empty lines are none."""
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            value = json.loads(line)
        except ValueError as error:
            yield where, InputError(file, where, line.strip(), f"not valid JSON: {error}")
            continue
        yield where, value if isinstance(value, dict) else InputError(file, where, value, "expected an object")


def csv_rows(file: Path) -> Iterator[tuple[str, dict[str, Any] | InputError]]:
    """`line N` and its columns by name; an empty cell is not there."""
    csv.field_size_limit(2**31 - 1)  # a model that thinks aloud writes more than the default of 128 KiB
    reader = csv.DictReader(io.StringIO(read_text(file), newline=""), restkey="", strict=True)
    columns = reader.fieldnames  # reads the header, so that lines are counted from it
    while columns:
        where = f"line {reader.line_num + 1}"
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield where, InputError(file, where, str(error), "not valid CSV")
            return
        if "" in row:
            yield where, InputError(file, where, row[""], "more cells than the header has")
        else:
            yield where, {key: value for key, value in row.items() if value}
