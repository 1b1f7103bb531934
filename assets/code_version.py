"""The code versions that Dagster compares: an asset's, against that of a partition's last event.

They stand for all that is the same for every partition: code, engine and settings, of this step and of those before.
"""

from __future__ import annotations

from sbench_dag.pipeline import GATES, Fingerprints, find_gate, inside
from sbench_dag.stale import REPORT
from sbench_dag.work.fingerprint import combine

_REPORT = "1"


def code_version(fingerprints: Fingerprints, step: str) -> str:
    """Of a gate or the report, for the study that the fingerprints are of."""
    if step == REPORT:
        own, names = _REPORT, [gate.name for gate in GATES]
    else:
        own, names = "-".join(part.code_version for part in inside(find_gate(step))), [step]
    return f"{own}-{combine(fingerprints.common(name) for name in names)[:8]}"
