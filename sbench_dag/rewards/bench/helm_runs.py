"""The files of HELM runs: `scenario_state.json` has what a model was asked and what it said, instance by instance."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from sbench_dag.dataset.fields import get
from sbench_dag.errors import InputError, SetupError
from sbench_dag.rewards.bench.lines import read_text
from sbench_dag.rewards.score import Score

STATE, PER_INSTANCE = "scenario_state.json", "per_instance_stats.json"
_OURS = "sbench"
"""HELM ignores fields that it does not know; here, what only our scores have."""


def run_files(path: Path) -> list[Path]:
    """The states of all runs in a folder; HELM has one per subset.

    Raises:
        SetupError: there are none.
    """
    files = [path] if path.is_file() else sorted(path.rglob(STATE))
    if not files:
        raise SetupError(f"{path}: no {STATE} in it")
    return files


def run_rows(file: Path) -> Iterator[tuple[str, Mapping[str, Any] | InputError]]:
    """Rows as stored.py reads them, with HELM's id and, as `other_id`, the one that the video's path gives."""
    try:
        state = json.loads(read_text(file))
        model = get(file, get(file, state, "adapter_spec", dict), "model", str)
        requests = get(file, state, "request_states", list)
    except InputError as problem:
        yield "file", problem
        return
    except ValueError as error:
        yield "file", InputError(file, "json", str(error), "not valid JSON; is the file truncated?")
        return
    for index, request in enumerate(requests):
        where = f"request_states[{index}]"
        try:
            yield where, {"model": model, **_row(file, where, request)}
        except InputError as problem:
            yield where, problem


def _row(file: Path, where: str, request: Any) -> dict[str, Any]:
    if not isinstance(request, dict):
        raise InputError(file, where, request, "expected an object")
    instance = get(file, request, "instance", dict, where)
    ids = {"id": get(file, instance, "id", str, f"{where}.instance"), "other_id": _video_id(instance)}
    if _OURS in request:
        return {**ids, **get(file, request, _OURS, dict, where)}
    result = request.get("result") or {}
    completions = result.get("completions") or []
    if len(completions) > 1:
        raise InputError(file, f"{where}.result.completions", len(completions), "expected one")
    if not completions:
        return {**ids, "status": "missing", "why": str(result.get("error") or "no completion")}
    return {**ids, "answer": get(file, completions[0], "text", str, f"{where}.result.completions[0]")}


def _video_id(instance: Mapping[str, Any]) -> str | None:
    content = (instance.get("input") or {}).get("multimedia_content") or {}
    for part in content.get("media_objects") or []:
        if str(part.get("content_type", "")).startswith("video/") and part.get("location"):
            path = PurePosixPath(part["location"])
            return f"{path.parent.name}/{path.stem}"
    return None


def run_state(model: str, scores: Mapping[str, Score]) -> str:
    """A scenario_state.json of one model's scores by id."""
    requests = []
    for name, score in scores.items():
        completions = [] if score.answer is None else [{"text": score.answer, "logprob": 0.0, "tokens": []}]
        ours = {"status": score.status, "value": score.value, "why": score.why, "answer": score.answer}
        ours |= {"expected": score.expected, "protocol": score.protocol}
        requests.append(
            {
                "instance": {"input": {"text": ""}, "references": [], "split": "test", "id": name},
                "train_trial_index": 0,
                "result": {"success": score.answer is not None, "cached": False, "completions": completions},
                "num_train_instances": 0,
                "prompt_truncated": False,
                _OURS: ours,
            }
        )
    return json.dumps({"adapter_spec": {"model": model}, "request_states": requests}, indent=1)
