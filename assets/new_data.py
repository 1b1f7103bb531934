"""The sensor `new_data`: what comes, changes or goes gets into manifests, partitions and Dagster's stale marks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import dagster as dg
from dagster._core.remote_origin import CodeLocationOrigin
from pydantic import BaseModel, TypeAdapter, ValidationError

from assets.in_flight import in_flight
from assets.operations import NewDataSettings
from assets.partitions import Partitions
from assets.provenance import last_observed, observations
from assets.reload import can_reload, reload_location
from assets.scope import EPISODES, REPORT, Scope, partitions_of
from sbench_dag.errors import SbenchError
from sbench_dag.gate import Keys
from sbench_dag.pipeline import GATES
from sbench_dag.plans.build import Manifest, build_manifest
from sbench_dag.plans.inputs import input_files, signature
from sbench_dag.plans.manifest import manifest_files, write_manifest
from sbench_dag.study import Study
from sbench_dag.work.fingerprint import fingerprint


class Look(BaseModel):
    """What the last look at a study has seen; the cursor has one for each.

    seen: the data set's files. built: those that the manifest was built of. manifest: its own files. settings: those
    of study.toml. partitions: those of the manifest on disk. changed: when settings or partitions last did, in seconds
    since 1970; 0: not seen yet. told: the episodes' files and what Dagster knows of them, when these last agreed.
    """

    seen: str
    built: str = ""
    manifest: str = ""
    settings: str = ""
    partitions: str = ""
    changed: float = 0.0
    told: str = ""


@dataclass(frozen=True)
class Found:
    """After a look at one study: what to remember, what to say, and whether its assets are to be loaded again.

    news: what Dagster is to be told of episodes.
    """

    look: Look | None
    text: str = ""
    outdated: bool = False
    news: Sequence[dg.AssetObservation] = ()


BY_HAND = (
    "A UI that was loaded before shows the old ones until somebody presses Reload, at Deployment > Code locations. "
    "It reloads by itself where web server and daemon share a code server (docs/new-data.md)."
)
_ASKED_S = 24 * 3600.0  # for how long ticks ask for that: nobody knows whether somebody has pressed it
_CURSOR = TypeAdapter(dict[str, Look])
_READING_S = 20.0  # of the 60 s that a tick may take; what is left to read is read by the next


def new_data(scopes: Sequence[Scope], settings: NewDataSettings) -> dg.SensorDefinition:
    @dg.sensor(
        name="new_data",
        minimum_interval_seconds=settings.interval_s,
        default_status=dg.DefaultSensorStatus.RUNNING if settings.enabled else dg.DefaultSensorStatus.STOPPED,
        description="Rebuilds a study's manifest when files of its data set have changed, tells Dagster which episodes "
        "have, and reloads the code location for new partitions or settings; where it can't, its ticks say what to do.",
    )
    def sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        return _evaluate(context, scopes)

    return sensor


def _evaluate(context: dg.SensorEvaluationContext, scopes: Sequence[Scope]) -> dg.SensorResult:
    last, now = _read_cursor(context.cursor), time.time()
    found = {scope.study.name: _look(context.instance, scope, last.get(scope.study.name), now) for scope in scopes}
    looks = {name: one.look for name, one in found.items() if one.look}
    outdated = [name for name, one in found.items() if one.outdated]
    reloaded, text = _reload(context.code_location_origin, outdated, looks, now)
    changed = [scope for scope in scopes if scope.study.name in looks and looks[scope.study.name].changed == now]
    texts = [*(f"{name}: {one.text}" for name, one in found.items() if one.text), text]
    return dg.SensorResult(
        skip_reason="\n".join(filter(None, texts)) or "nothing new",
        cursor=_CURSOR.dump_json(looks).decode(),
        asset_events=[
            *(event for one in found.values() for event in one.news),
            *([] if reloaded else [event for scope in changed for event in _notices(scope, text)]),
        ],
    )


def _read_cursor(cursor: str | None) -> Mapping[str, Look]:
    """A cursor of another version is as good as none: everything is looked at again."""
    try:
        return _CURSOR.validate_json(cursor or "{}")
    except ValidationError:
        return {}


def _look(instance: dg.DagsterInstance, scope: Scope, last: Look | None, now: float) -> Found:
    """Whatever is wrong with one study is its text: the others go on."""
    try:
        return _look_at_episodes(instance, scope, _look_at(instance, scope, last, now))
    except SbenchError as error:
        return Found(last, f"left as it is. {error}")
    except Exception as error:
        return Found(last, f"left as it is. {type(error).__name__}: {error}")


def _look_at(instance: dg.DagsterInstance, scope: Scope, last: Look | None, now: float) -> Found:
    study, texts = scope.current(), []
    files, settings = signature(input_files(study.dataset)), fingerprint(study)
    if last is None:
        return Found(Look(seen=files), "first look; the next one says whether files are changing")
    if files != last.seen:
        return Found(last.model_copy(update={"seen": files}), "files are changing; rebuilt when they have come to rest")
    now_is = (files, signature(manifest_files(study.manifest_folder)), settings)
    if now_is != (last.built, last.manifest, last.settings):
        manifest = build_manifest(study.dataset)
        waits = _waits(instance, scope, partitions_of(study, manifest))
        if waits:
            return Found(last, waits)
        if write_manifest(study.manifest_folder, manifest):
            texts.append(_summary(scope, manifest))
        last = _built(last, scope, study, now)
    if study != scope.study:
        texts.append("study.toml is not the one that the code location was loaded with")
    elif last.partitions == _partitions(scope.partitions):
        return Found(last, "\n".join(texts))
    waits = _waits(instance, scope, partitions_of(study))
    return Found(last, "\n".join([*texts, waits] if waits else texts), outdated=not waits)


def _built(look: Look, scope: Scope, study: Study, now: float) -> Look:
    """The look after the manifest was built of the files that it has seen."""
    settings, partitions = fingerprint(study), _partitions(partitions_of(study))
    before = (look.settings or fingerprint(scope.study), look.partitions or _partitions(scope.partitions))
    return Look(
        seen=look.seen,
        built=look.seen,
        manifest=signature(manifest_files(study.manifest_folder)),
        settings=settings,
        partitions=partitions,
        changed=look.changed if (settings, partitions) == before else now,
        told=look.told,
    )


def _look_at_episodes(instance: dg.DagsterInstance, scope: Scope, found: Found) -> Found:
    """Compares their content with what Dagster was told last. Nothing is read unless one of the two has changed."""
    dataset, key = scope.current().dataset, scope.key(EPISODES)
    there = set(dataset.episodes)
    episodes = [dataset.episode(name) for name in scope.partitions.keys[Keys.EPISODE] if name in there]
    known = last_observed(instance, key)
    state = fingerprint(signature(file for episode in episodes for file in episode.files.all), dict(known))
    if found.look is None or found.look.told == state:
        return found
    contents, end = dict[str, str](), time.monotonic() + _READING_S
    for episode in episodes:
        if time.monotonic() > end:
            break
        contents[episode.name] = episode.content
    news = observations(key, contents, known)
    if news or len(contents) < len(episodes):
        return replace(found, news=news)
    return replace(found, look=found.look.model_copy(update={"told": state}))


def _partitions(partitions: Partitions) -> str:
    return fingerprint(list(partitions.keys.values()))


def _summary(scope: Scope, manifest: Manifest) -> str:
    """Against what the code location was loaded with."""
    before, after = set(scope.study.manifest.entry), set(manifest.by_key)
    problems = f"; {len(manifest.problems)} problems, the first: {manifest.problems[0]}" if manifest.problems else ""
    return (
        f"the manifest is rebuilt: {len(after)} plans of {len(manifest.episodes)} episodes, "
        f"{len(after - before)} new, {len(before - after)} gone{problems}"
    )


def _waits(instance: dg.DagsterInstance, scope: Scope, after: Partitions) -> str:
    """A backfill fails as a whole when one of its partitions goes; what only adds some disturbs nothing."""
    before = scope.partitions.keys
    gone = {key for kind, keys in after.keys.items() for key in set(before[kind]) - set(keys)}
    busy = in_flight(instance, scope) if gone else ""
    return f"{len(gone)} partitions are to go, which waits for what is under way: {busy}" if busy else ""


def _reload(
    origin: CodeLocationOrigin | None, outdated: Sequence[str], looks: Mapping[str, Look], now: float
) -> tuple[bool, str]:
    """Whether the UI shows the partitions and settings that are on disk, as far as can be told, and what to say."""
    if can_reload(origin):
        problem = reload_location(origin) if outdated else ""
        return not problem, problem or (f"the code location is reloaded for {', '.join(outdated)}" if outdated else "")
    changed = max((look.changed for look in looks.values()), default=0.0)
    if now - changed > _ASKED_S:
        return True, ""
    when = datetime.fromtimestamp(changed).astimezone().isoformat(" ", "seconds")
    return False, f"partitions or settings have changed at {when}. {BY_HAND}"


def _notices(scope: Scope, text: str) -> list[dg.AssetObservation]:
    """Shown among the events of each asset whose partitions may have changed."""
    return [dg.AssetObservation(scope.key(name), description=text) for name in (*(g.name for g in GATES), REPORT)]
