"""`<SBENCH_HOME>/reward_models.toml`: reward models by name, each a table with its `kind`. docs/reward-models.md."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator, model_validator

from sbench_dag.toml import read_toml

FILE = "reward_models.toml"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=True)


class FramesTable(_Table):
    fps: float = Field(default=2.0, gt=0)
    at_least: int = Field(default=4, ge=1)
    at_most: int = Field(default=8, ge=1)

    @model_validator(mode="after")
    def _in_order(self) -> FramesTable:
        if self.at_least > self.at_most:
            raise ValueError(f"at_least = {self.at_least} is more than at_most = {self.at_most}")
        return self


class SpendTable(_Table):
    """In dollars; cap is for one run."""

    input_per_million: float = Field(ge=0)
    output_per_million: float = Field(ge=0)
    cap: float = Field(gt=0)


class _AskedTable(_Table):
    """What all models share that are asked a question about frames. prompt: a file; see prompt.py."""

    frames: FramesTable = FramesTable()
    prompt: str | None = None


class ClipLengthTable(_Table):
    kind: Literal["clip-length"]
    thresholds_s: list[float]

    @field_validator("thresholds_s")
    @classmethod
    def _ascending(cls, thresholds: list[float]) -> list[float]:
        if len(thresholds) != 4 or thresholds != sorted(thresholds):
            raise ValueError("must be four ascending numbers of seconds")
        return thresholds


class StoredTable(_Table):
    """file: as `sbench rewards table --predictions` takes them. model: which one, if the file holds several."""

    kind: Literal["stored"]
    file: str
    model: str | None = None


class SmallTable(_Table):
    """weights: the folder that `sbench rewards train` wrote."""

    kind: Literal["small"]
    weights: str
    device: str = "auto"


class OpenAITable(_AskedTable):
    """The fields are those of `OpenAIServer` and `Limits`."""

    kind: Literal["openai"]
    url: str
    model: str
    api_key_env: str | None = None
    media: Literal["frames", "video"] = "frames"
    max_tokens: int = Field(default=1024, ge=1)
    temperature: float = Field(default=0.0, ge=0)
    body: dict[str, Any] = {}
    concurrency: int = Field(default=8, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    attempts: int = Field(default=5, ge=1)
    timeout_s: float = Field(default=120.0, gt=0)
    backoff_s: float = Field(default=1.0, ge=0)
    longest_wait_s: float = Field(default=60.0, ge=0)
    spend: SpendTable | None = None

    @field_validator("url")
    @classmethod
    def _plain_http(cls, url: str) -> str:
        if not url.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return url


class Qwen3VLTable(_AskedTable):
    """The fields are those of `Qwen3VL`. revision: a commit, needed for weights on the Hub."""

    kind: Literal["qwen3vl"]
    weights: str
    revision: str | None = Field(default=None, pattern=r"^[0-9a-f]{40}$")
    decoding: Literal["generate", "digits"] = "generate"
    max_new_tokens: int = Field(default=16, ge=1)
    dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    batch: int = Field(default=16, ge=1)
    decoders: int = Field(default=8, ge=1)
    device: str | None = None


class PythonTable(_Table):
    """A model of yours: `module:factory`, called with the options."""

    kind: Literal["python"]
    model: str = Field(pattern=r"^[\w.]+:\w+$")
    options: dict[str, Any] = {}


Table = ClipLengthTable | StoredTable | SmallTable | OpenAITable | Qwen3VLTable | PythonTable


class _File(RootModel[dict[str, Annotated[Table, Field(discriminator="kind")]]]):
    pass


def read_tables(home: Path) -> dict[str, Table]:
    """By name; none if there is no file.

    Raises:
        InputError: a field or value is wrong.
    """
    file = home / FILE
    return read_toml(file, _File).root if file.exists() else {}
