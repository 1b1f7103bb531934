"""The reward models of a study, and what they make of its rollouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sbench_dag.errors import SbenchError
from sbench_dag.rewards.memo import Asked, Memo
from sbench_dag.rewards.models.base import SCORING_VERSION, RewardModel
from sbench_dag.rewards.score import Score, Status
from sbench_dag.study import Study, home
from sbench_dag.work.store import Store


class Panel:
    """Of one process: models are loaded once. A model that can't be had, or breaks, misses what it has not scored yet;
    the others give theirs."""

    def __init__(self, study: Study, store: Store):
        self._names, self._memo = study.rewards.models, Memo(store)
        self._models: dict[str, RewardModel | str] = {}
        self._broken: dict[str, str] = {}

    def scores(self, asked: Sequence[Asked]) -> list[dict[str, Score]]:
        """For each example the score of each model."""
        by_model = {name: self._of(name, asked) for name in self._names}
        return [{name: scores[i] for name, scores in by_model.items()} for i in range(len(asked))]

    def _of(self, name: str, asked: Sequence[Asked]) -> list[Score]:
        model = self._model(name)
        if isinstance(model, str):
            return [Score(Status.MISSING, why=model)] * len(asked)
        if name not in self._broken:
            try:
                self._memo.ask(name, model, asked)
            except Exception as error:  # it is not asked again: loading it may take minutes
                self._broken[name] = _said(error)
        nothing = Score(Status.MISSING, why=self._broken.get(name, ""))
        return [score or nothing for score in self._memo.known(name, model, asked)]

    def _model(self, name: str) -> RewardModel | str:
        if name not in self._models:
            self._models[name] = find_model(name)
        return self._models[name]


def identities(study: Study) -> dict[str, Any]:
    """What the scores of a study's models depend on. Of one that can't be had it is what is wrong with it."""
    models = {name: _identity(name) for name in study.rewards.models}
    return {"scoring": SCORING_VERSION, "models": models} if models else {}


def _identity(name: str) -> Mapping[str, Any]:
    model = find_model(name)
    return {"problem": model} if isinstance(model, str) else model.identity


def find_model(name: str) -> RewardModel | str:
    """A study's model by its name, or why there is none."""
    from sbench_dag.rewards.models.registry import reward_model  # what talks to servers takes a second to import

    try:
        model = reward_model(name, home())
        _ = model.identity  # it may be that its weights are not there
        return model
    except Exception as error:
        return _said(error)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, SbenchError) else f"{type(error).__name__}: {error}"
