"""The plan: what a robot that acts on an answer does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sbench_dag.dataset.answers import Selection
from sbench_dag.dataset.eval_spec import Kind, Query, Scoring, Steps
from sbench_dag.work.fingerprint import combine, fingerprint

ORACLE = "oracle-loc"


@dataclass(frozen=True)
class Plan:
    """Go to each selected place and pick up a `category` there. Deterministic.

    key: readable, sorts by episode, and depends on nothing but (episode, query, answer set).
    sources: the cells that gave this answer, among them perhaps `oracle-loc` and `blind`.
    """

    key: str
    episode: str
    query: str
    text: str
    category: str
    selections: tuple[Selection, ...]
    gt_bodies: tuple[str, ...]
    kind: Kind
    steps: Steps
    scoring: Scoring
    twin: bool
    floor: bool
    r_support_m: float
    sources: tuple[str, ...]

    @property
    def is_oracle(self) -> bool:
        return ORACLE in self.sources

    @property
    def content(self) -> str:
        """Hash of what is executed and judged. Who gave the answer is no part of it."""
        return fingerprint(
            self.episode,
            self.query,
            self.category,
            self.selections,
            self.gt_bodies,
            self.steps,
            self.scoring,
            self.r_support_m,
        )

    @property
    def shown(self) -> str:
        """Hash of what a page says of it."""
        return combine([self.content, self.text, *self.sources])


def answer_set(selections: Iterable[Selection]) -> tuple[Selection, ...]:
    """The selections in an order of their own: two answers with equal sets are one plan."""
    return tuple(sorted(selections, key=lambda s: (s.room or "", s.surface, s.category)))


def plan_key(episode: str, query: Query, selections: tuple[Selection, ...]) -> str:
    """`<episode>.<query>.<first place>[+n].<hash>`, without characters that a partition key must not have."""
    first = selections[0]
    place = re.sub(r"[^A-Za-z0-9_]+", "-", f"{first.room or 'any'}-{first.surface}").strip("-").lower()[:40]
    more = f"+{len(selections) - 1}" if len(selections) > 1 else ""
    return f"{episode}.{query.query}.{place}{more}.{fingerprint(selections)[:6]}"
