"""The robot: arm, gripper, kinematics and grasps, as values and functions."""
