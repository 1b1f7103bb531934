"""The scene sources by the names that a study calls them."""

from __future__ import annotations

from pathlib import Path

from sbench_dag.errors import SetupError
from sbench_dag.scenes.scene import SceneSource


def open_source(name: str, dataset: Path, sleep: bool = True) -> SceneSource:
    """The source of that name. `dataset`: the folder that paths of scenes are relative to.

    Raises:
        SetupError: there is no such source; the text lists those that there are.
    """
    # imported when asked for: a source may need packages that the others don't
    if name == "houses":
        from sbench_dag.scenes.houses.source import HouseSource

        return HouseSource(sleep)
    if name == "molmospaces":
        from sbench_dag.scenes.molmospaces import MolmoSpacesSource

        return MolmoSpacesSource(dataset, sleep)
    raise SetupError(f"study.toml: scenes.source = {name!r}: no such scene source; there are houses, molmospaces")
