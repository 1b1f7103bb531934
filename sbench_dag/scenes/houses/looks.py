"""The colours of things: all instances of a category in a house look the same, in other houses they may not."""

from __future__ import annotations

from collections.abc import Mapping

from sbench_dag.scenes.houses.rng import stable_rng
from sbench_dag.scenes.houses.solids import Colours

_WHITE, _IVORY, _DARK, _STEEL = (0.93, 0.92, 0.89), (0.92, 0.90, 0.84), (0.13, 0.13, 0.15), (0.72, 0.74, 0.77)
_RED, _BLUE, _GREEN, _YELLOW = (0.75, 0.20, 0.17), (0.20, 0.40, 0.66), (0.24, 0.52, 0.32), (0.93, 0.73, 0.25)
_TEAL, _SAND, _SAGE, _PLUM = (0.16, 0.52, 0.54), (0.85, 0.75, 0.60), (0.55, 0.64, 0.50), (0.50, 0.28, 0.42)
_TUBER, _CARD, _CLAY = (0.70, 0.53, 0.34), (0.80, 0.62, 0.40), (0.74, 0.44, 0.32)
_STRAW, _BROWN, _WINE = (0.76, 0.62, 0.40), (0.45, 0.31, 0.20), (0.62, 0.18, 0.20)


def look_of(category: str, house: int) -> Colours:
    """What a category looks like in a house."""
    looks = _looks()[category]
    return looks[int(stable_rng("colour", house, category).integers(len(looks)))]


def _looks() -> Mapping[str, tuple[Colours, ...]]:
    return {
        "mug": ((_RED, _WHITE), (_BLUE, _WHITE), (_TEAL, _WHITE)),
        "bowl": ((_BLUE, _WHITE), (_SAND, _RED), (_TEAL, _WHITE)),
        "plate": ((_WHITE, _BLUE), (_SAND, _RED), (_WHITE, _TEAL)),
        "can": ((_RED, _STEEL), (_GREEN, _STEEL), (_BLUE, _STEEL)),
        "bottle": ((_GREEN, _WHITE), (_BLUE, _YELLOW), (_TEAL, _WHITE)),
        "box": ((_YELLOW, _RED), (_CARD, _GREEN), (_RED, _YELLOW)),
        "remote control": ((_DARK, _RED), (_DARK, _BLUE)),
        "cell phone": ((_DARK, _BLUE), (_STEEL, _DARK)),
        "key chain": ((_RED, _STEEL), (_GREEN, _STEEL)),
        "potato": ((_TUBER, _TUBER),),
        "apple": ((_RED, _GREEN), (_GREEN, _RED)),
        "butter knife": ((_DARK, _STEEL), (_RED, _STEEL)),
        "book": ((_WINE, _IVORY), (_BLUE, _IVORY), (_SAGE, _IVORY)),
        "cooking pot": ((_STEEL, _BROWN), (_WINE, _BROWN)),
        "basket": ((_STRAW, _BROWN), (_BROWN, _STRAW)),
        "cushion": ((_SAGE, _IVORY), (_PLUM, _IVORY), (_BLUE, _IVORY)),
        "vase": ((_CLAY, _BROWN), (_IVORY, _BLUE), (_BLUE, _IVORY)),
    }
