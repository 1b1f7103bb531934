"""A Hub on this machine that has one data set: just what huggingface_hub asks of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def hub(root: Path, repo: str = "teetone/RoboReward") -> Iterator[tuple[str, list[str]]]:
    """Serves a folder as a data set at COMMIT; gives the address and the files that were fetched, as they come."""
    fetched: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, with_body: bool) -> None:
            path = self.path.split("?")[0]
            files = sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
            if path == f"/api/datasets/{repo}/revision/{COMMIT}":  # which of the two is asked depends on the library
                info = {"id": repo, "sha": COMMIT, "siblings": [{"rfilename": file} for file in files]}
                self._send(json.dumps(info).encode(), with_body)
                return
            if path == f"/api/datasets/{repo}/tree/{COMMIT}":
                tree = [{"type": "file", "path": f, "oid": "0", "size": (root / f).stat().st_size} for f in files]
                self._send(json.dumps(tree).encode(), with_body)
                return
            file = root / path.removeprefix(f"/datasets/{repo}/resolve/{COMMIT}/")
            if not file.is_file():
                self.send_response(404)
                self.send_header("X-Error-Code", "RevisionNotFound")
                self.end_headers()
                return
            if with_body:
                fetched.append(str(file.relative_to(root)))
            self._send(file.read_bytes(), with_body)

        def _send(self, content: bytes, with_body: bool) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if with_body:
                self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", fetched
    finally:
        server.shutdown()
        server.server_close()
