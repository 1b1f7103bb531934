"""Things with room for other things, all of them too wide for the gripper."""

from __future__ import annotations

import mujoco

from sbench_dag.scenes.houses.solids import Colours, block, cylinder, ring, seen_cylinder, standing


def cooking_pot(body: mujoco.MjsBody, colours: Colours) -> None:
    """220 mm wide, 120 mm high, with two handles."""
    metal, grip = colours
    ring(body, 20, (0.1075, -0.056), (0.1075, 0.060), 0.005, 0.70, metal)
    standing(body, 0.107, -0.060, -0.054, 0.50, metal)
    for side in (-1, 1):
        block(body, (0.040, 0.070, 0.012), 0.04, grip, (side * 0.130, 0, 0.040))


def basket(body: mujoco.MjsBody, colours: Colours) -> None:
    """Wickerwork, 320 mm wide at the rim."""
    colour, band = colours
    ring(body, 16, (0.130, -0.069), (0.152, 0.060), 0.010, 0.35, colour)
    ring(body, 16, (0.155, 0.058), (0.155, 0.075), 0.018, 0.10, band)
    standing(body, 0.130, -0.075, -0.067, 0.15, colour)


def vase(body: mujoco.MjsBody, colours: Colours) -> None:
    """A heavy vase: even its neck is 100 mm wide."""
    colour, band = colours
    standing(body, 0.080, -0.130, 0.050, 1.10, colour)
    cylinder(body, 0.050, 0.050, 0.130, 0.20, colour)
    seen_cylinder(body, 0.0806, 0.030, band, (0, 0, 0.010))
    seen_cylinder(body, 0.046, 0.002, (0.1, 0.1, 0.1), (0, 0, 0.1295))
