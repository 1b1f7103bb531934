"""Pictures of a scene, headless."""

from __future__ import annotations

import mujoco
import numpy as np

from sbench_dag.scenes.egl import starting


class Camera:
    """A camera of one model that keeps its renderer: starting one takes longer than a hundred pictures."""

    def __init__(self, model: mujoco.MjModel, name: str, width: int, height: int):
        """
        Raises:
            ValueError: the model has no camera of that name. Another one is never taken instead.
        """
        names = [model.camera(i).name for i in range(model.ncam)]
        if name not in names:
            raise ValueError(f"no camera {name!r}; the scene has {', '.join(names)}")
        self.name = name
        with starting():
            self._renderer = mujoco.Renderer(model, height=height, width=width)
            # without a GPU these two cost more than all the rest
            self._renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
            self._renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
            # of nothing yet: a driver that hangs does so in the first picture
            self._renderer.render()

    def render(self, data: mujoco.MjData) -> np.ndarray:
        """RGB (height, width, 3), uint8."""
        self._renderer.update_scene(data, camera=self.name)
        return self._renderer.render()

    def close(self) -> None:
        self._renderer.close()

    def __enter__(self) -> Camera:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def render_scene(model: mujoco.MjModel, data: mujoco.MjData, camera: str, width: int, height: int) -> np.ndarray:
    """One picture, RGB (height, width, 3), uint8."""
    with Camera(model, camera, width, height) as one:
        return one.render(data).copy()
