"""scripts/postgres-sandbox: what `make postgres-up` boots."""

from __future__ import annotations

import psycopg2
import pytest

from tests.postgres import sandbox, script, url

pytestmark = pytest.mark.waits


def ask(address: str, query: str) -> object:
    with psycopg2.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall() if cursor.description else None


def test_up_is_idempotent_and_what_is_in_it_outlives_a_restart():
    with sandbox() as folder:
        address = url(folder)
        assert address.startswith("postgresql://sbench:") and "@127.0.0.1:" in address
        ask(address, "CREATE TABLE kept AS SELECT 7 AS it")
        assert url(folder) == address
        assert script("status", folder).returncode == 0
        assert script("down", folder).returncode == 0
        assert script("status", folder).returncode == 1
        with pytest.raises(psycopg2.OperationalError):
            ask(address, "SELECT 1")
        assert url(folder) == address
        assert ask(address, "SELECT it FROM kept") == [(7,)]


def test_it_asks_for_the_password():
    with sandbox() as folder:
        address = url(folder)
        password = address.split(":")[2].split("@")[0]
        with pytest.raises(psycopg2.OperationalError, match="password"):
            ask(address.replace(password, "guessed"), "SELECT 1")


def test_two_at_a_time_do_not_touch_each_other():
    with sandbox() as one:
        with sandbox() as other:
            assert url(one) != url(other)
        assert ask(url(one), "SELECT 1") == [(1,)]
