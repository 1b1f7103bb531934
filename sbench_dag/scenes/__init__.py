"""Scenes: how a house is rebuilt, restored to an episode's end state, checked (gate G0) and rendered."""

import logging

import mujoco

# by default MuJoCo writes its warnings to a file in the working directory
mujoco.set_mju_user_warning(logging.getLogger("mujoco").warning)
