"""JSON requests to servers that are busy, slow or broken now and then."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import requests
from requests.adapters import HTTPAdapter

from sbench_dag.errors import SbenchError, SetupError

_REFUSED = (401, 403, 404)
_PASSING = (408, 409, 425, 429)
_CONNECT_S = 10.0


class Failed(SbenchError):
    """No answer to this request; the text says why."""


@dataclass(frozen=True)
class Limits:
    """concurrency: requests at a time. attempts: of one request. timeout_s: for the server to say something.

    backoff_s: wait before the second attempt, doubled for each later one, up to longest_wait_s. A server that asks for
    a longer wait than that is not waited for.
    """

    concurrency: int = 8
    requests_per_minute: float | None = None
    attempts: int = 5
    timeout_s: float = 120.0
    backoff_s: float = 1.0
    longest_wait_s: float = 60.0


DEFAULT_LIMITS = Limits()


class _Again(Exception):
    """This attempt failed, another one may not. wait_s: what the server asks for."""

    def __init__(self, reason: str, wait_s: float = 0.0):
        super().__init__(reason)
        self.wait_s = wait_s


class Poster:
    """Posts to one address, from several threads. When the server asks one of them to wait, all of them do."""

    def __init__(self, url: str, key: str | None, limits: Limits):
        self._url, self._limits = url, limits
        self._session = requests.Session()
        adapter = HTTPAdapter(pool_maxsize=limits.concurrency)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)
        if key:
            self._session.headers["Authorization"] = f"Bearer {key}"
        self._lock = threading.Lock()
        self._next_start = 0.0

    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer, a JSON object.

        Raises:
            Failed: there is none, after all attempts or because the server does not take this request.
            SetupError: the server takes no such request at all.
        """
        reason = ""
        for attempt in range(self._limits.attempts):
            self._wait_for_a_slot()
            try:
                return self._once(body)
            except _Again as again:
                reason = str(again)
                if again.wait_s > self._limits.longest_wait_s:
                    raise Failed(f"{reason}, and asks to wait {again.wait_s:.0f} s") from None
                self._hold_all(again.wait_s)
                if attempt + 1 < self._limits.attempts:
                    self._back_off(attempt, again.wait_s)
        raise Failed(f"{reason}, {self._limits.attempts} times") from None

    def _once(self, body: dict[str, Any]) -> dict[str, Any]:
        try:
            response = self._session.post(self._url, json=body, timeout=(_CONNECT_S, self._limits.timeout_s))
        except requests.Timeout:
            raise _Again(f"{self._url} does not answer within {self._limits.timeout_s:g} s") from None
        except requests.RequestException as error:
            raise _Again(f"{self._url} can't be reached: {type(error).__name__}") from None
        if response.ok:
            return self._object(response)
        reason = f"{self._url} answers {response.status_code}: {_short(response.text)}"
        if response.status_code in _REFUSED:
            raise SetupError(reason)
        if response.status_code in _PASSING or response.status_code >= 500:
            raise _Again(reason, _retry_after_s(response))
        raise Failed(reason)

    def _object(self, response: requests.Response) -> dict[str, Any]:
        try:
            found = response.json()
        except ValueError:
            found = None
        if not isinstance(found, dict) or not found.get("choices"):
            raise _Again(f"{self._url} answers with no chat completion: {_short(response.text)}")
        return found

    def _wait_for_a_slot(self) -> None:
        per_minute = self._limits.requests_per_minute
        with self._lock:
            start = max(time.monotonic(), self._next_start)
            self._next_start = start + (60.0 / per_minute if per_minute else 0.0)
        time.sleep(max(0.0, start - time.monotonic()))

    def _hold_all(self, wait_s: float) -> None:
        with self._lock:
            self._next_start = max(self._next_start, time.monotonic() + wait_s)

    def _back_off(self, attempt: int, asked_s: float) -> None:
        own_s = self._limits.backoff_s * 2**attempt * random.uniform(0.5, 1.0)
        time.sleep(max(asked_s, min(own_s, self._limits.longest_wait_s)))


def _retry_after_s(response: requests.Response) -> float:
    """The header holds seconds or a date."""
    text = response.headers.get("Retry-After", "")
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return 0.0


def _short(text: str, limit: int = 200) -> str:
    text = " ".join(text[: 2 * limit].split())
    return text if len(text) <= limit else text[: limit - 3] + "..."
