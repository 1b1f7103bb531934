"""The code location: the assets of every study under SBENCH_HOME."""

from __future__ import annotations

import dagster as dg

from assets.of_study import study_assets
from assets.scope import Scope
from resources.cluster import ClusterResource
from sbench_dag.study import find_study, home, study_names


def build_definitions() -> dg.Definitions:
    """Every study that there is. One that can't be loaded shows why and leaves the others alone."""
    assets: list[dg.AssetsDefinition | dg.AssetSpec] = []
    groups: set[str] = set()
    for name in study_names():
        assets += _load(name, groups)
    return dg.Definitions(
        assets=assets or [_nothing_yet()],
        resources={"cluster": ClusterResource.configured()},
        executor=dg.in_process_executor,
    )


def _load(name: str, groups: set[str]) -> list[dg.AssetsDefinition] | list[dg.AssetSpec]:
    try:
        scope = Scope(find_study(name))
        if scope.group in groups:
            raise ValueError(f"another study's assets would be in the group {scope.group!r} too; rename one of them")
        found = study_assets(scope)
    except Exception as error:  # whatever is wrong with one study, the others go on
        return [_broken(name, error)]
    groups.add(scope.group)
    return found


def _broken(name: str, error: Exception) -> dg.AssetSpec:
    return dg.AssetSpec(
        dg.AssetKey([name, "cannot_be_loaded"]),
        group_name="broken_studies",
        description=f"{home() / 'studies' / name / 'study.toml'} can't be loaded. {type(error).__name__}: {error}",
    )


def _nothing_yet() -> dg.AssetSpec:
    return dg.AssetSpec(
        "no_study_yet",
        description=f"There is no study in {home() / 'studies'}. `make demo` makes the first one, "
        "`sbench study create` one of a data set of yours. Then reload the code location.",
    )


defs = build_definitions()
