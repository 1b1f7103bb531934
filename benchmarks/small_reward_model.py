"""How long the small reward model takes for a study's rollouts: `python -m benchmarks.small_reward_model --study mini`.

Decoding included. The weights are random unless --weights names some: the time does not depend on them. Rollouts are
scored over and over until there are --rollouts of them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

import torch

from sbench_dag.errors import SetupError
from sbench_dag.reports.grid import Results
from sbench_dag.rewards.example import Example
from sbench_dag.rewards.score import Status
from sbench_dag.rewards.small.checkpoint import save
from sbench_dag.rewards.small.model import SmallModel
from sbench_dag.rewards.small.network import Network
from sbench_dag.rewards.small.settings import Settings
from sbench_dag.rewards.small.train import Trained
from sbench_dag.rewards.small.words import Words
from sbench_dag.study import Study, find_study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", help="needed only if there are several")
    parser.add_argument("--rollouts", type=int, default=1000)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    examples = _rollouts(find_study(arguments.study), arguments.rollouts)
    with tempfile.TemporaryDirectory() as folder:
        model = SmallModel(arguments.weights or _random(Path(folder)), arguments.device)
        started = time.perf_counter()
        scored = sum(score.status is Status.SCORED for score in model.score(examples))
    seconds = time.perf_counter() - started
    print(f"{scored} of {len(examples)} rollouts in {seconds:.1f} s: {scored / seconds:.0f} a second, {model.device}")


def _rollouts(study: Study, count: int) -> list[Example]:
    lines = Results(study).of("stage_c").values()
    videos = [study.folder / line.row["video"]["file"] for line in lines if line.row.get("video")]
    if not videos:
        raise SetupError(f"{study.name}: no rollouts with videos")
    return [Example(str(i), video, "Pick up the mug") for i, video in enumerate(islice(cycle(videos), count))]


def _random(folder: Path) -> Path:
    torch.manual_seed(0)
    words, settings = Words.of(["Pick up the mug"]), Settings()
    save(folder, Trained(Network(len(words), settings.width), words, settings, 0, 0.0), {})
    return folder


if __name__ == "__main__":
    main()
