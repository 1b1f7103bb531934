"""A robot inside a compiled model: where its joints, actuators and base are, and how to place it."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sbench_dag.robot.frames import yaw_matrix

PREFIX = "robot/"
ARM_JOINTS = tuple(f"{PREFIX}joint{i}" for i in range(1, 8))
FINGER_JOINTS = (f"{PREFIX}finger_left", f"{PREFIX}finger_right")
BASE, LIFT, EXO_MOUNT = f"{PREFIX}base", f"{PREFIX}lift", f"{PREFIX}exo_mount"
TCP = f"{PREFIX}tcp"
EXO_CAMERA, POLICY_CAMERA, WRIST_CAMERA = "bench_exo_L", "zed2", "wrist"

OPEN_M = 0.08


@dataclass(frozen=True)
class BasePose:
    """Where the robot stands: the arm's mounting point is at (x, y, height), facing `yaw` (radians)."""

    x: float
    y: float
    height: float
    yaw: float

    @property
    def position(self) -> np.ndarray:
        return np.array([self.x, self.y, self.height])

    @property
    def quat_wxyz(self) -> np.ndarray:
        return np.array([np.cos(self.yaw / 2), 0.0, 0.0, np.sin(self.yaw / 2)])

    @property
    def rotation(self) -> np.ndarray:
        """world_from_base, (3, 3)."""
        return yaw_matrix(self.yaw)

    @classmethod
    def from_arrays(cls, position: np.ndarray, quat_wxyz: np.ndarray) -> BasePose:
        """From an end state; a base stands upright, so only the yaw of its rotation is kept."""
        w, x, y, z = quat_wxyz
        yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        return cls(float(position[0]), float(position[1]), float(position[2]), float(yaw))


@dataclass(frozen=True)
class Robot:
    """Addresses of the robot in one model. `bodies`: True for each body that is the robot's."""

    bodies: np.ndarray
    arm_qpos: np.ndarray
    finger_qpos: np.ndarray
    arm_ctrl: np.ndarray
    grip_ctrl: int
    tcp_site: int
    base_mocap: int
    lift_mocap: int
    exo_mocap: int

    def place_base(self, data: mujoco.MjData, pose: BasePose) -> None:
        """Teleport the base, its lift and the camera that follows it."""
        data.mocap_pos[self.base_mocap] = (pose.x, pose.y, 0.0)
        data.mocap_pos[self.lift_mocap] = pose.position
        for mocap in (self.base_mocap, self.lift_mocap):
            data.mocap_quat[mocap] = pose.quat_wxyz

    def set_arm(self, data: mujoco.MjData, arm_qpos: np.ndarray, width_m: float = OPEN_M) -> None:
        """Put the arm (7,) and the gripper somewhere at once, and command them to stay there."""
        data.qpos[self.arm_qpos] = arm_qpos
        data.qpos[self.finger_qpos] = width_m / 2
        self.command(data, arm_qpos, width_m)

    def command(self, data: mujoco.MjData, arm_qpos: np.ndarray, width_m: float) -> None:
        """Set the targets of the position actuators. A width below zero squeezes."""
        data.ctrl[self.arm_ctrl] = arm_qpos
        data.ctrl[self.grip_ctrl] = width_m


def find_robot(model: mujoco.MjModel) -> Robot:
    """The robot that `fr3.add_robot` put into the model."""
    names = [model.body(i).name for i in range(model.nbody)]
    return Robot(
        bodies=np.array([name.startswith(PREFIX) for name in names]),
        arm_qpos=np.array([model.joint(name).qposadr[0] for name in ARM_JOINTS]),
        finger_qpos=np.array([model.joint(name).qposadr[0] for name in FINGER_JOINTS]),
        arm_ctrl=np.array([model.actuator(name).id for name in ARM_JOINTS]),
        grip_ctrl=model.actuator(f"{PREFIX}grip").id,
        tcp_site=model.site(TCP).id,
        base_mocap=int(model.body(BASE).mocapid[0]),
        lift_mocap=int(model.body(LIFT).mocapid[0]),
        exo_mocap=int(model.body(EXO_MOUNT).mocapid[0]),
    )
