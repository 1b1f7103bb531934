"""Dagster's event log with its connections kept open: the same files or tables, several times faster.

Dagster connects anew for each event, which costs more than the event. Ours are thousands.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import dagster as dg
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster_postgres import PostgresEventLogStorage
from sqlalchemy import Connection, Engine, NullPool, create_engine


def keep_connections(instance: dg.DagsterInstance) -> None:
    """Of this process; an instance that keeps its events elsewhere is left as it is."""
    storage = instance.event_log_storage
    if type(storage) is SqliteEventLogStorage and "_connect" not in vars(storage):
        setattr(storage, "_connect", partial(_connect, storage, {}))  # noqa: B010
    if type(storage) is PostgresEventLogStorage and isinstance(storage._engine.pool, NullPool):
        # pre-ping: a server that was restarted costs a new connection, not the run
        storage._engine = create_engine(storage.postgres_url, isolation_level="AUTOCOMMIT", pool_pre_ping=True)


@contextmanager
def _connect(storage: SqliteEventLogStorage, engines: dict[str, Engine], shard: str) -> Iterator[Connection]:
    """A transaction in one of the log's files, as the storage's own method opens it."""
    with storage._db_lock:
        if shard not in engines:
            engines[shard] = create_engine(
                storage.conn_string_for_shard(shard), connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
            )
        if shard not in storage._initialized_dbs:
            storage._initdb(engines[shard])
            storage._initialized_dbs.add(shard)
        with engines[shard].connect() as connection, connection.begin():
            yield connection
