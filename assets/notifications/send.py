"""Tells of a failed run once: all targets at the same time, then the file, which keeps who was not told."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Thread

from assets.notifications.env import from_env
from assets.notifications.message import RunFailure
from assets.notifications.targets import to_email, to_slack, to_webhook
from assets.operations import NotifySettings
from sbench_dag.errors import SetupError
from sbench_dag.study import home

# A tick tells of up to 5 runs, and Dagster gives it 60 s; one that takes longer is repeated.
LIMIT_S = 9.0
NOT_TOLD = "not_told"


def resolved(settings: NotifySettings) -> tuple[NotifySettings, dict[str, str]]:
    """With the file and the UI's address read from the environment. One that can't be read is the default, and why."""
    values, problems = {}, {}
    for name in ("file", "ui_url"):
        try:
            values[name] = from_env(f"notify.{name}", getattr(settings, name))
        except SetupError as error:
            values[name] = NotifySettings.model_fields[name].default
            problems[name] = str(error)
    return settings.model_copy(update=values), problems


def tell(failure: RunFailure, settings: NotifySettings, problems: Mapping[str, str]) -> dict[str, str]:
    """Returns, by the setting's name, why somebody could not be told; `problems` are known before.

    Raises:
        OSError: the file can't be written.
    """
    not_told = {**problems, **_tell_all(_targets(failure, settings))}
    file = failures_file(settings)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as out:
        out.write(json.dumps({**failure.fields, NOT_TOLD: not_told}, ensure_ascii=False) + "\n")
    return not_told


def was_told(run: str, settings: NotifySettings) -> bool:
    """Whether the file has the run already: a tick that was cut short is repeated."""
    file = failures_file(settings)
    if not file.exists():
        return False
    with file.open() as lines:
        return any(f'"run": "{run}"' in line for line in lines)


def failures_file(settings: NotifySettings) -> Path:
    if settings.file:
        return home() / settings.file
    return Path(os.environ.get("SBENCH_DAGSTER", home() / "dagster")) / "failures.jsonl"


def _targets(failure: RunFailure, settings: NotifySettings) -> dict[str, Callable[[], None]]:
    found: dict[str, Callable[[], None]] = {}
    if settings.webhook:
        found["webhook"] = partial(to_webhook, failure, settings.webhook)
    if settings.slack:
        found["slack"] = partial(to_slack, failure, settings.slack)
    if settings.email:
        found["email"] = partial(to_email, failure, settings.email)
    return found


def _tell_all(targets: dict[str, Callable[[], None]]) -> dict[str, str]:
    """In daemon threads: one whose server sends a byte now and then would hold up Dagster's end for ever."""
    problems = dict.fromkeys(targets, f"not done within {LIMIT_S:g} s")

    def attempt(name: str) -> None:
        try:
            targets[name]()
        except Exception as error:  # whatever is wrong with one target, the others are told
            problems[name] = str(error)
        else:
            del problems[name]

    threads = [Thread(target=attempt, args=[name], daemon=True) for name in targets]
    for thread in threads:
        thread.start()
    _join(threads)
    return dict(problems)


def _join(threads: list[Thread]) -> None:
    deadline = time.monotonic() + LIMIT_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
