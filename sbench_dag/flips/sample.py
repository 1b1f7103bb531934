"""Which picks are repeated, and the folder in which that happens: a small study of its own, `<study>/flips/<time>`.

Its settings are the study's, but that nothing is filmed; its manifest is the sample; its G0 is the study's.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sbench_dag.errors import SetupError
from sbench_dag.flips.latest import RESULT, common
from sbench_dag.pipeline import Fingerprints
from sbench_dag.plans.build import Manifest
from sbench_dag.plans.manifest import write_manifest
from sbench_dag.reports.grid import Results
from sbench_dag.study import Study, VideoSettings, load_study, write_study
from sbench_dag.work.fingerprint import fingerprint
from sbench_dag.work.store import Store

SAMPLE = "sample.json"


@dataclass(frozen=True)
class Sample:
    """share and seed: as asked for. picks: how many could have been drawn.

    plans: key -> the fingerprint of the Stage C result that is to be had again.
    common: changes with the study's settings and code.
    """

    share: float
    seed: int
    picks: int
    plans: Mapping[str, str]
    common: str


def draw(results: Results, share: float, seed: int) -> Sample:
    """The share of the picks that were simulated, and of the others that have a result: of either at least one, if
    there is any. A larger share of the same seed holds a smaller one.

    Raises:
        SetupError: no pick has a result.
    """
    stage_b = results.of("stage_b")
    done = {
        key: line
        for key, line in results.of("stage_c").items()
        if line.outcome.is_result and key in stage_b and stage_b[key].outcome.is_result
    }
    if not done:
        name = results.study.name
        raise SetupError(f"{name}: no pick has a result to be repeated; `python -m assets run --study {name}`")
    simulated = {key for key, line in done.items() if "final_state" in line.row}
    drawn = sorted(_draw(simulated, share, seed) + _draw(done.keys() - simulated, share, seed))
    plans = {key: done[key].fingerprint for key in drawn}
    return Sample(share, seed, len(done), plans, common(results.fingerprints))


def _draw(keys: Collection[str], share: float, seed: int) -> list[str]:
    count = math.ceil(share * len(keys) - 1e-9)  # 1e-9: 0.07 * 100 is a little more than 7
    return sorted(keys, key=lambda key: fingerprint(seed, key))[:count]


def open_repeat(results: Results, sample: Sample) -> Study:
    """The folder of this very sample that was not finished, or a new one."""
    flips = results.study.flips
    for file in sorted(flips.glob(f"*/{SAMPLE}")):
        if not (file.parent / RESULT).exists() and json.loads(file.read_text()) == asdict(sample):
            return load_study(file.parent)
    return _new_repeat(results, sample, flips)


def _new_repeat(results: Results, sample: Sample, flips: Path) -> Study:
    """Made under another name: a folder that has the name of a repeat is whole."""
    flips.mkdir(exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".", dir=flips))
    try:
        write_study(replace(results.study, video=VideoSettings(enabled=False)), fresh)
        repeat = load_study(fresh)
        plans = tuple(plan for plan in results.study.manifest.plans if plan.key in sample.plans)
        episodes = tuple(sorted({plan.episode for plan in plans}))
        write_manifest(repeat.manifest_folder, Manifest(plans, (), episodes, ()))
        _take_over_g0(results, repeat)
        (fresh / SAMPLE).write_text(json.dumps(asdict(sample), indent=1) + "\n")
        return load_study(_named_by_time(fresh, flips))
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _take_over_g0(results: Results, repeat: Study) -> None:
    """It says what the episodes are worth, and no robot has moved in it."""
    fingerprints, found = Fingerprints(repeat), results.of("g0_spike")
    segment = Store(repeat.results).segment("g0_spike")
    for episode in repeat.manifest.episodes:
        line = found[episode]
        segment.append(episode, fingerprints.of("g0_spike", episode), line.result, line.made_of)
    segment.close()


def _named_by_time(fresh: Path, flips: Path) -> Path:
    name = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    for number in range(1, 100):
        folder = flips / (name if number == 1 else f"{name}-{number}")
        try:
            return fresh.rename(folder)  # not onto a folder that holds something
        except OSError:
            continue
    raise SetupError(f"{flips}: no name is left that begins with {name}")
