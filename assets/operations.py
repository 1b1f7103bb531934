"""What runs by itself, when, and whom it tells: `$SBENCH_HOME/operations.toml`. Without that file, nothing does."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from dagster._utils.schedules import is_valid_cron_string
from pydantic import BaseModel, ConfigDict, Field, field_validator

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

    @field_validator("cron")
    @classmethod
    def _is_cron(cls, value: str) -> str:
        if not is_valid_cron_string(value):
            raise ValueError("no cron expression that Dagster takes: minute, hour, day, month, day of the week")
        return value

    @field_validator("timezone")
    @classmethod
    def _is_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError):  # unknown; not even a relative path; a folder of the data base
            raise ValueError("no time zone of the IANA data base, such as Europe/Berlin") from None
        return value


class EmailSettings(_Settings):
    """The mail server, and who gets what it sends."""

    host: str = Field(description="The SMTP server.")
    port: int = Field(default=587, ge=1, le=65535, description="Its port.")
    sender: str = Field(alias="from", description="The address that the mail comes from.")
    to: list[str] = Field(min_length=1, description="The addresses that it goes to.")
    user: str = Field(default="", description="Logs in under this name; empty: it does not log in.")
    password: str = Field(default="", description="… with this password.")
    starttls: bool = Field(default=True, description="Whether it encrypts before it says anything else.")


class NotifySettings(_Settings):
    """Who is told of failed runs. A text `env:NAME` is read from that environment variable, to keep secrets out."""

    file: str = Field(
        default="",
        description="A line of JSON for each failure; a relative path is below $SBENCH_HOME. "
        "Empty: failures.jsonl in $SBENCH_DAGSTER.",
    )
    webhook: str = Field(default="", description="A URL that gets the same JSON by POST.")
    slack: str = Field(default="", description="A Slack-compatible incoming webhook; gets a text.")
    ui_url: str = Field(default="http://localhost:3000", description="Where the UI is, for the link to the run.")
    email: EmailSettings | None = Field(default=None, description="The table below.")


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
    return read_toml(file, Operations, secret=("notify",)) if file.exists() else Operations()
