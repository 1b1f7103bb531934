"""What runs by itself, when, and whom it tells: `$SBENCH_HOME/operations.toml`. Without that file, nothing does."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from sbench_dag.study import home
from sbench_dag.toml import read_toml


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StaleSettings(_Settings):
    """The sensor `stale_plans`."""

    enabled: bool = Field(default=False, description="Whether it is on when nobody has used its switch in the UI.")
    interval_s: int = Field(default=30, ge=1, description="Seconds between two looks.")


class NewDataSettings(_Settings):
    """The sensor `new_data`."""

    enabled: bool = Field(default=True, description="Whether it is on when nobody has used its switch in the UI.")
    interval_s: int = Field(default=60, ge=1, description="Seconds between two looks.")


class NightlySettings(_Settings):
    """The schedule `nightly_rescore`."""

    enabled: bool = Field(default=False, description="Whether it is on when nobody has used its switch in the UI.")
    cron: str = Field(default="0 3 * * *", description="When, as cron says it.")
    timezone: str = Field(default="UTC", description="Whose clock: a name of the IANA data base.")
    report_max_age_h: float = Field(default=26.0, gt=0, description="A report older than this shows as not fresh.")


class NotifySettings(_Settings):
    """Who is told of failed runs. A value `env:NAME` is read from that environment variable, to keep secrets out."""

    file: str = Field(default="", description="A line of JSON each; default: failures.jsonl beside Dagster's storage.")
    webhook: str = Field(default="", description="A URL that gets the failure as JSON.")
    slack: str = Field(default="", description="A Slack-compatible incoming webhook.")


class Operations(_Settings):
    stale: StaleSettings = StaleSettings()
    new_data: NewDataSettings = NewDataSettings()
    nightly: NightlySettings = NightlySettings()
    notify: NotifySettings = NotifySettings()


def load_operations() -> Operations:
    """
    Raises:
        InputError: operations.toml has a field that does not exist, or a wrong value.
    """
    file = home() / "operations.toml"
    return read_toml(file, Operations) if file.exists() else Operations()
