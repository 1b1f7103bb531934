"""Names -> reward models: those that are built in, and those of reward_models.toml, which go first."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from sbench_dag.errors import HIDDEN, InputError, SetupError
from sbench_dag.rewards import small
from sbench_dag.rewards.models.base import RewardModel
from sbench_dag.rewards.models.clip_length import ClipLength
from sbench_dag.rewards.models.constant import Constant
from sbench_dag.rewards.models.http import Limits
from sbench_dag.rewards.models.openai import OpenAIServer
from sbench_dag.rewards.models.qwen3vl import Qwen3VL
from sbench_dag.rewards.models.settings import (
    FILE,
    ClipLengthTable,
    OpenAITable,
    PythonTable,
    Qwen3VLTable,
    SmallTable,
    StoredTable,
    Table,
    read_tables,
)
from sbench_dag.rewards.models.spend import Prices
from sbench_dag.rewards.models.stored import StoredScores
from sbench_dag.rewards.models.weights import Weights
from sbench_dag.rewards.prompt import DEFAULT_PROMPT, Prompt, read_prompt
from sbench_dag.rewards.score import HIGHEST, LOWEST
from sbench_dag.rewards.small.model import SmallModel
from sbench_dag.rewards.video import FrameRule

_CONSTANTS = {f"constant-{value}": value for value in range(LOWEST, HIGHEST + 1)}
# both of the same 1,555 videos of houses that no embedded benchmark of seed 0 has: docs/reward-training.md
_TRAINED: dict[str, Callable[[], RewardModel]] = {
    "clip-length": lambda: ClipLength((2.1, 2.633, 24.77, float("inf"))),
    "small": lambda: SmallModel(Path(small.__file__).parent / "built_in"),
}
_ON_THE_HUB = {
    "roboreward-4b": "teetone/RoboReward-4B",
    "roboreward-8b": "teetone/RoboReward-8B",
    "qwen3-vl-4b": "Qwen/Qwen3-VL-4B-Instruct",
    "qwen3-vl-8b": "Qwen/Qwen3-VL-8B-Instruct",
}


def model_names(home: Path) -> list[str]:
    """All that `reward_model` knows without more being said."""
    return sorted({*_CONSTANTS, *_TRAINED, *_ON_THE_HUB, *read_tables(home)})


def reward_model(name: str, home: Path, look_up: bool = False) -> RewardModel:
    """No weights are loaded yet. name: of a built-in model on the Hub with @COMMIT.

    look_up: without a commit, the Hub is asked for the newest.

    Raises:
        SetupError: there is no model of this name, or the Hub does not say.
        InputError: reward_models.toml is wrong.
    """
    tables = read_tables(home)
    if name in tables:
        return _from_table(name, tables[name], home / FILE)
    if name in _CONSTANTS:
        return Constant(_CONSTANTS[name])
    if name in _TRAINED:
        return _TRAINED[name]()
    plain, _, commit = name.partition("@")
    if plain in _ON_THE_HUB:
        weights = Weights(_ON_THE_HUB[plain], commit or None)
        return Qwen3VL(plain, weights.looked_up() if look_up else weights)
    raise SetupError(
        f"{name}: no such reward model; there are {', '.join(model_names(home))}; {home / FILE} may add more"
    )


def _from_table(name: str, table: Table, file: Path) -> RewardModel:
    return _MAKERS[type(table)](name, table, file)


def _clip_length(name: str, table: ClipLengthTable, file: Path) -> RewardModel:
    return ClipLength(tuple(table.thresholds_s), name=name)


def _stored(name: str, table: StoredTable, file: Path) -> RewardModel:
    return StoredScores(name, file.parent / table.file, table.model)


def _small(name: str, table: SmallTable, file: Path) -> RewardModel:
    return SmallModel(file.parent / Path(table.weights).expanduser(), table.device, name=name)


def _openai(name: str, table: OpenAITable, file: Path) -> RewardModel:
    if "@" in urlsplit(table.url).netloc:
        problem = "must hold no user and no password: name an environment variable in api_key_env"
        raise InputError(file, f"{name}.url", HIDDEN, problem)
    return OpenAIServer(
        name=name,
        url=table.url,
        model=table.model,
        key_env=table.api_key_env,
        media=table.media,
        frames=FrameRule(**table.frames.model_dump()),
        prompt=_prompt(table.prompt, file),
        max_tokens=table.max_tokens,
        temperature=table.temperature,
        body=table.body,
        limits=Limits(
            concurrency=table.concurrency,
            requests_per_minute=table.requests_per_minute,
            attempts=table.attempts,
            timeout_s=table.timeout_s,
            backoff_s=table.backoff_s,
            longest_wait_s=table.longest_wait_s,
        ),
        prices=Prices(**table.spend.model_dump()) if table.spend else None,
    )


def _qwen3vl(name: str, table: Qwen3VLTable, file: Path) -> RewardModel:
    folder = file.parent / Path(table.weights).expanduser()
    if not folder.is_dir() and table.revision is None:
        problem = f"{table.weights} is no folder, and on the Hub it has to be a commit of 40 hex digits"
        raise InputError(file, f"{name}.revision", None, problem)
    return Qwen3VL(
        name=name,
        weights=Weights(str(folder)) if folder.is_dir() else Weights(table.weights, table.revision),
        decoding=table.decoding,
        max_new_tokens=table.max_new_tokens,
        frames=FrameRule(**table.frames.model_dump()),
        prompt=_prompt(table.prompt, file),
        dtype=table.dtype,
        batch=table.batch,
        decoders=table.decoders,
        device=table.device,
    )


def _prompt(name: str | None, file: Path) -> Prompt:
    return read_prompt(file.parent / name) if name else DEFAULT_PROMPT


def _python(name: str, table: PythonTable, file: Path) -> RewardModel:
    module, _, factory = table.model.partition(":")
    try:
        return getattr(importlib.import_module(module), factory)(**table.options)
    except (ImportError, AttributeError, TypeError) as error:
        raise InputError(file, f"{name}.model", table.model, str(error)) from None


_MAKERS: dict[type[Table], Callable[..., RewardModel]] = {
    ClipLengthTable: _clip_length,
    StoredTable: _stored,
    SmallTable: _small,
    OpenAITable: _openai,
    Qwen3VLTable: _qwen3vl,
    PythonTable: _python,
}
