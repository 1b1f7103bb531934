"""What Dagster costs a large study: `python -m benchmarks.operating [--plans 100000] [--by episode]`.

Nothing is simulated: the study, its results and Dagster's past events are made up. Dagster's storage is SQLite in a
temporary folder, or what $SBENCH_POSTGRES names. At 100,000 plans it takes about ten minutes and 4 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from assets.catch_up import next_runs
from assets.event_log import keep_connections
from assets.instance import CHECKOUT
from assets.memory import Memory
from assets.scope import Scope
from benchmarks.large_study import large_study, store_results
from benchmarks.past_runs import put_past_runs
from sbench_dag.stale import Scanner
from sbench_dag.study import Study
from tests.assets.server import answers, ask, free_port, processes, wait_until
from tests.assets.support import Bench

_LOAD = """
import time, dagster
from benchmarks.operating import timed
import sbench_dag.pipeline, assets.of_study
with timed("code location, without imports"):
    import assets.definitions
"""
_STALE = "import sys; from sbench_dag.cli import main; sys.exit(main(['stale', '--study', sys.argv[1]]))"
_NODE = "query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { __typename ... on AssetNode { %s } } }"
_STATUSES = "materializedPartitions failedPartitions materializingPartitions unmaterializedPartitions"
_QUERIES = {
    "partition keys": "partitionKeysByDimension { name partitionKeys }",
    "partition counts": "partitionStats { numMaterialized numFailed numPartitions numMaterializing }",
    "partition statuses": f"assetPartitionStatuses {{ ... on DefaultPartitionStatuses {{ {_STATUSES} }} }}",
}
_GATES = ("g0_spike", "stage_b", "stage_c", "rollout_rewards")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=1470)
    parser.add_argument("--by", choices=("plan", "episode"), default="plan", help="what the partitions are")
    parser.add_argument("--runs", action="store_true", help="also run gates over all partitions: 15 ms a plan and gate")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder) / "dagster"
        storage.mkdir()
        os.environ |= {"SBENCH_HOME": folder, "DAGSTER_HOME": str(CHECKOUT), "SBENCH_DAGSTER": str(storage)}
        where = "Postgres" if os.environ.get("SBENCH_POSTGRES") else "SQLite"
        print(f"{arguments.plans} plans, partitions by {arguments.by}, {where}")
        study = large_study(f"large-{os.getpid()}", arguments.plans, arguments.by)
        with dg.DagsterInstance.get() as instance:
            keep_connections(instance)
            if arguments.runs:
                _runs(study, instance)
            else:
                store_results(study)
                _ticks(study, instance)
        if not arguments.runs:
            _commands(study)
            _pages(study)


def _runs(study: Study, instance: dg.DagsterInstance) -> None:
    """Every gate, whose cluster does all at once; and again, when nothing is to be done."""
    bench = Bench(study, instance)
    for kind in ("executed", "fresh"):
        for gate in _GATES:
            with timed(f"{gate}, all {kind}"):
                bench.must(gate)


def _ticks(study: Study, instance: dg.DagsterInstance) -> None:
    scope, scanner = Scope(study), Scanner(study.folder)
    with timed("first scan of a process"):
        scan = scanner.scan()
    put_past_runs(instance, scope, scan)
    memory = Memory(instance)
    for which in ("first", "second", "third"):
        with timed("later scan"):
            scanner.scan()
        with timed(f"{which} tick, with a scan"):
            plan = next_runs(memory, scope, scanner.scan)
        assert not plan.requests, plan.notes


def _commands(study: Study) -> None:
    with timed("sbench stale, as a command"):
        _output("-c", _STALE, study.name)
    print(_output("-c", _LOAD), end="")


def _pages(study: Study) -> None:
    """What the page of an asset asks of the web server: first, and once Dagster has its counts."""
    port = free_port()
    with processes([sys.executable, "-m", "dagster_webserver", "-w", "workspace.yaml", "-p", str(port)]):
        with timed("web server, until it answers"):
            wait_until(lambda: answers(port), 300)
        for name, fields in _QUERIES.items():
            for time_of in ("first", "later"):
                with timed(f"{name}, {time_of}"):
                    node = ask(port, _NODE % fields, key={"path": [study.name, "stage_c"]})["assetNodeOrError"]
                assert node["__typename"] == "AssetNode", json.dumps(node)


def _output(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, *arguments], cwd=CHECKOUT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Prints seconds, and seconds of this process and its ended children on a core, which other work disturbs less."""
    begin, cpu = time.perf_counter(), sum(os.times()[:4])
    yield
    print(f"{time.perf_counter() - begin:8.2f} s {sum(os.times()[:4]) - cpu:8.2f} s on a core  {what}", flush=True)


if __name__ == "__main__":
    main()
