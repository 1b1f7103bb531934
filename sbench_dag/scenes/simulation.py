"""The physics settings that every scene is simulated with, whatever file it came from.

Measured for friction grasps of light household objects: elliptic cones, impratio 10 and multi-contact
convex collision hold thin rims; sleeping makes a house of resting objects an order of magnitude faster.
"""

from __future__ import annotations

import mujoco

TIMESTEP_S = 0.002


def apply_options(spec: mujoco.MjSpec, sleep: bool = True) -> None:
    """Sets integrator, contact and rendering options of a scene, the robot's included."""
    option = spec.option
    option.timestep = TIMESTEP_S
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 10.0
    option.noslip_iterations = 0
    if sleep:
        option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    # a switch that is off by default before MuJoCo 4, and on by default since
    if hasattr(mujoco.mjtEnableBit, "mjENBL_MULTICCD"):
        option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_MULTICCD)
    visual = spec.visual
    # znear and zfar are multiples of the model's extent: a house's default clips the wrist camera
    spec.stat.extent = 5.0
    visual.map.znear = 0.004
    visual.map.zfar = 10.0
    # without a GPU a picture takes as long as it has triangles: these look the same and take half the time
    visual.quality.numslices, visual.quality.numstacks, visual.quality.numquads = 16, 10, 2
    visual.quality.offsamples = 0
    visual.global_.offwidth = 1280
    visual.global_.offheight = 960
