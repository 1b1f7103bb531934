"""Where Dagster keeps runs, events and schedules: in SQLite files, or in the Postgres that SBENCH_POSTGRES names.

dagster.yaml names the class here, so every process of Dagster has to find `assets`: PYTHONPATH names the checkout, or
the process is started in it by `python -m`.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dagster import StringSource
from dagster._core.storage.base_storage import DagsterStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClass, ConfigurableClassData
from dagster_postgres import DagsterPostgresStorage
from sqlalchemy import URL, NullPool, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, OperationalError

from assets.pool import limit_pool
from sbench_dag.errors import SetupError

VARIABLE = "SBENCH_POSTGRES"
_FORM = f"{VARIABLE} has to be postgresql://user:password@host:port/database"
_PATIENCE_S = 5.0  # a server that restarts is back by then
_LOCK = 0x5BE4C4  # any number that nobody else uses for an advisory lock


class Storage(DagsterStorage, ConfigurableClass):
    """What dagster.yaml names. Never made itself: it decides which of Dagster's own storages there is."""

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        return {"base_dir": StringSource}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Any:
        """
        Raises:
            SetupError: SBENCH_POSTGRES is no such URL, or nothing answers there. Its text never holds the password.
        """
        url = os.environ.get(VARIABLE, "")
        if url:
            return _postgres(url, inst_data)
        return _sqlite(config_value["base_dir"], inst_data)


def _sqlite(folder: str, inst_data: ConfigurableClassData | None) -> DagsterSqliteStorage:
    Path(folder).mkdir(parents=True, exist_ok=True)
    with (Path(folder) / ".creating").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two processes that make its tables at a time trip over each other
        storage = DagsterSqliteStorage.from_local(folder, inst_data)
        limit_pool(storage.event_log_storage)
        return storage


def _postgres(url: str, inst_data: ConfigurableClassData | None) -> DagsterPostgresStorage:
    parsed = _parsed(url)
    with _alone(parsed):
        storage = DagsterPostgresStorage(parsed.render_as_string(hide_password=False), inst_data=inst_data)
        limit_pool(storage.event_log_storage)
        return storage


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise SetupError(f"{_FORM}; what it is now is no URL") from None
    if parsed.drivername not in ("postgresql", "postgresql+psycopg2") or not (parsed.host and parsed.database):
        raise SetupError(f"{_FORM}, and is {_shown(parsed)}")
    return parsed


def _shown(url: URL) -> str:
    """Without the password, which may also stand in the query."""
    return url.set(query={}).render_as_string(hide_password=True)


@contextmanager
def _alone(url: URL) -> Iterator[None]:
    """Sees that the data base answers, and lets one process at a time look for its tables and make them."""
    engine = create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": 5})
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection = engine.connect()
            break
        except OperationalError as error:
            if time.monotonic() > deadline:
                raise SetupError(f"{VARIABLE}: can't use {_shown(url)}: {' '.join(str(error.orig).split())}") from None
            time.sleep(0.2)
    with connection:
        connection.execute(text(f"SELECT pg_advisory_lock({_LOCK})"))
        yield
