"""Studies of any size, made in seconds: a manifest, episodes of tiny files, and stored results that nobody computed."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

from sbench_dag.dataset.answers import Selection
from sbench_dag.dataset.dataset import DatasetInfo, write_dataset_info
from sbench_dag.dataset.eval_spec import Kind, Scoring, Steps
from sbench_dag.dataset.layout import EpisodeFiles
from sbench_dag.outcomes import Outcome
from sbench_dag.pipeline import GATES, Fingerprints
from sbench_dag.plans.build import Cell, Manifest
from sbench_dag.plans.manifest import write_manifest
from sbench_dag.plans.plan import ORACLE, Plan
from sbench_dag.reports.links import episode_page
from sbench_dag.reports.versions import SUMMARY_PAGE
from sbench_dag.stale import REPORT, SUMMARY, Scanner
from sbench_dag.study import Study, home, load_study
from sbench_dag.work.item import Result
from sbench_dag.work.store import Store

PLANS_OF_EPISODE = 20
_ANSWERS_OF_QUERY = 4
_SOURCES = ("model-a", "model-b", "model-c")


def large_study(name: str, plans: int, by: str) -> Study:
    """Nothing has run. by: what its partitions are, `plan` or `episode`."""
    episodes = [f"val_{number:06}__0" for number in range(-(-plans // PLANS_OF_EPISODE))]
    made = [_plan(episodes[number // PLANS_OF_EPISODE], number % PLANS_OF_EPISODE) for number in range(plans)]
    cells = [Cell(source, p.episode, p.query, True, p.key, loc_set=p.is_oracle) for p in made for source in p.sources]
    return write_study(name, Manifest(tuple(made), tuple(cells), tuple(episodes), ()), by)


def write_study(name: str, manifest: Manifest, by: str = "plan") -> Study:
    """A study of this manifest, over a data set of episodes whose files hold nothing but their own names."""
    dataset = home() / "datasets" / name
    for episode in manifest.episodes:
        files = EpisodeFiles(dataset / "episodes" / episode)
        files.folder.mkdir(parents=True)
        for file in files.all:
            file.write_text(f"{episode} {file.name}")
    write_dataset_info(dataset, DatasetInfo(name, "test", "large-1", synthetic=True))
    folder = home() / "studies" / name
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(
        f'[dataset]\npath = "{dataset}"\nrevision = "large-1"\n[scenes]\nsource = "houses"\n[partitions]\nby = "{by}"\n'
    )
    write_manifest(folder / "manifest", manifest)
    return load_study(folder)


def _plan(episode: str, number: int) -> Plan:
    query, answer = divmod(number, _ANSWERS_OF_QUERY)
    return Plan(
        key=f"{episode}.q{query:02}.kitchen-countertop-{answer}.{number:06x}",
        episode=episode,
        query=f"q{query:02}",
        text="Pick up the mug that I moved from the table to the countertop",
        category="mug",
        selections=(Selection("mug", "kitchen", f"countertop {answer}"),),
        gt_bodies=("mug_0_0",),
        kind=Kind.TARGET,
        steps=Steps.SINGLE,
        scoring=Scoring.LIFTED,
        twin=False,
        floor=False,
        r_support_m=0.65,
        sources=(*_SOURCES, ORACLE) if answer == 0 else _SOURCES,
    )


def store_results(study: Study) -> None:
    """Today's results of all gates, with the rows' usual size, and pages that are up to date."""
    store, fingerprints = Store(study.results), Fingerprints(study)
    with patch("os.fsync"):
        for gate in GATES:
            segment = store.segment(gate.name)
            for key, fingerprint in fingerprints.wanted(gate).items():
                segment.append(key, fingerprint, _result(), fingerprints.parts(gate.name, key))
            segment.close()
    (study.reports / "episodes").mkdir(parents=True)
    steps = Scanner(study.folder).scan().steps
    for episode, page in steps[REPORT].items():
        _write_page(episode_page(study, episode), page.version)
    _write_page(study.reports / SUMMARY_PAGE, steps[SUMMARY][""].version)


def _write_page(file: Path, version: str) -> None:
    file.write_text(f'<meta name="sbench-version" content="{version}">')


def _result() -> Result:
    row = {"reached": True, "success_held": True, "label": 5, "detail": json.dumps(list(range(100)))}
    return Result(Outcome.SUCCESS, row=row, timings={"total_s": 0.1})
