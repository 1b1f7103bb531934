"""`sbench`: everything that needs no orchestrator."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from sbench_dag.commands import compare, export, flip
from sbench_dag.errors import SbenchError, SetupError
from sbench_dag.rewards.commands import add_rewards_commands
from sbench_dag.study import Study, create_study, find_study, home, study_names


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; what is the user's to put right goes to stderr as one line."""
    arguments = _parser().parse_args(argv)
    try:
        return arguments.run(arguments)
    except (SbenchError, ValueError) as error:
        print(f"sbench: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sbench",
        description="Replays answers about robot episodes as plans in MuJoCo. Data sets and studies lie in "
        "$SBENCH_HOME (default: .sbench). To run a study: python -m assets run.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _dataset_commands(commands.add_parser("dataset", help="make data sets"))
    _study_commands(commands.add_parser("study", help="create and list studies"))

    grid = _command(commands, "grid", _grid, "the strategy x model grid of a study")
    grid.add_argument("--by", choices=("kind", "steps", "scoring", "twin", "floor"), help="one grid per stratum")
    grid.add_argument("--json", action="store_true", help="everything, as JSON")

    plans = _command(commands, "plans", _plans, "the plans of a study and what became of them")
    plans.add_argument("pattern", nargs="?", default="*", help="only keys that match, e.g. 'val_0003*'")
    plans.add_argument("--outcome", help="only these, e.g. failure or failure.no_grasp")
    plans.add_argument("--json", action="store_true", help="as JSON, one object per plan")

    show = _command(commands, "show", _show, "all that is known about one plan")
    show.add_argument("plan", help="its key, or the beginning of one")
    show.add_argument("--json", action="store_true", help="the stored lines of every gate")

    replay = _command(commands, "replay", _replay, "simulate a stored rollout again and compare its states")
    replay.add_argument("plan", help="its key, or the beginning of one")
    replay.add_argument("--video", type=Path, metavar="FILE.mp4", help="film it, larger than the stored video")
    replay.add_argument("--size", type=int, nargs=2, default=(640, 480), metavar=("W", "H"))

    stale = _command(commands, "stale", _stale, "what is out of date, by gate, and why; docs/stale.md")
    stale.add_argument("--json", action="store_true", help="as JSON, one object per gate")

    flip.add(commands)
    compare.add(commands)
    export.add(commands)
    add_rewards_commands(commands.add_parser("rewards", help="reward models against labels"))
    _slurm_commands(commands.add_parser("slurm", help="jobs that run, or wait, on a Slurm cluster"))
    _command(commands, "report", _report, "write the HTML report again from the stored results")
    return parser


def _command(commands, name: str, run, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--study", help="needed only if there are several")
    parser.set_defaults(run=run)
    return parser


def _dataset_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    make = commands.add_parser("make", help="generate the embedded benchmark", description=_MAKE)
    make.add_argument("--profile", default="mini", help="mini (default), or reference: the seed's 353 queries")
    make.add_argument("--seed", type=int, default=0)
    make.add_argument("--out", type=Path, help="default: $SBENCH_HOME/datasets/embedded-PROFILE")
    make.set_defaults(run=_dataset_make)
    scene = commands.add_parser("from-scene", help="one episode of an MJCF scene with MolmoSpaces-style metadata")
    scene.add_argument("scene", type=Path, help="scene.xml, with scene_metadata.json beside it")
    scene.add_argument("--name", required=True)
    scene.add_argument("--out", type=Path, help="default: $SBENCH_HOME/datasets/NAME")
    scene.set_defaults(run=_dataset_from_scene)


_MAKE = (
    "Generates houses, episodes, questions and the answers of programmed readers. Deterministic: the same profile "
    "and seed give the same bytes. Nothing is downloaded."
)


def _study_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    create = commands.add_parser("create", help="bind a data set to settings; an existing study is refreshed")
    create.add_argument("--dataset", type=Path, required=True, help="the data set's folder")
    create.add_argument("--name", required=True)
    create.set_defaults(run=_study_create)
    commands.add_parser("list", help="the studies there are").set_defaults(run=_study_list)


def _slurm_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    status = _command(commands, "status", _slurm_status, "what runs, what waits, what each array task has done")
    status.add_argument("--json", action="store_true", help="as JSON, one object per array task")
    _command(commands, "cancel", _slurm_cancel, "cancel the study's jobs; what is done stays")


def _dataset_make(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from sbench_dag.synthetic.make import make_dataset

    out = arguments.out or home() / "datasets" / f"embedded-{arguments.profile}"
    with tqdm(desc="episodes", unit="episode", delay=1.0) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        make_dataset(out, arguments.profile, arguments.seed, progress)
    print(out)
    return 0


def _dataset_from_scene(arguments: argparse.Namespace) -> int:
    from sbench_dag.synthetic.from_scene import dataset_from_scene

    out = arguments.out or home() / "datasets" / arguments.name
    dataset_from_scene(arguments.scene, out, arguments.name)
    print(out)
    return 0


def _study_create(arguments: argparse.Namespace) -> int:
    study = create_study(arguments.name, arguments.dataset)
    for problem in study.manifest.problems:
        print(f"sbench: {problem}", file=sys.stderr)
    queries = {(cell.episode, cell.query) for cell in study.manifest.cells}
    print(
        f"{study.folder}: {len(study.manifest.episodes)} episodes, {len(queries)} queries, "
        f"{len(study.manifest.plans)} unique plans, {len(study.manifest.problems)} problems"
    )
    return 0


def _study_list(arguments: argparse.Namespace) -> int:
    for name in study_names():
        study = find_study(name)
        print(f"{name}: revision {study.revision}, {len(study.manifest.plans)} plans")
    return 0


def _grid(arguments: argparse.Namespace) -> int:
    from sbench_dag.reports.grid import Results, make_grid
    from sbench_dag.reports.text import grid_table, headline_text

    grid = make_grid(Results(find_study(arguments.study)))
    if arguments.json:
        print(json.dumps(grid, indent=1))
    elif arguments.by:
        for stratum in grid["strata"]:
            if stratum["axis"] == arguments.by:
                print(f"{stratum['axis']}: {stratum['value']}\n{grid_table(stratum['cells'])}\n")
    else:
        print(f"{grid_table(grid['cells'])}\n\n{headline_text(grid)}".rstrip())
    for problem in grid["problems"]:
        print(f"sbench: {problem}", file=sys.stderr)
    return 0


def _plans(arguments: argparse.Namespace) -> int:
    from sbench_dag.reports.grid import Results
    from sbench_dag.reports.rows import plan_rows
    from sbench_dag.reports.text import table

    rows = [
        row
        for row in plan_rows(Results(find_study(arguments.study)))
        if fnmatch.fnmatch(row.plan.key, arguments.pattern) and row.matches(arguments.outcome)
    ]
    if arguments.json:
        print(json.dumps([row.as_json() for row in rows], indent=1))
        return 0
    print(
        table(
            ("plan", "outcome", "label", "answer"),
            [(r.plan.key, r.status, r.label or "", r.places) for r in rows],
        )
    )
    print(f"{len(rows)} plans")
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from sbench_dag.reports.grid import Results
    from sbench_dag.reports.text import plan_text

    results = Results(find_study(arguments.study))
    key = _plan_key(results.study, arguments.plan)
    if arguments.json:
        lines = {gate: results.of(gate).get(key) for gate in ("stage_b", "stage_c", "rollout", "rollout_rewards")}
        print(json.dumps({gate: vars(line) for gate, line in lines.items() if line}, indent=1, default=vars))
    else:
        print(plan_text(results, key))
    return 0


def _replay(arguments: argparse.Namespace) -> int:
    from sbench_dag.manipulation.replay import replay

    study = find_study(arguments.study)
    result = replay(study, _plan_key(study, arguments.plan), arguments.video, tuple(arguments.size))
    print("identical states" if result.identical else f"states differ: {result.stored} stored, {result.replayed} now")
    return 0 if result.identical else 1


def _report(arguments: argparse.Namespace) -> int:
    from sbench_dag.reports.episode_page import write_episode
    from sbench_dag.reports.grid import Results
    from sbench_dag.reports.links import episode_page
    from sbench_dag.reports.page import write_summary
    from sbench_dag.reports.versions import episode_version, written_version

    results = Results(find_study(arguments.study))
    study = results.study
    for episode in study.manifest.episodes:
        if written_version(episode_page(study, episode)) != episode_version(study, episode, results.look):
            write_episode(results, episode)
    print(write_summary(results))
    return 0


def _stale(arguments: argparse.Namespace) -> int:
    from sbench_dag.reports.text import stale_table
    from sbench_dag.stale import Scanner

    rows = Scanner(find_study(arguments.study).folder).scan().rows()
    print(json.dumps(rows, indent=1) if arguments.json else stale_table(rows))
    return 0


def _slurm_status(arguments: argparse.Namespace) -> int:
    from sbench_dag.cluster.slurm.client import Client
    from sbench_dag.cluster.slurm.status import jobs_status
    from sbench_dag.reports.text import slurm_table

    found = jobs_status(find_study(arguments.study), Client(call_s=10.0))
    if arguments.json:
        print(json.dumps([shard.as_json() for shard in found.shards], indent=1))
    else:
        print(slurm_table(found))
    if found.error:
        print(f"sbench: Slurm does not answer, so states are unknown: {found.error}", file=sys.stderr)
    return 0


def _slurm_cancel(arguments: argparse.Namespace) -> int:
    from sbench_dag.cluster.slurm.cancel import cancel_jobs
    from sbench_dag.cluster.slurm.client import Client
    from sbench_dag.cluster.slurm.job import BY_HAND, open_jobs

    jobs = open_jobs(find_study(arguments.study).jobs)
    if jobs:
        cancel_jobs(jobs, Client(), BY_HAND)
    print(f"{len(jobs)} jobs cancelled")
    return 0


def _plan_key(study: Study, prefix: str) -> str:
    keys = [plan.key for plan in study.manifest.plans if plan.key.startswith(prefix)]
    if prefix in keys:
        return prefix
    if len(keys) != 1:
        found = f"{len(keys)} plans begin with it: {', '.join(keys[:5])}" if keys else "no plan begins with it"
        raise SetupError(f"{prefix!r}: {found}")
    return keys[0]
