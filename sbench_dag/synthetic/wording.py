"""How a query is worded, and what a reader makes of the words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

_EARLIER, _NOT, _ALL_MOVED = " I moved earlier", " I did not move", " I moved"


class Which(StrEnum):
    """Which instances of a category are meant."""

    ANY = "any"
    MOVED = "moved"
    UNMOVED = "unmoved"


@dataclass(frozen=True)
class Request:
    """What a query's text asks for. all: every such instance, not just the one."""

    category: str
    which: Which
    all: bool


def phrase(request: Request, plural: str) -> str:
    if request.all:
        return f"Pick up all the {plural}{_ALL_MOVED if request.which is Which.MOVED else ''}"
    ending = {Which.ANY: "", Which.MOVED: _EARLIER, Which.UNMOVED: _NOT}[request.which]
    return f"Pick up the {request.category}{ending}"


def understand(text: str, plurals: Mapping[str, str]) -> Request:
    """The inverse of `phrase`. plurals: category -> plural.

    Raises:
        ValueError: the text is no query of this generator.
    """
    found = re.fullmatch(rf"Pick up (all )?the (.+?)({_EARLIER}|{_NOT}|{_ALL_MOVED})?", text)
    if found is None:
        raise ValueError(f"not a query that this generator writes: {text!r}")
    everything, noun, ending = found.groups()
    which = Which.ANY if ending is None else Which.UNMOVED if ending == _NOT else Which.MOVED
    if not everything:
        return Request(noun, which, False)
    categories = [category for category, plural in plurals.items() if plural == noun]
    if not categories:
        raise ValueError(f"no category has the plural {noun!r}: {text!r}")
    return Request(categories[0], which, True)
