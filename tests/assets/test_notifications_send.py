"""Who is told of a failed run, what, and what becomes of those who can't be told. Against real servers."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from assets.notifications import send, targets
from assets.notifications.message import RunFailure
from assets.notifications.send import LIMIT_S, failures_file, resolved, tell, was_told
from assets.operations import EmailSettings, NotifySettings, load_operations
from sbench_dag.errors import InputError
from tests.assets.targets import SECRET, free_port, mail_server, web

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # a name without encryption

FAILURE = RunFailure(
    study="mini",
    gate="stage_c",
    run="0b1c",
    when="2026-11-30 12:00:00+00:00",
    without_result=3,
    requested=150,
    reasons={"invalid.timed_out": 2, "invalid.worker_crashed": 1},
    messages=("timed_out, for one val_0001__0.q00: took <600 s> & more",),
    link="http://localhost:3000/runs/0b1c",
)
TEXT = """mini / stage_c: 3 of 150 partitions have no result
2 invalid.timed_out
1 invalid.worker_crashed
timed_out, for one val_0001__0.q00: took <600 s> & more
Run 0b1c, failed 2026-11-30 12:00:00+00:00
http://localhost:3000/runs/0b1c"""


@pytest.fixture(autouse=True)
def dagster(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default file is in it."""
    monkeypatch.setenv("SBENCH_DAGSTER", str(home / "dagster"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return home / "dagster"


def lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def told(**settings: object) -> dict[str, str]:
    return tell(FAILURE, *resolved(NotifySettings.model_validate(settings)))


def email(port: int, **settings: object) -> EmailSettings:
    values = {"host": "127.0.0.1", "port": port, "from": "sbench@lab", "to": ["a@lab", "b@lab"], "starttls": False}
    return EmailSettings.model_validate({**values, **settings})


def test_without_settings_there_is_a_line_in_the_file_beside_dagsters_storage(dagster: Path):
    assert not was_told("0b1c", NotifySettings())
    assert told() == {}
    [line] = lines(dagster / "failures.jsonl")
    assert line == {**json.loads(json.dumps(FAILURE.fields)), "not_told": {}}
    assert was_told("0b1c", NotifySettings())
    assert not was_told("0b1", NotifySettings())


def test_everybody_who_is_set_is_told_once(home: Path):
    with web() as hook, web() as slack, mail_server() as mails:
        assert told(file="logs/f.jsonl", webhook=hook.url, slack=slack.url, email=email(mails.port)) == {}
    assert hook.got == [json.loads(json.dumps(FAILURE.fields))]
    assert slack.got == [{"text": TEXT.replace("<600 s> & more", "&lt;600 s&gt; &amp; more")}]
    [(to, mail)] = mails.got
    assert to == ["a@lab", "b@lab"] and mail["To"] == "a@lab, b@lab" and mail["From"] == "sbench@lab"
    assert mail["Subject"] == "sbench: mini / stage_c: 3 of 150 partitions have no result"
    assert mail.get_content().splitlines() == TEXT.splitlines()
    assert len(lines(home / "logs" / "f.jsonl")) == 1


def test_targets_that_fail_stop_neither_the_others_nor_the_file(dagster: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(targets, "ANSWER_S", 0.5)
    closed = f"http://127.0.0.1:{free_port()}{SECRET}"
    with web(hangs=True) as silent, mail_server() as mails:
        not_told = told(webhook=silent.url, slack=closed, email=email(mails.port))
    assert not_told == {
        "webhook": "127.0.0.1 did not answer within 0.5 s",
        "slack": "no connection to 127.0.0.1: [Errno 111] Connection refused",
    }
    assert len(silent.got) == 1, "it may have been heard, so it is not said again"
    assert len(mails.got) == 1
    assert lines(dagster / "failures.jsonl")[0]["not_told"] == not_told


def test_a_server_with_an_error_is_asked_three_times():
    with web(status=500) as broken:
        assert told(webhook=broken.url) == {"webhook": "127.0.0.1 answered 500"}
    assert len(broken.got) == 3


@pytest.mark.parametrize("status", [302, 404])
def test_a_server_that_refuses_is_asked_once(status: int):
    with web(status=status) as broken:
        assert told(slack=broken.url) == {"slack": f"127.0.0.1 answered {status}"}
    assert len(broken.got) == 1


def test_nobody_is_waited_for_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(send, "LIMIT_S", 0.3)
    monkeypatch.setattr(targets, "ANSWER_S", 20.0)
    started = time.monotonic()
    with web(hangs=True) as silent, web(hangs=True) as other:
        assert told(webhook=silent.url, slack=other.url) == dict.fromkeys(("webhook", "slack"), "not done within 0.3 s")
        assert time.monotonic() - started < 5


def test_a_tick_of_five_runs_ends_before_dagster_takes_it_for_dead():
    from dagster._core.definitions.run_status_sensor_definition import _get_run_status_sensor_process_limit
    from dagster._grpc.utils import default_sensor_grpc_timeout

    assert _get_run_status_sensor_process_limit() * LIMIT_S + 10 < default_sensor_grpc_timeout()


def test_no_error_shows_a_url_which_may_be_a_secret(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(targets, "ANSWER_S", 0.3)
    for url in (f"nonsense{SECRET}", f"http://{SECRET}", f"http://[::{SECRET}", f"http://no-such-host.invalid{SECRET}"):
        [why] = told(webhook=url).values()
        assert why and "secret" not in why, why


def test_secrets_are_read_from_the_environment_when_they_are_used(monkeypatch: pytest.MonkeyPatch):
    with web() as hook, mail_server(needs_login=True) as mails:
        monkeypatch.setenv("HOOK", hook.url)
        monkeypatch.setenv("WHO", "me")
        monkeypatch.setenv("PASSWORD", "right")
        assert told(webhook="env:HOOK", email=email(mails.port, user="env:WHO", password="env:PASSWORD")) == {}
    assert len(hook.got) == len(mails.got) == 1
    assert mails.logins == [("me", "right")]


def test_a_variable_that_is_missing_is_named_and_costs_only_its_target(dagster: Path):
    with web() as hook, mail_server() as mails:
        settings = {"webhook": hook.url, "slack": "env:NOPE", "file": "env:NOPE", "ui_url": "env:NOPE"}
        not_told = told(**settings, email=email(mails.port, user="x", password="env:NOPE"))
    assert not_told == {
        name: f"notify.{setting} = 'env:NOPE': set NOPE in the environment that Dagster is started from"
        for name, setting in {"slack": "slack", "file": "file", "ui_url": "ui_url", "email": "email.password"}.items()
    }
    assert len(hook.got) == 1 and mails.got == []
    assert len(lines(dagster / "failures.jsonl")) == 1


def test_a_mail_server_that_does_not_take_it_says_why():
    with mail_server(needs_login=True) as mails:
        [wrong] = told(email=email(mails.port, user="me", password="wrong")).values()
        [plain] = told(email=email(mails.port, starttls=True)).values()
    assert "Authentication" in wrong and "wrong" not in wrong.replace("Authentication", "")
    assert "STARTTLS" in plain
    with mail_server(refuses="b@lab") as mails:
        [refused] = told(email=email(mails.port)).values()
        assert refused.endswith("refused b@lab") and mails.got[0][0] == ["a@lab"]
    [closed] = told(email=email(free_port())).values()
    assert "Connection refused" in closed


def test_a_file_that_can_not_be_written_is_an_error_after_everybody_was_told(dagster: Path):
    (dagster / "failures.jsonl").mkdir(parents=True)
    with web() as hook, pytest.raises(OSError, match=r"failures\.jsonl"):
        told(webhook=hook.url)
    assert len(hook.got) == 1


def test_the_settings_are_read_from_operations_toml(home: Path):
    home.mkdir()
    file = home / "operations.toml"
    file.write_text(
        '[notify]\nslack = "env:SLACK"\n[notify.email]\nhost = "mail"\nfrom = "sbench@lab"\nto = ["a@lab"]\n'
    )
    found = load_operations().notify
    assert found.email and (found.email.host, found.email.port, found.email.sender) == ("mail", 587, "sbench@lab")
    file.write_text('[notify.email]\nhost = "mail"\nto = ["a@lab"]\n')
    with pytest.raises(InputError, match=r"notify\.email\.from"):
        load_operations()


def test_the_file_may_be_anywhere(home: Path, tmp_path: Path):
    assert failures_file(NotifySettings(file="f.jsonl")) == home / "f.jsonl"
    assert failures_file(NotifySettings(file=str(tmp_path / "f.jsonl"))) == tmp_path / "f.jsonl"
