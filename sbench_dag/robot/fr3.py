"""The robot: a Franka FR3 arm with a parallel gripper on a base with a lift, all of primitives.

Kinematics, joint limits, torque limits, masses and inertias are Franka's published ones (franka_description).
The collision geometry is capsules drawn around the links. Contact, gripper and arm settings are those with
which friction grasps of thin rims hold (see docs/picking.md for what was measured).
"""

from __future__ import annotations

import mujoco
import numpy as np

from sbench_dag.robot.frames import look_at
from sbench_dag.robot.robot import (
    ARM_JOINTS,
    BASE,
    EXO_CAMERA,
    EXO_MOUNT,
    FINGER_JOINTS,
    LIFT,
    OPEN_M,
    POLICY_CAMERA,
    PREFIX,
    TCP,
    WRIST_CAMERA,
)

_BOX, _CAPSULE, _CYLINDER = (
    mujoco.mjtGeom.mjGEOM_BOX,
    mujoco.mjtGeom.mjGEOM_CAPSULE,
    mujoco.mjtGeom.mjGEOM_CYLINDER,
)

HOME = np.array([0.0, -1.2, 0.0, -2.5, 0.0, 1.3, 0.785])
LOWER = np.array([-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159])
UPPER = np.array([2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159])
STIFFNESS = (4500, 4500, 3500, 3500, 2000, 2000, 2000)
DAMPING = (450, 450, 350, 350, 200, 200, 200)
TORQUE_NM = (87, 87, 87, 87, 12, 12, 12)

FOOTPRINT_RADIUS_M = 0.22
LIFT_RANGE_M = (0.12, 1.30)
FINGER_BEYOND_TCP_M = 0.009
SQUEEZE_M = -0.03  # commanded width while gripping: the spring's force limit, not this, sets the grip
GRIP_FORCE_N = 70.0
GRIP_STIFFNESS = 4000.0

# (position, quaternion w x y z) of each link in its parent
_LINKS = [
    ((0, 0, 0.333), (1, 0, 0, 0)),
    ((0, 0, 0), (1, -1, 0, 0)),
    ((0, -0.316, 0), (1, 1, 0, 0)),
    ((0.0825, 0, 0), (1, 1, 0, 0)),
    ((-0.0825, 0.384, 0), (1, -1, 0, 0)),
    ((0, 0, 0), (1, 1, 0, 0)),
    ((0.088, 0, 0), (1, 1, 0, 0)),
]
# mass, centre of mass, principal axes (w x y z), principal moments
_INERTIALS = [
    (
        2.92747,
        (4.128e-07, -0.0181251, -0.0386036),
        (0.998098, -0.0605364, 0.00380499, 0.0110109),
        (0.0239286, 0.0227246, 0.00610634),
    ),
    (
        2.93554,
        (0.00318289, -0.0743222, 0.00881461),
        (0.502599, 0.584437, -0.465998, 0.434366),
        (0.0629567, 0.0411924, 0.0246371),
    ),
    (
        2.2449,
        (0.0407016, -0.00482006, -0.0289731),
        (0.921025, -0.244161, 0.155272, 0.260745),
        (0.0267409, 0.0189869, 0.0171587),
    ),
    (
        2.6156,
        (-0.0459101, 0.0630493, -0.00851879),
        (0.438018, 0.803311, 0.00937812, 0.403414),
        (0.05139, 0.0372717, 0.0160047),
    ),
    (
        2.32712,
        (-0.00160396, 0.0292536, -0.0972966),
        (0.919031, 0.125604, 0.0751531, -0.366003),
        (0.0579335, 0.0449144, 0.0130634),
    ),
    (
        1.81704,
        (0.0597131, -0.0410295, -0.0101693),
        (0.621301, 0.552665, 0.510011, 0.220081),
        (0.0175039, 0.0161123, 0.00193529),
    ),
    (
        0.627143,
        (0.00452258, 0.00862619, -0.0161633),
        (0.727579, 0.0978688, -0.24906, 0.63168),
        (0.000223836, 0.000223642, 5.64132e-07),
    ),
]
# (from, to, radius) of the capsules of each link
_CAPSULES = [
    [((0, 0, -0.19), (0, 0, -0.03), 0.06)],
    [((0, 0, -0.05), (0, 0, 0.05), 0.058), ((0, -0.04, 0), (0, -0.15, 0), 0.055)],
    [((0, 0, -0.12), (0, 0, -0.05), 0.055), ((0.0825, -0.001, 0), (0.0825, 0.001, 0), 0.06)],
    [((0, 0, -0.04), (0, 0, 0.04), 0.058), ((-0.0825, 0.06, 0), (-0.0825, 0.15, 0), 0.05)],
    [((0, 0, -0.24), (0, 0, -0.14), 0.05), ((0, 0.05, -0.12), (0, 0.07, 0), 0.04)],
    [((0, 0, -0.05), (0, 0, 0.04), 0.045), ((0.088, 0, -0.03), (0.088, 0, 0), 0.045)],
    [((0, 0, 0.03), (0, 0, 0.09), 0.045)],
]

_WHITE, _DARK, _BLACK = (0.93, 0.94, 0.95, 1), (0.25, 0.27, 0.30, 1), (0.10, 0.10, 0.11, 1)
# pads and finger stems: stiff, and with priority, so that the object's own settings don't soften them
_GRIP_CONTACT = {
    "priority": 1,
    "condim": 4,
    "friction": (1.0, 0.01, 0.0005),
    "solref": (0.004, 1.0),
    "solimp": (0.95, 0.999, 0.001, 0.5, 2.0),
}


def add_robot(spec: mujoco.MjSpec) -> None:
    """Adds the robot, its cameras and its actuators to a scene. Its base is a mocap body: it can be put anywhere."""
    lift = _add_base(spec)
    body = lift
    for i in range(7):
        body = _add_link(body, i)
    _add_hand(spec, body)
    _add_arm_actuators(spec)
    spec.add_exclude(bodyname1=LIFT, bodyname2=f"{PREFIX}link1")
    mount = spec.worldbody.add_body(name=EXO_MOUNT, mocap=True)
    mount.add_camera(name=EXO_CAMERA, fovy=58)


def robot_model() -> mujoco.MjModel:
    """The robot alone, its mounting point at the origin: what inverse kinematics runs on."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    add_robot(spec)
    return spec.compile()


def _add_base(spec: mujoco.MjSpec) -> mujoco.MjsBody:
    """A wheeled plate on the floor, and the column that carries the arm.

    The column has the length of the longest stroke: what is not needed hides below the floor, where a mocap body
    touches nothing.
    """
    base = spec.worldbody.add_body(name=BASE, mocap=True)
    base.add_geom(
        name=f"{PREFIX}plate",
        type=_CYLINDER,
        pos=(0, 0, 0.075),
        size=(FOOTPRINT_RADIUS_M, 0.035, 0),
        rgba=_DARK,
    )
    for x, y in ((0.12, 0.12), (0.12, -0.12), (-0.12, 0.12), (-0.12, -0.12)):
        wheel = {"type": _CYLINDER, "pos": (x, y, 0.022), "size": (0.022, 0.015, 0), "quat": (1, 1, 0, 0)}
        base.add_geom(rgba=_BLACK, contype=0, conaffinity=0, **wheel)
    lift = spec.worldbody.add_body(name=LIFT, mocap=True, pos=(0, 0, 0))
    length = LIFT_RANGE_M[1]
    lift.add_geom(
        name=f"{PREFIX}column",
        type=_CYLINDER,
        pos=(0, 0, -length / 2),
        size=(0.075, length / 2, 0),
        rgba=_DARK,
    )
    lift.add_geom(name=f"{PREFIX}mount", type=_CAPSULE, fromto=(0, 0, 0.03, 0, 0, 0.12), size=(0.07, 0, 0), rgba=_WHITE)
    eye = look_at(np.array([0.05, -0.55, 0.70]), np.array([0.55, 0.0, 0.05]))
    lift.add_camera(name=POLICY_CAMERA, pos=(0.05, -0.55, 0.70), quat=eye, fovy=70)
    return lift


def _add_link(parent: mujoco.MjsBody, i: int) -> mujoco.MjsBody:
    position, quat = _LINKS[i]
    mass, centre, axes, moments = _INERTIALS[i]
    link = parent.add_body(
        name=f"{PREFIX}link{i + 1}", pos=position, quat=quat, gravcomp=1,
        mass=mass, ipos=centre, iquat=axes, inertia=moments, explicitinertial=True,
    )  # fmt: skip
    link.add_joint(
        name=ARM_JOINTS[i], axis=(0, 0, 1), range=(LOWER[i], UPPER[i]), limited=True, armature=0.1, damping=1
    )
    for start, end, radius in _CAPSULES[i]:
        link.add_geom(type=_CAPSULE, fromto=(*start, *end), size=(radius, 0, 0), rgba=_WHITE)
    return link


def _add_hand(spec: mujoco.MjSpec, wrist: mujoco.MjsBody) -> None:
    hand = wrist.add_body(
        name=f"{PREFIX}hand",
        pos=(0, 0, 0.107),
        quat=(np.cos(np.pi / 8), 0, 0, -np.sin(np.pi / 8)),
        gravcomp=1,
    )
    hand.add_geom(type=_BOX, pos=(0, 0, 0.03), size=(0.02, 0.10, 0.028), mass=0.6, rgba=_WHITE)
    hand.add_site(name=TCP, pos=(0, 0, 0.1034))
    hand.add_camera(name=WRIST_CAMERA, pos=(0.07, 0, 0.03), quat=(0, 0.98, 0.2, 0), fovy=57)
    for joint, side in zip(FINGER_JOINTS, (1, -1), strict=True):
        finger = hand.add_body(name=joint, pos=(0, 0, 0.0584), gravcomp=1)
        finger.add_joint(
            name=joint, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=(0, side, 0), range=(0, OPEN_M / 2), limited=True,
            armature=0.1, damping=5, solref_limit=_GRIP_CONTACT["solref"], solimp_limit=_GRIP_CONTACT["solimp"],
        )  # fmt: skip
        stem = {"pos": (0, side * 0.008, 0.014), "size": (0.01, 0.007, 0.014)}
        pad = {"pos": (0, side * 0.004, 0.041), "size": (0.010, 0.004, 0.013)}
        finger.add_geom(type=_BOX, mass=0.02, rgba=_DARK, **stem, **_GRIP_CONTACT)
        finger.add_geom(name=f"{joint}_pad", type=_BOX, mass=0.02, rgba=_BLACK, **pad, **_GRIP_CONTACT)
    left, right = FINGER_JOINTS
    spec.add_equality(
        type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT, name1=left, name2=right,
        data=[0, 1] + [0] * (mujoco.mjNEQDATA - 2), solref=(0.004, 1), solimp=(0.99, 0.999, 0.001, 0.5, 2),
    )  # fmt: skip
    width = spec.add_tendon(name=f"{PREFIX}width")
    width.wrap_joint(left, 1)
    width.wrap_joint(right, 1)
    _add_servo(
        spec, f"{PREFIX}grip", f"{PREFIX}width", mujoco.mjtTrn.mjTRN_TENDON,
        GRIP_STIFFNESS, 2 * np.sqrt(GRIP_STIFFNESS * 0.1), GRIP_FORCE_N, (SQUEEZE_M, OPEN_M),
    )  # fmt: skip


def _add_arm_actuators(spec: mujoco.MjSpec) -> None:
    for i, name in enumerate(ARM_JOINTS):
        limits = (LOWER[i], UPPER[i])
        _add_servo(spec, name, name, mujoco.mjtTrn.mjTRN_JOINT, STIFFNESS[i], DAMPING[i], TORQUE_NM[i], limits)


def _add_servo(
    spec: mujoco.MjSpec,
    name: str,
    target: str,
    transmission: mujoco.mjtTrn,
    stiffness: float,
    damping: float,
    force: float,
    limits: tuple[float, float],
) -> None:
    """A position actuator with a force limit."""
    spec.add_actuator(
        name=name, target=target, trntype=transmission,
        gainprm=[stiffness] + [0] * 9, biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        biasprm=[0, -stiffness, -damping] + [0] * 7,
        forcerange=(-force, force), forcelimited=True, ctrlrange=limits, ctrllimited=True,
    )  # fmt: skip
