"""Where the files of a data set lie.

dataset.json
episodes/<episode>/{meta.json, final_state.npz, traj.h5, eval_spec.json, last_frame.png}
answers/s3_<model>/{results.json, run.json}
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class EpisodeFiles:
    """The files of one episode."""

    folder: Path

    @property
    def meta(self) -> Path:
        return self.folder / "meta.json"

    @property
    def final_state(self) -> Path:
        """`final_state.npz`; older samples hold the same keys in `states/final.npz`."""
        older = self.folder / "states" / "final.npz"
        newer = self.folder / "final_state.npz"
        return older if older.exists() and not newer.exists() else newer

    @property
    def trajectory(self) -> Path:
        return self.folder / "traj.h5"

    @property
    def eval_spec(self) -> Path:
        return self.folder / "eval_spec.json"

    @property
    def last_frame(self) -> Path:
        return self.folder / "last_frame.png"

    @property
    def all(self) -> tuple[Path, ...]:
        return (self.meta, self.final_state, self.trajectory, self.eval_spec, self.last_frame)
