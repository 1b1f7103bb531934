"""The answers of all programmed readers, and of common sense, as runs of the data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sbench_dag.dataset.answers import BLIND, Answer, Run, Selection, write_run
from sbench_dag.dataset.eval_spec import FLOOR, Query
from sbench_dag.plans.build import loc_set
from sbench_dag.scenes.houses.rng import stable_rng
from sbench_dag.synthetic.episode import MadeEpisode
from sbench_dag.synthetic.memory import strategies
from sbench_dag.synthetic.queries import Place
from sbench_dag.synthetic.readers import KnownHouse, answer, noise_levels
from sbench_dag.synthetic.wording import understand

BLIND_MODEL = "common-sense"


def write_answers(root: Path, episodes: Sequence[MadeEpisode], revision: str) -> None:
    """answers/s3_<model>/results.json for each level of noise, and for common sense."""
    texts = {(e.order.episode, q.query): q.text for e in episodes for q in e.spec.queries}
    for level in noise_levels():
        rows = tuple(_numbered(_reader_answers(episodes, level)))
        file = root / "answers" / f"s3_{level}" / "results.json"
        write_run(file, Run(file, level, revision, True, rows), texts)
    file = root / "answers" / f"s3_{BLIND}" / "results.json"
    rows = tuple(_numbered(_blind_answers(episodes)))
    write_run(file, Run(file, BLIND_MODEL, revision, True, rows), texts)


def _reader_answers(episodes: Sequence[MadeEpisode], level: str) -> Iterator[Answer]:
    noise = noise_levels()[level]
    for strategy, remember in strategies().items():
        for made in episodes:
            beliefs = remember(made.recording)
            house = KnownHouse(made.spec.furniture)
            for query in made.spec.queries:
                rng = stable_rng("answer", made.order.seed, made.order.episode, query.query, strategy, level)
                said = answer(understand(query.text, made.plurals), beliefs, house, noise, rng)
                yield _answer(made, query, strategy, said)


def _blind_answers(episodes: Sequence[MadeEpisode]) -> Iterator[Answer]:
    for made in episodes:
        usual = usual_places([other for other in episodes if other.order.house_index != made.order.house_index])
        for query in made.spec.queries:
            place = usual.get(query.category)
            said = () if place is None else (Selection(query.category, *place),)
            yield _answer(made, query, BLIND, said)


def usual_places(episodes: Sequence[MadeEpisode]) -> dict[str, Place]:
    """Category -> the room and furniture on which most of its kind are at first, each house counted once."""
    houses = {made.order.house_index: made for made in episodes}
    counts: dict[str, Counter[Place]] = {}
    for made in houses.values():
        for uid, place in made.homes.items():
            if place[1] != FLOOR:
                counts.setdefault(made.recording.category[uid], Counter())[place] += 1
    return {category: min(count, key=lambda place: (-count[place], place)) for category, count in counts.items()}


def _answer(made: MadeEpisode, query: Query, strategy: str, said: tuple[Selection, ...]) -> Answer:
    labels: dict[str, Any] = {
        "kind": query.kind,
        "steps": query.steps,
        "scoring": query.scoring,
        "twin": query.twin,
        "floor": query.floor,
    }
    extra = {"gt": [asdict(truth) for truth in query.answers], "labels": labels}
    right = bool(said) and loc_set(said, query.answers)
    return Answer(made.order.episode, query.query, strategy, said, not said, right, 0, extra)


def _numbered(answers: Iterator[Answer]) -> Iterator[Answer]:
    for row, a in enumerate(answers):
        yield Answer(a.episode, a.query, a.strategy, a.selections, a.abstained, a.loc_set, row, a.extra)
