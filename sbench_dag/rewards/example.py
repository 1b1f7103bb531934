"""What a reward model is asked, and what it should have said."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Example:
    """A video and the instruction it is judged against. prompt: the whole question, where a data set brings its own."""

    id: str
    video: Path
    task: str
    prompt: str | None = None


@dataclass(frozen=True)
class LabelledExample:
    """label: 1 to 5. Examples of one `cluster` come from the same source episode, so they are not independent; it may
    reach into several subsets."""

    example: Example
    label: int
    subset: str
    cluster: str
