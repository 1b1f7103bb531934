"""A server of chat completions that misbehaves as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False  # until the server is closed


def says(content: Any, usage: Any = USAGE) -> Reply:
    """A chat completion with this content."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return Reply(body=json.dumps({"model": "served-1", "choices": [choice], "usage": usage}))


@dataclass
class Stub:
    """replies: by turns, the last one for ever. Requests, and when they came, in the order of their coming."""

    replies: list[Reply]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    at_a_time: int = 0
    _under_way: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: threading.Event = field(default_factory=threading.Event)

    def take(self, path: str, key: str | None, body: bytes) -> Reply:
        with self._lock:
            self._under_way += 1
            self.at_a_time = max(self.at_a_time, self._under_way)
            self.requests.append({"path": path, **json.loads(body)})
            self.keys.append(key)
            self.times.append(time.monotonic())
            reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if reply.hang:
            self._closed.wait()
        return reply

    def done(self) -> None:
        with self._lock:
            self._under_way -= 1

    def close(self) -> None:
        self._closed.set()


@contextmanager
def serve(*replies: Reply, before: Callable[[], None] = lambda: None) -> Iterator[Stub]:
    """before: runs in each request's thread before its reply is sent."""
    stub = Stub(list(replies))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reply = stub.take(self.path, self.headers.get("Authorization"), body)
            before()
            stub.done()
            self.send_response(reply.status)
            for name, value in {**reply.headers, "Content-Length": str(len(reply.body.encode()))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """Clients that went away are part of the game."""

    server = Server(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield stub
    finally:
        stub.close()
        server.shutdown()
        server.server_close()
