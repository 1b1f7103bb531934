"""Trains the small model on a study's rollouts. It runs where gates run, each time that somebody asks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sbench_dag.files import lock
from sbench_dag.gate import Gate, Keys
from sbench_dag.outcomes import Outcome
from sbench_dag.rewards.small.settings import Settings
from sbench_dag.work.item import Result, WorkItem

if TYPE_CHECKING:
    from sbench_dag.context import Context
    from sbench_dag.rewards.small.data import Split

_DAY_S = 24 * 3600.0
_CHOSEN = ("epochs", "size", "width", "seed")


def training_item(settings: Settings, launch: str) -> WorkItem:
    """launch: tells this training from all others. Its key says the settings that can be chosen."""
    values = asdict(settings)
    key = ",".join(f"{name}={values[name]}" for name in _CHOSEN) + f",launch={launch}"
    return WorkItem(key, key, REWARD_TRAINING.cost_s, timeout_s=REWARD_TRAINING.timeout_s)


def settings_of(key: str) -> Settings:
    """What `training_item` was asked for."""
    values = dict(part.split("=", 1) for part in key.split(","))
    return Settings(**{name: int(values[name]) for name in _CHOSEN})


def run(context: Context, item: WorkItem) -> Result:
    """Makes the data set of today's rollouts and trains on it; another training of the study is waited for."""
    from sbench_dag.rewards.make_dataset import SPLITS, make_dataset
    from sbench_dag.rewards.small.data import load_split
    from sbench_dag.rewards.small.judge import choose_device
    from sbench_dag.rewards.small.train import train
    from sbench_dag.rewards.small.trained import save_tested

    settings, device, folder = settings_of(item.key), choose_device("auto"), context.study.folder / "rewards"
    folder.mkdir(exist_ok=True)
    with (folder / ".training.lock").open("w") as alone:
        lock(alone)
        make_dataset(context.study, folder / "dataset", workers=1)  # a worker may not have processes of its own
        splits = {name: load_split(folder / "dataset", name, settings.size) for name in SPLITS}
        trained = train(splits["train"].to(device), splits["val"].to(device), settings, device)
        tested = save_tested(folder / "small", trained, splits, device)
    return Result(Outcome.SUCCESS, row={"folder": "rewards/small", **asdict(tested), "videos": _videos(splits)})


def _videos(splits: Mapping[str, Split]) -> list[dict[str, Any]]:
    """How many there are of each kind in each split."""
    return [
        {"split": name, **dict(sorted(Counter(split.kinds.tolist()).items())), "all": len(split)}
        for name, split in splits.items()
    ]


REWARD_TRAINING = Gate(
    name="reward_training",
    description="Trains the small reward model on the study's rollouts and negatives made of them. By hand only.",
    keys=Keys.LAUNCH,
    code_version="1",
    modules=("sbench_dag.rewards.small",),
    upstream=(),
    settings=lambda study: (),
    run=run,
    cost_s=900.0,
    content=lambda study, key: key,
    timeout_s=_DAY_S,
)
