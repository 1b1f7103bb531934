"""Things of real-world sizes and masses. Each body's origin is in the middle of the thing."""

from __future__ import annotations

import mujoco

from sbench_dag.scenes.houses.solids import (
    Colours,
    ball,
    block,
    cylinder,
    ellipsoid,
    ring,
    seen_box,
    seen_cylinder,
    standing,
)

_STEEL, _BLACK = (0.74, 0.75, 0.78), (0.08, 0.08, 0.09)


def mug(body: mujoco.MjsBody, colours: Colours) -> None:
    """95 mm high, 82 mm wide, a wall of 4 mm, and a handle along +x."""
    colour, inside = colours
    ring(body, 14, (0.039, -0.0435), (0.039, 0.0475), 0.004, 0.24, colour)
    standing(body, 0.039, -0.0475, -0.0415, 0.04, colour)
    seen_cylinder(body, 0.036, 0.001, inside, (0, 0, -0.041))
    for pos, size in (
        ((0.054, 0, 0.026), (0.030, 0.010, 0.008)),
        ((0.054, 0, -0.026), (0.030, 0.010, 0.008)),
        ((0.066, 0, 0), (0.008, 0.010, 0.060)),
    ):
        block(body, size, 0.01, colour, pos)


def bowl(body: mujoco.MjsBody, colours: Colours) -> None:
    """60 mm high; its wall leans outwards to a rim of 152 mm."""
    colour, inside = colours
    ring(body, 18, (0.045, -0.027), (0.076, 0.030), 0.004, 0.25, colour)
    standing(body, 0.047, -0.030, -0.025, 0.10, colour)
    seen_cylinder(body, 0.046, 0.001, inside, (0, 0, -0.0245))


def plate(body: mujoco.MjsBody, colours: Colours) -> None:
    """A rim of 216 mm that rises to 24 mm."""
    colour, inside = colours
    ring(body, 20, (0.065, -0.0085), (0.108, 0.0115), 0.004, 0.25, colour)
    standing(body, 0.068, -0.012, -0.007, 0.20, colour)
    seen_cylinder(body, 0.060, 0.001, inside, (0, 0, -0.0067))


def can(body: mujoco.MjsBody, colours: Colours) -> None:
    """A full 0.33 l can."""
    label, metal = colours
    standing(body, 0.033, -0.061, 0.061, 0.37, metal)
    seen_cylinder(body, 0.0334, 0.100, label, (0, 0, 0))
    seen_cylinder(body, 0.010, 0.001, _BLACK, (0.012, 0, 0.0612))


def bottle(body: mujoco.MjsBody, colours: Colours) -> None:
    """A half-litre bottle; it is held by its neck of 28 mm."""
    glass, label = colours
    standing(body, 0.035, -0.110, 0.050, 0.50, glass)
    cylinder(body, 0.014, 0.050, 0.110, 0.03, glass)
    seen_cylinder(body, 0.0354, 0.070, label, (0, 0, -0.035))
    seen_cylinder(body, 0.0146, 0.016, _BLACK, (0, 0, 0.1023))


def box(body: mujoco.MjsBody, colours: Colours) -> None:
    """An upright packet, 55 mm thick."""
    colour, label = colours
    block(body, (0.120, 0.055, 0.180), 0.40, colour)
    for side in (-1, 1):
        seen_box(body, (0.090, 0.001, 0.070), label, (0, side * 0.0277, 0.030))
        seen_box(body, (0.070, 0.001, 0.012), (0.95, 0.95, 0.93), (0, side * 0.0277, -0.045))


def remote_control(body: mujoco.MjsBody, colours: Colours) -> None:
    colour, button = colours
    block(body, (0.165, 0.045, 0.018), 0.12, colour)
    seen_cylinder(body, 0.006, 0.002, button, (0.065, 0, 0.0092))
    for x in (-0.06, -0.035, -0.01):
        seen_box(body, (0.014, 0.030, 0.002), _STEEL, (x, 0, 0.0092))
    seen_cylinder(body, 0.014, 0.002, _STEEL, (0.028, 0, 0.0092))


def cell_phone(body: mujoco.MjsBody, colours: Colours) -> None:
    colour, screen = colours
    block(body, (0.147, 0.0715, 0.008), 0.19, colour)
    seen_box(body, (0.138, 0.064, 0.0006), screen, (0, 0, 0.0042))


def key_chain(body: mujoco.MjsBody, colours: Colours) -> None:
    """A fob with two keys that reach over its edge."""
    fob, metal = colours
    block(body, (0.045, 0.028, 0.010), 0.025, fob, (-0.024, 0, 0))
    block(body, (0.055, 0.022, 0.0024), 0.012, metal, (0.022, -0.004, -0.0038))
    block(body, (0.050, 0.020, 0.0024), 0.012, metal, (0.020, 0.008, -0.0038), 0.4)


def potato(body: mujoco.MjsBody, colours: Colours) -> None:
    """It lies on a flat side."""
    ellipsoid(body, (0.050, 0.034, 0.0297), 0.17, colours[0])
    block(body, (0.028, 0.020, 0.003), 0.01, colours[0], (0, 0, -0.0285))


def apple(body: mujoco.MjsBody, colours: Colours) -> None:
    """74 mm: what the gripper just gets around."""
    ball(body, 0.037, 0.17, colours[0])
    seen_cylinder(body, 0.002, 0.014, (0.35, 0.25, 0.15), (0, 0, 0.040))


def butter_knife(body: mujoco.MjsBody, colours: Colours) -> None:
    """A handle of 16 x 8 mm, and a blade that lies on the table."""
    handle, metal = colours
    block(body, (0.100, 0.016, 0.008), 0.04, handle, (-0.045, 0, 0))
    block(body, (0.110, 0.018, 0.002), 0.02, metal, (0.045, 0, -0.003))


def book(body: mujoco.MjsBody, colours: Colours) -> None:
    """Too wide to grasp as it lies."""
    cover, pages = colours
    block(body, (0.140, 0.210, 0.022), 0.35, cover)
    seen_box(body, (0.134, 0.2006, 0.0165), pages, (0.0034, 0, 0))
    seen_box(body, (0.080, 0.030, 0.0005), pages, (0, 0.050, 0.0111))


def cushion(body: mujoco.MjsBody, colours: Colours) -> None:
    """Too wide to grasp."""
    ellipsoid(body, (0.205, 0.205, 0.0597), 0.40, colours[0])
    block(body, (0.140, 0.140, 0.008), 0.05, colours[0], (0, 0, -0.056))
