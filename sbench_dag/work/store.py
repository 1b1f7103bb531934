"""The append-only store of results.

Each worker attempt owns one segment `<root>/<gate>/<segment>.jsonl` and appends one line per finished item,
flushed and synced: the line is the checkpoint, the shard's progress and the done-marker in one. A torn or
altered line is dropped by its checksum, so a worker may be killed at any moment.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sbench_dag.errors import InputError
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.work.item import Result
from sbench_dag.work.origin import origin


@dataclass(frozen=True)
class Line:
    """A stored result.

    segment: the file it stands in, so that attempts can be told apart. origin: the cluster's task that wrote it.
    made_of: what the fingerprint is made of, part by part; only of lines that a worker wrote.
    """

    key: str
    fingerprint: str
    result: Result
    finished: float
    host: str
    versions: Mapping[str, str]
    segment: str
    origin: Mapping[str, Any]
    made_of: Mapping[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        return self.result.outcome

    @property
    def row(self) -> dict[str, Any]:
        return self.result.row


_NOTHING: Mapping[str, str] = MappingProxyType({})


class Store:
    """All results of one study, by gate."""

    def __init__(self, root: Path):
        self.root = Path(root)

    def segment(self, gate: str) -> Segment:
        """A new segment for this process to append to; the file appears with its first line."""
        name = f"{time.time_ns():020d}-{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        return Segment(self.root / gate / f"{name}.jsonl")

    def refresh(self, gate: str) -> None:
        """Makes a network file system look again at what lies in a gate's folder: it remembers a list for a minute."""
        folder = self.root / gate
        folder.mkdir(parents=True, exist_ok=True)
        touch = folder / f".{uuid.uuid4().hex}"
        touch.touch()
        touch.unlink()

    def lines(self, gate: str) -> Iterator[Line]:
        """Every valid line of a gate, oldest segment first."""
        for file in sorted((self.root / gate).glob("*.jsonl")):
            yield from _read_segment(file)

    def results(self, gate: str, wanted: Mapping[str, str]) -> dict[str, Line]:
        """Per key the first result with the wanted fingerprint; where there is none, the latest invalid line.

        A later harness error never replaces a result.
        """
        found: dict[str, Line] = {}
        for line in self.lines(gate):
            if wanted.get(line.key) != line.fingerprint:
                continue
            known = found.get(line.key)
            if known is None or not known.outcome.is_result:
                found[line.key] = line
        return found

    def result(self, gate: str, key: str, fingerprint: str) -> Line | None:
        return self.results(gate, {key: fingerprint}).get(key)


class Tail:
    """Follows a gate's segments while workers append to them: each whole line once, read once."""

    def __init__(self, store: Store, gate: str):
        self._folder = store.root / gate
        self._read: dict[Path, int] = {}

    def new(self) -> Iterator[Line]:
        """The valid lines since the last call, the oldest segment's first."""
        for file in sorted(self._folder.glob("*.jsonl")):
            begin = self._read.get(file, 0)
            if file.stat().st_size <= begin:
                continue
            with file.open("rb") as segment:
                segment.seek(begin)
                raw = segment.read()
            whole = raw.rfind(b"\n") + 1  # the rest is being written, or was never finished
            yield from _parse(raw[:whole], file)
            self._read[file] = begin + whole

    @property
    def has_lost(self) -> bool:
        """Whether somebody has removed or cut segments that were read."""
        return any(not file.exists() or file.stat().st_size < read for file, read in self._read.items())


class Segment:
    """Append-only file of one worker attempt."""

    def __init__(self, path: Path):
        self.path = path
        self._file = None

    def append(self, key: str, fingerprint: str, result: Result, made_of: Mapping[str, str] = _NOTHING) -> Line:
        """Write one line and return it once it is on the disk."""
        host = socket.gethostname()
        line = Line(key, fingerprint, result, time.time(), host, versions(), self.path.stem, origin(), made_of)
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab")
        self._file.write(_encode(line))
        self._file.flush()
        os.fsync(self._file.fileno())
        return line

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


@cache
def versions() -> dict[str, str]:
    """Versions that a result can depend on."""
    found = {}
    for package in ("sbench-dag", "mujoco", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def stamp(fingerprint: str, outcome: Outcome, reason: Reason | None, message: str) -> str:
    """What tells one stored line of a key from another. A result's message hangs on its fingerprint."""
    return f"{fingerprint} {outcome} {reason} {'' if outcome.is_result else message}"


def missing(keys: Iterable[str], found: Mapping[str, Line]) -> list[str]:
    """Keys without a result: never run, or invalid so far."""
    return [key for key in keys if key not in found or not found[key].outcome.is_result]


def _encode(line: Line) -> bytes:
    body = json.dumps(
        {
            "key": line.key,
            "fingerprint": line.fingerprint,
            "outcome": line.outcome,
            "reason": line.result.reason,
            "message": line.result.message,
            "row": line.row,
            "timings": line.result.timings,
            "finished": line.finished,
            "host": line.host,
            "versions": dict(line.versions),
            "origin": dict(line.origin),
            "made_of": dict(line.made_of),
        },
        allow_nan=False,
        separators=(",", ":"),
    )
    return f'{{"checksum":"{_checksum(body)}","line":{body}}}\n'.encode()


_LINE = re.compile(r'\{"checksum":"(?P<checksum>[0-9a-f]+)","line":(?P<body>\{.*\})\}')


def _read_segment(file: Path) -> Iterator[Line]:
    return _parse(file.read_bytes(), file)


def _parse(raw: bytes, file: Path) -> Iterator[Line]:
    """
    Raises:
        InputError: a whole line holds an outcome or reason that this version does not know.
    """
    for text in raw.split(b"\n"):
        match = _LINE.fullmatch(text.decode(errors="replace"))
        if match is None or match["checksum"] != _checksum(match["body"]):
            continue
        data = json.loads(match["body"])
        try:
            outcome, reason = Outcome(data["outcome"]), Reason(data["reason"]) if data["reason"] else None
        except ValueError as error:
            raise InputError(file, data["key"], str(error), "a newer version wrote this line; use that one") from None
        result = Result(outcome, reason, data["message"], data["row"], data["timings"])
        yield Line(
            data["key"],
            data["fingerprint"],
            result,
            data["finished"],
            data["host"],
            data["versions"],
            file.stem,
            data.get("origin", {}),
            data.get("made_of", {}),
        )


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:12]
