"""Where a failure can be told: a webhook, Slack, a mail server. Errors never show a URL, which may be a secret."""

from __future__ import annotations

import smtplib
import ssl
import time
from email.message import EmailMessage
from html import escape
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from assets.notifications.env import from_env
from assets.notifications.message import RunFailure
from assets.operations import EmailSettings

CONNECT_S, ANSWER_S = 2.0, 5.0
TRIES = 3
_BACKOFF_S = 0.5


class NotToldError(Exception):
    """The text says which target, and why."""


def to_webhook(failure: RunFailure, setting: str) -> None:
    _post("notify.webhook", setting, failure.fields)


def to_slack(failure: RunFailure, setting: str) -> None:
    _post("notify.slack", setting, {"text": escape(failure.text, quote=False)})


def to_email(failure: RunFailure, settings: EmailSettings) -> None:
    host, sender, user, password = (
        from_env(f"notify.email.{name}", value)
        for name, value in (
            ("host", settings.host),
            ("from", settings.sender),
            ("user", settings.user),
            ("password", settings.password),
        )
    )
    mail = EmailMessage()
    mail["Subject"] = f"sbench: {failure.headline}"
    mail["From"] = sender
    mail["To"] = ", ".join(from_env("notify.email.to", address) for address in settings.to)
    mail.set_content(failure.text)
    try:
        with _connected(host, settings.port) as server:
            if settings.starttls:
                server.starttls(context=ssl.create_default_context())
            if user:
                server.login(user, password)
            refused = server.send_message(mail)
    except OSError as error:
        raise NotToldError(f"{host}:{settings.port}: {type(error).__name__}: {error}") from None
    if refused:
        raise NotToldError(f"{host}:{settings.port} refused {', '.join(refused)}")


def _connected(host: str, port: int) -> smtplib.SMTP:
    """Only a connection that was refused is tried again: what was sent once may have arrived."""
    for attempt in range(1, TRIES):
        try:
            return smtplib.SMTP(host, port, timeout=ANSWER_S)
        except TimeoutError:
            raise
        except OSError:
            time.sleep(_BACKOFF_S * attempt)
    return smtplib.SMTP(host, port, timeout=ANSWER_S)


def _post(name: str, setting: str, body: dict[str, Any]) -> None:
    """Tries again where it can't have been heard: no connection, or a server that says so (429, 5xx)."""
    url = from_env(name, setting)
    host = urlsplit(url).hostname
    retry = Retry(
        connect=TRIES - 1,
        status=TRIES - 1,
        read=False,
        other=0,
        allowed_methods=None,
        status_forcelist=[429, *range(500, 600)],
        backoff_factor=_BACKOFF_S,
        raise_on_status=False,
        respect_retry_after_header=False,
    )
    try:
        with requests.Session() as session:
            for scheme in ("http://", "https://"):
                session.mount(scheme, HTTPAdapter(max_retries=retry))
            answer = session.post(url, json=body, timeout=(CONNECT_S, ANSWER_S), allow_redirects=False)
    except requests.ReadTimeout:
        raise NotToldError(f"{host} did not answer within {ANSWER_S:g} s") from None
    except requests.ConnectionError as error:
        raise NotToldError(f"no connection to {host}: {_cause(error)}") from None
    except (requests.RequestException, ValueError) as error:
        raise NotToldError(f"{name} can't be used as a URL ({type(error).__name__})") from None
    if answer.status_code >= 300:
        raise NotToldError(f"{host} answered {answer.status_code}")


def _cause(error: requests.ConnectionError) -> str:
    """Without what requests puts around it, which shows the URL."""
    found = error.args[0] if error.args else error
    reason = getattr(found, "reason", None)
    return str(reason).rpartition(": ")[2] if reason else type(found).__name__
