"""Servers that are told of failures: they note what they get, and misbehave on request."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

SECRET = "/services/T0/B0/very-secret"


@dataclass
class Web:
    """got: the bodies. status: what it answers. hangs: it reads and says nothing."""

    status: int = 200
    hangs: bool = False
    got: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""


@contextmanager
def web(status: int = 200, hangs: bool = False) -> Iterator[Web]:
    found, over = Web(status, hangs), Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Content-Type"] == "application/json"
            found.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if found.hangs:
                over.wait()
                return
            self.send_response(found.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_address[1]}{SECRET}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield found
        finally:
            over.set()
            server.shutdown()
            thread.join()


@dataclass
class Mails:
    """got: addresses and mails. logins: names and passwords."""

    port: int
    got: list[tuple[list[str], EmailMessage]] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def mail_server(needs_login: bool = False, refuses: str = "") -> Iterator[Mails]:
    """refuses: an address that it does not take mail for."""
    mails = Mails(free_port())

    class Handler:
        async def handle_RCPT(
            self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list
        ) -> str:
            if address == refuses:
                return "550 no such user"
            envelope.rcpt_tos.append(address)
            return "250 OK"

        async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
            mail = message_from_bytes(envelope.content, policy=policy.default)  # type: ignore[arg-type]
            mails.got.append((envelope.rcpt_tos, mail))  # type: ignore[arg-type]
            return "250 OK"

    def authenticate(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: object) -> AuthResult:
        assert isinstance(data, LoginPassword)
        mails.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=data.password == b"right", handled=False)

    controller = Controller(
        Handler(),
        hostname="127.0.0.1",
        port=mails.port,
        authenticator=authenticate,
        auth_required=needs_login,
        auth_require_tls=False,
    )
    controller.start()
    try:
        yield mails
    finally:
        controller.stop()


def free_port() -> int:
    """Nobody listens there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
