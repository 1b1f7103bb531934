"""Settings whose value stands in the environment, so that no file holds a secret."""

from __future__ import annotations

import os

from sbench_dag.errors import SetupError

_PREFIX = "env:"


def from_env(setting: str, value: str) -> str:
    """The value, or of `env:NAME` what that environment variable holds.

    Raises:
        SetupError: it is not set; the text names the setting.
    """
    if not value.startswith(_PREFIX):
        return value
    name = value.removeprefix(_PREFIX)
    if not os.environ.get(name):
        raise SetupError(f"{setting} = {value!r}: set {name} in the environment that Dagster is started from")
    return os.environ[name]
