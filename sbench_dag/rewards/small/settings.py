"""What a small model is and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """size: of its frames in pixels, a multiple of 16. width: channels of its first layer, a multiple of 8.

    The default trains in minutes without a GPU on the demo's data; with one, take a width of 32.
    epochs: at most; it stops after `patience` epochs that were no better on the validation split.
    """

    size: int = 96
    width: int = 16
    epochs: int = 60
    patience: int = 10
    batch: int = 32
    learning_rate: float = 1e-3
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, of in (("size", self.size, 16), ("width", self.width, 8)):
            if value < of or value % of:
                raise ValueError(f"{name} = {value}: must be a multiple of {of}")
