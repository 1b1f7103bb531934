"""The categories of things that get moved: their sizes, and how a gripper gets along with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco

from sbench_dag.scenes.houses import containers, goods
from sbench_dag.scenes.houses.solids import Colours


@dataclass(frozen=True)
class Thing:
    """A category.

    names: what a query calls it, then synonyms. radius: of the circle around it, seen from above.
    height: as it stands; its origin is at half of it. graspable: whether fingers that open 80 mm hold it.
    room_inside: radius of the flat bottom that can carry another thing, at floor_inside above its own bottom.
    fits_inside: whether it is one of those that are put into others.
    """

    names: tuple[str, ...]
    plural: str
    radius: float
    height: float
    build: Callable[[mujoco.MjsBody, Colours], None]
    graspable: bool = True
    room_inside: float = 0.0
    floor_inside: float = 0.0
    fits_inside: bool = False

    @property
    def category(self) -> str:
        return self.names[0]

    @property
    def slug(self) -> str:
        return self.category.replace(" ", "")


def all_things() -> tuple[Thing, ...]:
    return (
        Thing(("mug", "coffee mug"), "mugs", 0.072, 0.095, goods.mug),
        Thing(("bowl", "cereal bowl"), "bowls", 0.078, 0.060, goods.bowl),
        Thing(("plate", "dinner plate"), "plates", 0.110, 0.024, goods.plate),
        Thing(("can", "soda can"), "cans", 0.034, 0.122, goods.can, fits_inside=True),
        Thing(("bottle", "water bottle"), "bottles", 0.036, 0.220, goods.bottle),
        Thing(("box", "cereal box"), "boxes", 0.067, 0.180, goods.box),
        Thing(("remote control", "remote"), "remote controls", 0.086, 0.018, goods.remote_control),
        Thing(("cell phone", "smartphone"), "cell phones", 0.082, 0.008, goods.cell_phone),
        Thing(("key chain", "keys"), "key chains", 0.052, 0.010, goods.key_chain, fits_inside=True),
        Thing(("potato", "spud"), "potatoes", 0.050, 0.060, goods.potato, fits_inside=True),
        Thing(("apple", "fruit"), "apples", 0.037, 0.074, goods.apple, fits_inside=True),
        Thing(("butter knife", "table knife"), "butter knives", 0.100, 0.008, goods.butter_knife),
        _too_wide(("book", "hardcover book"), "books", 0.127, 0.022, goods.book),
        _too_wide(("cooking pot", "saucepan"), "cooking pots", 0.155, 0.120, containers.cooking_pot, 0.100, 0.006),
        _too_wide(("basket", "wicker basket"), "baskets", 0.165, 0.150, containers.basket, 0.125, 0.008),
        _too_wide(("cushion", "throw pillow"), "cushions", 0.205, 0.120, goods.cushion),
        _too_wide(("vase", "flower vase"), "vases", 0.080, 0.260, containers.vase),
    )


def _too_wide(
    names: tuple[str, ...],
    plural: str,
    radius: float,
    height: float,
    build: Callable[[mujoco.MjsBody, Colours], None],
    room_inside: float = 0.0,
    floor_inside: float = 0.0,
) -> Thing:
    return Thing(names, plural, radius, height, build, False, room_inside, floor_inside)
