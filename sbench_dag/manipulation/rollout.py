"""The rollout: a policy picks what Stage B approached, and everything that a judge may ask is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sbench_dag.errors import InvalidError
from sbench_dag.manipulation.judge import is_lifted
from sbench_dag.manipulation.policy import CONTROL_STEP_S, SUBSTEPS, Action, Observation, PickTask, Policy
from sbench_dag.manipulation.retract import retract_actions
from sbench_dag.manipulation.trace import RETRACTING, Observer, Touch, Trace
from sbench_dag.manipulation.video import VideoWriter
from sbench_dag.outcomes import Reason
from sbench_dag.robot.robot import EXO_CAMERA, BasePose
from sbench_dag.scenes.world import World
from sbench_dag.study import PolicySettings, VideoSettings


@dataclass(frozen=True)
class Pick:
    """One selection to pick: where to stand (exactly Stage B's pose) and the instance to pick up."""

    base: BasePose
    instance: str


class Rollout:
    """Runs the picks of one plan, one after the other, in one simulation."""

    def __init__(
        self,
        world: World,
        policy: Policy,
        settings: PolicySettings,
        video: VideoWriter | None,
        video_settings: VideoSettings,
    ):
        self.world, self.policy, self.settings, self.video = world, policy, settings, video
        self.initial_state = ""
        self._video_settings = video_settings
        self._observer = Observer(world.scene)
        self._steps: list[tuple] = []
        self._starts: list[tuple[np.ndarray, np.ndarray, BasePose]] = []

    def run(self, picks: Sequence[Pick], gt_bodies: Sequence[str], prompt: str) -> Trace:
        """The trace of all picks.

        Raises:
            InvalidError: MuJoCo gave a warning: what came after it is not physics.
        """
        for selection, pick in enumerate(picks):
            if selection == 0:
                self.initial_state = self.world.reset(pick.base)
            else:
                self._retract(selection - 1)
                self.world.move_base(pick.base)
            self._start_selection(pick)
            for attempt in range(self.settings.attempts):
                if attempt:
                    self._retract(selection)
                if self._attempt(selection, attempt, pick, gt_bodies, prompt):
                    break
        _check_physics(self.world.data)
        return self._trace(picks)

    def _start_selection(self, pick: Pick) -> None:
        data = self.world.data
        self._starts.append((self._observer.heights(data), self._observer.touches(data), pick.base))
        self._film()  # also of a robot that then does nothing

    def _attempt(self, selection: int, attempt: int, pick: Pick, gt_bodies: Sequence[str], prompt: str) -> bool:
        """Whether a ground-truth body was held long enough."""
        self.policy.begin(PickTask(prompt, pick.instance, attempt), self.world)
        wanted = [self._observer.names.index(body) for body in gt_bodies]
        start = self._starts[selection][0]
        held = 0
        for _ in range(self.settings.horizon_steps):
            action = self.policy.act(self._observe())
            if action is None:
                return False
            heights, touches = self._step(action, selection, attempt)
            lifted = any(is_lifted(heights[i], start[i], touches[i], self.settings.stop_lift_m) for i in wanted)
            held = held + 1 if lifted else 0
            if held * CONTROL_STEP_S >= self.settings.stop_hold_s:
                return True
        return False

    def _retract(self, selection: int) -> None:
        """Sets down what is held, opens the gripper and brings the arm home."""
        for action in retract_actions(self.world, self._held_above_start(selection)):
            self._step(action, selection, RETRACTING)

    def _held_above_start(self, selection: int) -> float:
        """How far what only the robot touches is above where it was; 0 if there is no such thing."""
        data = self.world.data
        rise = self._observer.heights(data) - self._starts[selection][0]
        return float(rise[self._observer.touches(data) == Touch.ROBOT].max(initial=0.0))

    def _step(self, action: Action, selection: int, attempt: int) -> tuple[np.ndarray, np.ndarray]:
        world, robot = self.world, self.world.scene.robot
        self._film()
        robot.command(world.data, action.arm_qpos, action.gripper_width_m)
        mujoco.mj_step(world.model, world.data, SUBSTEPS)
        heights, touches = self._observer.heights(world.data), self._observer.touches(world.data)
        command = np.append(action.arm_qpos, action.gripper_width_m)
        joints, width = world.data.qpos[robot.arm_qpos].copy(), world.data.qpos[robot.finger_qpos].sum()
        self._steps.append((world.data.time, selection, attempt, heights, touches, joints, width, command))
        return heights, touches

    def _observe(self) -> Observation:
        world, robot = self.world, self.world.scene.robot
        size = self.policy.image_size
        images = {name: world.camera(name, *size).render(world.data).copy() for name in self.policy.cameras}
        width = float(world.data.qpos[robot.finger_qpos].sum())
        return Observation(world.data.time, world.data.qpos[robot.arm_qpos].copy(), width, images)

    def _film(self) -> None:
        if self.video is None or not self.video.due(self.world.data.time):
            return
        camera = self.world.camera(EXO_CAMERA, self._video_settings.width, self._video_settings.height)
        self.video.write(camera.render(self.world.data))

    def _trace(self, picks: Sequence[Pick]) -> Trace:
        world, names = self.world, self._observer.names
        recorded = dict(
            zip(
                world.episode.end_state.bodies.names,
                world.episode.end_state.bodies.position[:, 2],
                strict=True,
            )
        )
        start_z, start_touch, bases = zip(*self._starts, strict=True)
        columns = list(zip(*self._steps, strict=True)) if self._steps else [()] * 8
        time_s, selection, attempt, z, touch, joints, width, command = columns
        return Trace(
            names=np.array(names),
            selected=np.array([pick.instance for pick in picks]),
            recorded_z=np.array([recorded.get(name, world.object_position(name)[2]) for name in names]),
            start_z=np.array(start_z),
            start_touch=np.array(start_touch, dtype=np.uint8),
            base=np.array([(b.x, b.y, b.height, b.yaw) for b in bases]),
            time_s=np.array(time_s),
            selection=np.array(selection, dtype=np.int8),
            attempt=np.array(attempt, dtype=np.int8),
            z=np.array(z).reshape(-1, len(names)),
            touch=np.array(touch, dtype=np.uint8).reshape(-1, len(names)),
            arm_qpos=np.array(joints, dtype=np.float32).reshape(-1, 7),
            gripper_m=np.array(width, dtype=np.float32),
            command=np.array(command, dtype=np.float32).reshape(-1, 8),
        )


def _check_physics(data: mujoco.MjData) -> None:
    for kind, warning in zip(mujoco.mjtWarning.__members__, data.warning, strict=False):
        if warning.number:
            raise InvalidError(Reason.PHYSICS_WARNING, f"MuJoCo warned {warning.number} times: {kind}")
