"""The code location: the assets of every study under SBENCH_HOME, and what keeps them up to date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import dagster as dg

from assets import automation
from assets.of_study import study_assets
from assets.operations import Operations, load_operations
from assets.scope import Scope
from resources.cluster import ClusterResource
from sbench_dag.study import find_study, home, study_names


def build_definitions() -> dg.Definitions:
    """Every study that there is. One that can't be loaded shows why and leaves the others alone.

    So do the settings of what runs by itself: instead of those in a broken file, the defaults hold.
    """
    operations, broken_operations = _operations()
    assets: list[dg.AssetsDefinition | dg.SourceAsset | dg.AssetSpec] = []
    scopes: list[Scope] = []
    for name in study_names():
        try:
            scope = _scope(name, scopes, operations)
            assets += study_assets(scope)
            scopes.append(scope)
        except Exception as error:  # whatever is wrong with one study, the others go on
            assets.append(_broken(name, error))
    return dg.Definitions(
        assets=[*broken_operations, *(assets or [_nothing_yet()])],
        jobs=automation.jobs(scopes),
        schedules=automation.schedules(scopes, operations),
        sensors=automation.sensors(scopes, operations),
        resources={"cluster": ClusterResource.configured()},
        executor=dg.in_process_executor,
    )


def _operations() -> tuple[Operations, list[dg.AssetSpec]]:
    """The settings, and where they can't be loaded the defaults and what shows why."""
    try:
        return load_operations(), []
    except Exception as error:  # whatever is wrong with them, the studies can be looked at and worked on
        text = (
            "What runs by itself has its default settings, and nobody is told of failures but by the file, because "
            f"{home() / 'operations.toml'} can't be loaded. {type(error).__name__}: {error}"
        )
        return Operations(), [dg.AssetSpec("operations_toml_cannot_be_loaded", description=text)]


def _scope(name: str, others: Sequence[Scope], operations: Operations) -> Scope:
    nightly = operations.nightly
    scope = Scope(find_study(name), timedelta(hours=nightly.report_max_age_h) if nightly.enabled else None)
    if scope.group in [other.group for other in others]:
        raise ValueError(f"another study's assets would be in the group {scope.group!r} too; rename one of them")
    return scope


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
