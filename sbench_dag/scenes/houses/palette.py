"""A house's materials: what colours its furniture, floors and walls have."""

from __future__ import annotations

import mujoco
import numpy as np

from sbench_dag.scenes.houses import textures
from sbench_dag.scenes.houses.rng import stable_rng
from sbench_dag.scenes.houses.textures import Rgb

_WOODS: tuple[Rgb, ...] = ((0.72, 0.53, 0.34), (0.55, 0.38, 0.25), (0.82, 0.68, 0.50), (0.64, 0.46, 0.32))
_FABRICS: tuple[Rgb, ...] = ((0.36, 0.45, 0.52), (0.48, 0.52, 0.40), (0.60, 0.46, 0.40), (0.40, 0.40, 0.45))
_CABINETS: tuple[Rgb, ...] = ((0.90, 0.90, 0.87), (0.62, 0.70, 0.66), (0.45, 0.53, 0.60), (0.84, 0.80, 0.72))
_STONES: tuple[Rgb, ...] = ((0.80, 0.79, 0.77), (0.38, 0.38, 0.40), (0.66, 0.62, 0.57))
_RUGS: tuple[Rgb, ...] = ((0.62, 0.32, 0.28), (0.35, 0.45, 0.55), (0.70, 0.62, 0.48), (0.42, 0.50, 0.42))
_WALLS: tuple[Rgb, ...] = (
    (0.91, 0.89, 0.84),
    (0.83, 0.87, 0.86),
    (0.90, 0.85, 0.79),
    (0.82, 0.85, 0.90),
    (0.88, 0.88, 0.82),
    (0.87, 0.82, 0.84),
)
_FLOORS: dict[str, tuple[str, tuple[Rgb, ...], float]] = {
    "kitchen": ("tiles", ((0.80, 0.77, 0.72), (0.72, 0.74, 0.76)), 0.8),
    "bathroom": ("tiles", ((0.78, 0.84, 0.86), (0.85, 0.83, 0.80)), 0.5),
    "hallway": ("tiles", ((0.74, 0.70, 0.64), (0.64, 0.62, 0.60)), 1.0),
    "bedroom": ("carpet", ((0.74, 0.70, 0.66), (0.66, 0.68, 0.74)), 0.6),
    "guest room": ("carpet", ((0.72, 0.74, 0.68), (0.76, 0.70, 0.66)), 0.6),
}
_PLANKS = ("planks", ((0.74, 0.58, 0.41), (0.62, 0.45, 0.31), (0.80, 0.67, 0.50)), 0.6)
_PLAIN: dict[str, Rgb] = {
    "dark": (0.15, 0.15, 0.17),
    "metal": (0.62, 0.63, 0.65),
    "ceramic": (0.95, 0.95, 0.95),
    "appliance": (0.80, 0.81, 0.83),
    "screen": (0.10, 0.14, 0.20),
    "mirror": (0.76, 0.86, 0.90),
    "water": (0.66, 0.82, 0.88),
    "glass": (0.72, 0.86, 0.95),
    "frame": (0.97, 0.97, 0.96),
    "linen": (0.95, 0.94, 0.91),
    "pillow": (0.98, 0.97, 0.95),
    "leaves": (0.30, 0.48, 0.27),
    "pot": (0.72, 0.44, 0.33),
    "lampshade": (0.97, 0.91, 0.75),
    "book_a": (0.56, 0.22, 0.20),
    "book_b": (0.24, 0.36, 0.46),
    "book_c": (0.80, 0.70, 0.48),
    "art_a": (0.78, 0.52, 0.36),
    "art_b": (0.34, 0.50, 0.56),
}
_SHINY = frozenset({"ceramic", "metal", "screen", "mirror", "water", "glass", "appliance", "dark"})

_GLOWING = {"glass": 0.5, "lampshade": 0.3, "frame": 0.15}


def add_materials(spec: mujoco.MjSpec, house: int, room_names: tuple[str, ...]) -> None:
    """Adds the furniture's materials by name, and `floor<i>`, `wall<i>` and `rug<i>` for each room."""
    rng = stable_rng("palette", house)
    for name, colour in _PLAIN.items():
        _plain(spec, name, colour)
    timber = _pick(rng, _WOODS)
    _textured(spec, "wood", textures.wood(rng, timber), 1.6)
    _textured(spec, "rack", textures.wood(rng, _pick(rng, _WOODS)), 1.6)
    _plain(spec, "wood_front", _lighter(timber, 1.10))
    cabinet, fabric = _pick(rng, _CABINETS), _pick(rng, _FABRICS)
    _plain(spec, "cabinet", cabinet)
    _plain(spec, "cabinet_front", _lighter(cabinet, 1.05))
    _plain(spec, "fabric", fabric)
    _plain(spec, "cushion", _lighter(fabric, 1.15))
    _textured(spec, "stone", textures.carpet(rng, _pick(rng, _STONES)), 1.0, 0.4)
    _textured(spec, "tiles", textures.tiles(rng, (0.92, 0.92, 0.90)), 5.0)
    walls = rng.permutation(len(_WALLS))
    for i, name in enumerate(room_names):
        pattern, colours, period = _FLOORS.get(name, _PLANKS)
        picture = getattr(textures, pattern)(rng, _pick(rng, colours))
        _textured(spec, f"floor{i}", picture, 1 / period, 0.1)
        _plain(spec, f"wall{i}", _WALLS[walls[i % len(_WALLS)]])
        _textured(spec, f"rug{i}", textures.rug(rng, _pick(rng, _RUGS)), None, 0.0)


def add_sky(spec: mujoco.MjSpec) -> None:
    spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=(0.86, 0.90, 0.94), rgb2=(0.96, 0.96, 0.95), width=64, height=64,
    )  # fmt: skip


def _pick(rng: np.random.Generator, choices: tuple[Rgb, ...]) -> Rgb:
    return choices[int(rng.integers(len(choices)))]


def _lighter(colour: Rgb, factor: float) -> Rgb:
    r, g, b = (min(1.0, factor * c) for c in colour)
    return r, g, b


def _plain(spec: mujoco.MjSpec, name: str, colour: tuple[float, ...]) -> None:
    shine = 0.4 if name in _SHINY else 0.08
    glow = _GLOWING.get(name, 0.0)
    spec.add_material(name=name, rgba=(*colour, 1), specular=shine, shininess=shine, emission=glow)


def _textured(
    spec: mujoco.MjSpec, name: str, picture: np.ndarray, per_metre: float | None, specular: float = 0.15
) -> None:
    """per_metre: how often the picture repeats in a metre; None stretches it over the geom."""
    height, width, _ = picture.shape
    texture = spec.add_texture(name=name, type=mujoco.mjtTexture.mjTEXTURE_2D, width=width, height=height, nchannel=3)
    texture.data = picture.tobytes()
    repeat = (per_metre, per_metre) if per_metre else (1, 1)
    material = spec.add_material(
        name=name, texrepeat=repeat, texuniform=per_metre is not None, specular=specular, shininess=specular
    )
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
