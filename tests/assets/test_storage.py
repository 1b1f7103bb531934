"""Where Dagster keeps its events: the same in SQLite and in Postgres, with several processes writing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import dagster as dg
import psycopg2
import pytest
from dagster._core.definitions.data_version import DATA_VERSION_TAG
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster_postgres import PostgresEventLogStorage

from assets.__main__ import main
from assets.event_log import keep_connections
from assets.instance import CHECKOUT
from assets.storage import Storage
from sbench_dag.errors import SetupError
from sbench_dag.study import create_study
from tests.assets.scenes import two_scenes
from tests.assets.server import backfill_status, launch, ui, wait_until
from tests.assets.support import Bench, everything_works, failing, touch
from tests.by_hand import write_dataset
from tests.postgres import sandbox, script, url

GATES = ("g0_spike", "stage_b", "stage_c", "rollout_rewards", "report")
PASSWORD = "geheim"


@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    with sandbox() as folder:
        yield folder


@pytest.fixture
def sqlite(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty instance in SQLite."""
    monkeypatch.setenv("DAGSTER_HOME", str(CHECKOUT))
    monkeypatch.setenv("SBENCH_DAGSTER", str(home / "dagster"))
    monkeypatch.delenv("SBENCH_POSTGRES", raising=False)


@pytest.fixture
def postgres(server: Path, sqlite: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty instance in a data base of its own."""
    address = urlsplit(url(server))
    name = f"test_{abs(hash(tmp_path))}"
    connection = psycopg2.connect(address.geturl())
    connection.autocommit = True
    connection.cursor().execute(f"CREATE DATABASE {name}")
    connection.close()
    monkeypatch.setenv("SBENCH_POSTGRES", address._replace(path=f"/{name}").geturl())


def story() -> list[object]:
    """A run with failures, the next that mends them, a change of an episode: what Dagster says after each."""
    with dg.DagsterInstance.get() as instance:
        bench = Bench(create_study("by-hand", Path("data").absolute()), instance)
        said: list[object] = [type(instance.event_log_storage)]
        bench.cluster.judge = failing(*bench.partitions("stage_b")[:3], gate="stage_b")
        for name in GATES:
            bench.run(name)
        said += [bench.status(name) for name in GATES]
        bench.cluster.judge = everything_works
        bench.run_all()
        said += [bench.status(name) for name in GATES] + [bench.stale(name) for name in GATES]
        said += [{key: event.tags[DATA_VERSION_TAG] for key, event in bench.events(name).items()} for name in GATES[:4]]
        touch(bench, "val_0001__0")
        bench.must("g0_spike")
        return said + [bench.stale(name) for name in GATES]


def test_a_study_looks_the_same_in_both(
    home: Path, sqlite: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    stories = []
    for kind in ("sqlite", "postgres"):
        request.getfixturevalue(kind)
        folder = tmp_path / kind
        write_dataset(folder / "data")
        monkeypatch.chdir(folder)
        monkeypatch.setenv("SBENCH_HOME", str(folder / "home"))
        stories.append(story())
    (first, *in_sqlite), (second, *in_postgres) = stories
    assert (first, second) == (SqliteEventLogStorage, PostgresEventLogStorage)
    assert in_sqlite == in_postgres
    assert [bool(stale) for stale in in_postgres[-5:]] == [False, True, True, True, True]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_runs_that_write_at_the_same_time_lose_nothing(home: Path, kind: str, request: pytest.FixtureRequest):
    """Nor do they trip over each other while they make the tables."""
    request.getfixturevalue(kind)
    write_dataset(home / "data")
    studies = [create_study(name, home / "data") for name in ("one", "two", "three")]
    go, times = home / "go", 4
    commands = [[sys.executable, "-m", "tests.assets.writer", s.name, str(times), str(go)] for s in studies]
    writers = [
        subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for command in commands
    ]
    wait_until(
        lambda: all(Path(f"{go}.{s.name}").exists() or w.poll() for s, w in zip(studies, writers, strict=True)), 120
    )
    go.touch()
    for writer in writers:
        said, _ = writer.communicate(timeout=300)
        assert writer.returncode == 0 and "locked" not in said, said
    with dg.DagsterInstance.get() as instance:
        for study in studies:
            bench = Bench(study, instance)
            for name in GATES:
                keys = bench.partitions(name)
                events = instance.fetch_materializations(bench.scope.key(name), limit=1000).records
                assert sorted(event.partition_key or "" for event in events) == sorted(keys * times), name
                assert bench.status(name) == (set(keys), set()), name
        assert len(instance.get_runs()) == len(studies) * times * (len(GATES) + 1)


def test_a_server_that_restarts_costs_a_kept_connection_but_no_event(server: Path, postgres: None):
    with dg.DagsterInstance.get() as instance:
        keep_connections(instance)
        instance.report_runless_asset_event(dg.AssetMaterialization("a"))
        assert script("down", server).returncode == 0
        assert script("up", server).returncode == 0
        instance.report_runless_asset_event(dg.AssetMaterialization("a"))
        assert len(instance.fetch_materializations(dg.AssetKey("a"), limit=10).records) == 2


def test_web_server_and_daemon_over_postgres(home: Path, postgres: None):
    """They start at the same time over an empty data base, which one of them fills with tables."""
    study = two_scenes(home, blocks=2)
    with ui() as port:
        selection = [{"path": [study.name, name]} for name in ("g0_spike", "stage_b")]
        backfill = launch(port, selection, study.manifest.episodes)
        wait_until(lambda: backfill_status(port, backfill) not in ("REQUESTED", "COMPLETING"), 240)
        assert backfill_status(port, backfill) == "COMPLETED_SUCCESS"
    with dg.DagsterInstance.get() as instance:
        bench = Bench(study, instance)
        for gate in ("g0_spike", "stage_b"):
            assert bench.status(gate) == (set(bench.partitions(gate)), set())
    assert not list((home / "dagster").glob("history*")), "no SQLite beside it"


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (
            lambda up: f"mysql://sbench:{PASSWORD}@127.0.0.1/x",
            "has to be postgresql://user:password@host:port/database",
        ),
        (lambda up: f"postgresql:/{PASSWORD}", "has to be postgresql://user:password@host:port/database"),
        (lambda up: f"{PASSWORD}@127.0.0.1", "is no URL"),
        (lambda up: f"postgresql://sbench:{PASSWORD}@127.0.0.1:1/x", "Connection refused"),
        (lambda up: up._replace(netloc=f"sbench:{PASSWORD}@127.0.0.1:{up.port}").geturl(), "password authentication"),
        (lambda up: up._replace(path="/nope").geturl(), 'database "nope" does not exist'),
    ],
)
def test_a_wrong_url_is_said_in_one_line_without_its_password(
    server: Path,
    sqlite: None,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    address: Callable,
    text: str,
):
    monkeypatch.setattr("assets.storage._PATIENCE_S", 0.0)
    up = urlsplit(url(server))
    monkeypatch.setenv("SBENCH_POSTGRES", address(up))
    write_dataset(home / "data")
    create_study("by-hand", home / "data")
    assert main(["run"]) == 2
    _, err = capsys.readouterr()
    assert "SBENCH_POSTGRES" in err and text in err and err.count("\n") == 1
    assert PASSWORD not in err and str(up.password) not in err


@pytest.mark.parametrize(
    "address",
    [f"postgresql://sbench@127.0.0.1:1/x?password={PASSWORD}", f"mysql://sbench@127.0.0.1:1/x?password={PASSWORD}"],
)
def test_a_password_in_the_query_of_the_url_is_not_said_either(
    sqlite: None, monkeypatch: pytest.MonkeyPatch, address: str
):
    monkeypatch.setattr("assets.storage._PATIENCE_S", 0.0)
    monkeypatch.setenv("SBENCH_POSTGRES", address)
    with pytest.raises(SetupError, match=r"sbench@127\.0\.0\.1:1/x") as error:
        Storage.from_config_value(None, {"base_dir": "unused"})
    assert PASSWORD not in str(error.value)
