"""Training, from labelled videos to weights."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, pad

from sbench_dag.errors import SetupError
from sbench_dag.rewards.metrics import tally
from sbench_dag.rewards.small.data import Split
from sbench_dag.rewards.small.network import Network, probabilities, scores, targets
from sbench_dag.rewards.small.settings import Settings
from sbench_dag.rewards.small.words import Words

_SHIFT_PX, _BRIGHTNESS = 6, 0.15


@dataclass(frozen=True)
class Trained:
    """val_mae: the validation split's group-wise mean absolute error, of the epoch whose weights these are."""

    network: Network
    words: Words
    settings: Settings
    epoch: int
    val_mae: float


@dataclass(frozen=True)
class Epoch:
    number: int
    loss: float
    val_mae: float


def train(
    learn: Split,
    validate: Split,
    settings: Settings,
    device: torch.device,
    progress: Callable[[Epoch], None] | None = None,
) -> Trained:
    """The weights of the epoch that was best on the validation split. On one device and with as many threads, the
    same seed gives the same weights.

    Raises:
        SetupError: one of the splits is empty.
    """
    if not len(learn) or not len(validate):
        raise SetupError(f"{len(learn)} videos to learn from and {len(validate)} to validate with: both are needed")
    torch.manual_seed(settings.seed)
    shuffle = torch.Generator().manual_seed(settings.seed)
    words = Words.of(learn.tasks)
    network = Network(len(words), settings.width).to(device)
    optimiser = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    best, weights = Epoch(0, float("inf"), float("inf")), copy.deepcopy(network.state_dict())
    for number in range(1, settings.epochs + 1):
        loss = _one_epoch(network, optimiser, learn, words, settings.batch, shuffle, device)
        epoch = Epoch(number, loss, group_mae(predict(network, words, validate, device), validate))
        if progress is not None:
            progress(epoch)
        if epoch.val_mae < best.val_mae:
            best, weights = epoch, copy.deepcopy(network.state_dict())
        elif number - best.number >= settings.patience:
            break
    network.load_state_dict(weights)
    return Trained(network.eval(), words, settings, best.number, best.val_mae)


def predict(network: Network, words: Words, split: Split, device: torch.device, batch: int = 64) -> np.ndarray:
    """(n,) scores, 1 to 5."""
    network.eval()
    tasks, found = torch.from_numpy(words.encode(split.tasks)).to(device), []
    with torch.inference_mode():
        for index in torch.arange(len(split)).split(batch):
            frames = split.frames[split.frames_of[index]].to(device)
            found.append(scores(probabilities(network(frames, tasks[index.to(device)]))).cpu())
    return torch.cat(found).numpy()


def group_mae(predicted: np.ndarray, split: Split) -> float:
    """The plain mean of the subsets' mean absolute errors, as in RoboRewardBench."""
    return tally(np.abs(predicted - split.labels).astype(float), split.subsets).group_wise or 0.0


def _one_epoch(
    network: Network,
    optimiser: torch.optim.Optimizer,
    learn: Split,
    words: Words,
    batch: int,
    shuffle: torch.Generator,
    device: torch.device,
) -> float:
    """The mean loss."""
    network.train()
    tasks = torch.from_numpy(words.encode(learn.tasks)).to(device)
    wanted, losses = targets(torch.from_numpy(learn.labels)).to(device), []
    for index in torch.randperm(len(learn), generator=shuffle).split(batch):
        frames = _vary(learn.frames[learn.frames_of[index]].to(device), shuffle)
        chosen = index.to(device)
        loss = binary_cross_entropy_with_logits(network(frames, tasks[chosen]), wanted[chosen])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())
    return float(torch.stack(losses).mean())


def _vary(frames: torch.Tensor, draw: torch.Generator) -> torch.Tensor:
    """Shifts a batch of videos by a few pixels and makes each lighter or darker: there are not many houses."""
    size = frames.shape[-1]
    x, y = torch.randint(0, 2 * _SHIFT_PX + 1, (2,), generator=draw).tolist()
    light = 1 + _BRIGHTNESS * (2 * torch.rand(len(frames), 1, 1, 1, 1, generator=draw) - 1)
    wide = pad(frames.flatten(0, 1).float(), (_SHIFT_PX,) * 4, mode="replicate").view(
        *frames.shape[:3], *(size + 12,) * 2
    )
    return (wide[..., y : y + size, x : x + size] * light.to(frames.device)).clamp(0, 255)
