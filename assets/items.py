"""What the UI says of a partition that is one item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dagster as dg

from assets.grouping import Finished
from sbench_dag.plans.plan import Plan
from sbench_dag.study import Study
from sbench_dag.work.store import Line

Show = Callable[[Study, Line], Mapping[str, Any]]


def item_metadata(study: Study, show: Show, item: Finished) -> dict[str, Any]:
    """show: what the item's gate adds."""
    line, result, plan = item.line, item.line.result, study.manifest.by_key.get(item.key)
    return {
        "outcome": str(result.outcome),
        "cached": item.cached,
        **({"reason": str(result.reason)} if result.reason else {}),
        **({"message": result.message} if result.message else {}),
        **result.timings,
        **(_asked(plan) if plan else {}),
        **show(study, line),
        "finished": dg.MetadataValue.timestamp(line.finished),
        "host": line.host,
        **_origin(line),
    }


def _origin(line: Line) -> dict[str, Any]:
    """The Slurm task that computed it, if one did."""
    names = {"id": "slurm job", "node": "node", "state": "slurm state", "queue_s": "queue_s", "run_s": "run_s"}
    found = {shown: line.origin[name] for name, shown in names.items() if name in line.origin}
    if "log" in line.origin:
        found["log"] = dg.MetadataValue.path(line.origin["log"])
    if "max_rss_mib" in line.origin:
        found["max_rss_mib"] = line.origin["max_rss_mib"]
    return found


def _asked(plan: Plan) -> dict[str, str]:
    """The question and the answer, so that nobody has to decipher a plan's key."""
    places = "; ".join(f"{s.category}: {s.surface}, {s.room or 'any room'}" for s in plan.selections)
    return {"question": plan.text, "answer": places, "given by": ", ".join(plan.sources)}
