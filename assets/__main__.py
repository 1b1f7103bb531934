"""`python -m assets run`: a study from its answers to its report."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from tqdm import tqdm

from assets.event_log import keep_connections
from assets.instance import fail_lost_runs, terminal_instance, use_checkout
from assets.outcome import print_outcome
from assets.run import BENCH, STEPS, Request, Runner
from resources.cluster import ClusterResource
from sbench_dag.cluster.config import KINDS
from sbench_dag.errors import SbenchError, SetupError
from sbench_dag.study import Study, find_study, study_names


def main(argv: Sequence[str] | None = None) -> int:
    """0: all that was asked for has a result. 1: something has none; it says what and why. 2: it could not begin."""
    try:
        return _run(_parser().parse_args(argv))
    except SbenchError as error:
        print(f"assets: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("assets: stopped; what is done is stored, and the same command goes on from there", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m assets", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="materialise gate after gate, only what is stale, into the UI's instance")
    run.add_argument("--study", help="needed only if there are several")
    run.add_argument("--profile", help="instead of --study: the one whose data set is of this profile, e.g. mini")
    run.add_argument("--gate", choices=(*STEPS, BENCH), help="only this one")
    run.add_argument("--plans", default="*", metavar="PATTERN", help="only plans whose key matches, e.g. 'val_0003*'")
    run.add_argument("--failed", action="store_true", help="only what has failed, again, and the report")
    run.add_argument(
        "--cluster", choices=KINDS, help="where; default: $SBENCH_CLUSTER, $SBENCH_HOME/cluster.toml, local"
    )
    run.add_argument("--workers", type=int, default=0, help="worker processes of a local run; default: one per core")
    run.add_argument("--override-g1", default="", metavar="WHY", help="run stage_c although G1 does not pass; recorded")
    run.add_argument("--override-g2", default="", metavar="WHY", help="the same for G2")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    use_checkout()
    study = _study(arguments.study, arguments.profile)
    cluster = ClusterResource.configured(arguments.cluster or "", arguments.workers, progress=True)
    _show_log()
    if study.refresh_manifest():
        print("the manifest is new: reload the code location of a running UI")
    steps = (arguments.gate,) if arguments.gate else STEPS
    overrides = {"override_g1": arguments.override_g1, "override_g2": arguments.override_g2}
    with terminal_instance() as instance:
        keep_connections(instance)
        fail_lost_runs(instance)
        runner = Runner(instance, study, cluster)
        if not runner.selected("stage_b", arguments.plans):
            raise SetupError(f"no plan of {study.name} matches {arguments.plans!r}; `sbench plans` lists them")
        runner.run(Request(steps, arguments.plans, overrides, only_failed=arguments.failed))
    return print_outcome(study, runner.failures)


def _show_log() -> None:
    """What the library says goes to the terminal too, above the progress bar."""
    log = logging.getLogger("sbench_dag")
    log.setLevel(logging.INFO)
    log.addHandler(_AboveBar())


class _AboveBar(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        tqdm.write(self.format(record), file=sys.stderr)


def _study(name: str | None, profile: str | None) -> Study:
    if profile is None:
        return find_study(name)
    found = [study for study in map(find_study, study_names()) if study.dataset.info.profile == profile]
    if len(found) != 1:
        names = ", ".join(study.name for study in found) or "none"
        raise SetupError(f"studies of profile {profile!r}: {names}; choose one with --study")
    return found[0]


if __name__ == "__main__":
    sys.exit(main())
