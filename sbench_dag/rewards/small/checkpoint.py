"""A trained model on disk: `weights.pt` (a state dict of tensors) and `model.json`, which says what they are."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from sbench_dag.errors import InputError
from sbench_dag.files import write_whole
from sbench_dag.rewards.small.about import ABOUT, WEIGHTS, read_about, revision
from sbench_dag.rewards.small.network import Network
from sbench_dag.rewards.small.settings import Settings
from sbench_dag.rewards.small.train import Trained
from sbench_dag.rewards.small.words import Words


def save(folder: Path, trained: Trained, trained_on: Mapping[str, Any]) -> str:
    """Writes both files and returns the revision. trained_on: what else is worth knowing, as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    torch.save({name: tensor.cpu() for name, tensor in trained.network.state_dict().items()}, buffer)
    about = {
        "settings": asdict(trained.settings),
        "words": trained.words.known,
        "epoch": trained.epoch,
        "val_mae": trained.val_mae,
        "trained_on": trained_on,
    }
    write_whole(folder / WEIGHTS, buffer.getvalue())
    write_whole(folder / ABOUT, json.dumps(about, indent=1) + "\n")
    return revision(folder)


def load(folder: Path, device: torch.device) -> tuple[Network, Words, Settings]:
    """
    Raises:
        InputError: there is no model in the folder, or its weights are not those of its settings.
    """
    settings, words = read_about(folder)
    network = Network(len(words), settings.width)
    try:
        network.load_state_dict(torch.load(folder / WEIGHTS, map_location="cpu", weights_only=True))
    except Exception as error:  # torch raises whatever the damage leads to
        raise InputError(folder / WEIGHTS, "weights", str(error), "not the weights of this model") from None
    return network.to(device).eval(), words, settings
