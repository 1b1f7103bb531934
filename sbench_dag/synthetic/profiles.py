"""How much of the embedded benchmark to make."""

from __future__ import annotations

from dataclasses import dataclass

from sbench_dag.errors import SetupError
from sbench_dag.scenes.houses.source import HouseSource

HOUSES_PER_SEED = 1000


@dataclass(frozen=True)
class Profile:
    """episodes: of each house in turn, how many. queries: of each episode; extra: one more in the first so many."""

    name: str
    episodes: tuple[int, ...]
    queries: int
    extra: int = 0


@dataclass(frozen=True)
class EpisodeOrder:
    """An episode to make. number: its place in the profile."""

    episode: str
    house_index: int
    number: int
    queries: int
    seed: int


def find_profile(name: str) -> Profile:
    """
    Raises:
        SetupError: there is no such profile; the text lists those that there are.
    """
    profiles = {
        "test": Profile("test", (1, 1), 6),
        "mini": Profile("mini", (1, 2, 1, 1, 1), 8),
        # 44 episodes and 353 queries, as in the source
        "reference": Profile("reference", (1, 1, 1, 2) * 8 + (1,) * 4, 8, extra=1),
    }
    if name not in profiles:
        raise SetupError(f"no profile {name!r}; there are {', '.join(profiles)}")
    return profiles[name]


def orders(profile: Profile, seed: int) -> list[EpisodeOrder]:
    """The profile's episodes, sorted by name."""
    found: list[EpisodeOrder] = []
    for i, count in enumerate(profile.episodes):
        house = seed * HOUSES_PER_SEED + i
        for k in range(count):
            number = len(found)
            queries = profile.queries + (number < profile.extra)
            found.append(EpisodeOrder(f"val_{house:04d}__{k}", house, number, queries, seed))
    return found


def revision(profile: Profile, seed: int) -> str:
    """Names the content: the generator's version, the profile, the seed."""
    return f"{HouseSource.version}-{profile.name}-{seed}"
