"""A study of any size with answers of many sources and results that nobody simulated, made in seconds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from unittest.mock import patch

from benchmarks.large_study import write_study
from sbench_dag.dataset.answers import BLIND, Selection
from sbench_dag.dataset.eval_spec import Kind, Scoring, Steps
from sbench_dag.outcomes import Outcome, Reason
from sbench_dag.pipeline import Fingerprints
from sbench_dag.plans.build import Cell, Manifest
from sbench_dag.plans.plan import ORACLE, Plan
from sbench_dag.study import Study
from sbench_dag.work.item import Result
from sbench_dag.work.store import Store

SOURCES = tuple(f"strategy-{strategy}/model-{model}" for strategy in "abcde" for model in "xy")
QUERIES_OF_HOUSE = 10
_ANSWERS = ("countertop", "desk", "shelf", "sofa")  # the first one is right
_WRONG = (Reason.TOO_FAR, Reason.ROOM_UNKNOWN, Reason.SURFACE_UNKNOWN, Reason.NO_FREE_POSE)


def answered_study(name: str, queries: int, sources: Sequence[str] = SOURCES, seed: int = 0) -> Study:
    """Each source is right the more often the later it stands; every tenth answer abstains, every fifth query asks for
    reaching alone. Nothing has run."""
    dice = random.Random(seed)
    plans: dict[str, Plan] = {}
    cells: list[Cell] = []
    for number in range(queries):
        episode, query = f"val_{number // QUERIES_OF_HOUSE:04}__0", f"q{number % QUERIES_OF_HOUSE:02}"
        given: dict[int, list[str]] = {0: [ORACLE], 1 + dice.randrange(3): [BLIND]} if sources else {}
        for i, source in enumerate(sources):
            if dice.random() < 0.1:
                cells.append(Cell(source, episode, query, True, abstained=True, loc_set=False))
                continue
            right = dice.random() < 0.2 + 0.6 * i / len(sources)
            given.setdefault(0 if right else 1 + dice.randrange(3), []).append(source)
        for answer, by in given.items():
            plan = _plan(episode, query, number, answer, tuple(sorted(by)))
            plans[plan.key] = plan
            cells += [Cell(source, episode, query, source != ORACLE, plan.key, loc_set=answer == 0) for source in by]
    episodes = sorted({cell.episode for cell in cells})
    manifest = Manifest(tuple(sorted(plans.values(), key=lambda plan: plan.key)), tuple(cells), tuple(episodes), ())
    return write_study(name, manifest)


def store_outcomes(study: Study, seed: int = 0, invalid: bool = False) -> None:
    """Today's results of all that plans go through: right answers are reached and mostly lifted.

    invalid: no plan has a verdict.
    """
    dice = random.Random(seed)
    store, fingerprints = Store(study.results), Fingerprints(study)
    with patch("os.fsync"):
        stage_b, stage_c, rewards = (store.segment(gate) for gate in ("stage_b", "stage_c", "rollout_rewards"))
        for plan in study.manifest.plans:
            reached = f".kitchen-{_ANSWERS[0]}." in plan.key
            if invalid:
                first = Result(Outcome.INVALID, Reason.WORKER_CRASHED, "by hand")
            elif reached:
                first = Result(Outcome.SUCCESS, row={"reached": True, "selections": []})
            else:
                first = Result(Outcome.FAILURE, dice.choice(_WRONG), "by hand", {"reached": False, "selections": []})
            stage_b.append(plan.key, fingerprints.of("stage_b", plan.key), first)
            if reached and not invalid and plan.scoring is Scoring.LIFTED:
                lifted = dice.random() < 0.9
                outcome, reason = (Outcome.SUCCESS, None) if lifted else (Outcome.FAILURE, Reason.NOT_LIFTED)
                video = {"file": f"videos/{plan.key}.mp4", "sha256": ""}
                row = {"success_held": lifted, "video": video, "instances": list(plan.gt_bodies)}
                stage_c.append(plan.key, fingerprints.of("stage_c", plan.key), Result(outcome, reason, "by hand", row))
                label = Result(Outcome.SUCCESS, row={"label": 5 if lifted else 2, "video": video, "scores": {}})
                rewards.append(plan.key, fingerprints.of("rollout_rewards", plan.key), label)
        for segment in (stage_b, stage_c, rewards):
            segment.close()


def _plan(episode: str, query: str, number: int, answer: int, sources: tuple[str, ...]) -> Plan:
    return Plan(
        key=f"{episode}.{query}.kitchen-{_ANSWERS[answer]}.{number:05x}{answer}",
        episode=episode,
        query=query,
        text=f"Pick up the mug that I moved to the {_ANSWERS[0]}",
        category="mug",
        selections=(Selection("mug", "kitchen", _ANSWERS[answer]),),
        gt_bodies=("mug_0_0",),
        kind=Kind.TARGET if number % 2 else Kind.DISTRACTOR,
        steps=Steps.SINGLE,
        scoring=Scoring.LIFTED if number % 5 else Scoring.REACHED_ONLY,
        twin=number % 3 == 0,
        floor=number % 7 == 0,
        r_support_m=0.85,
        sources=sources,
    )
