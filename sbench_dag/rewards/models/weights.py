"""Where a model's weights lie, and which ones they are."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sbench_dag.errors import SetupError
from sbench_dag.work.fingerprint import combine, file_sha256

_COMMIT = re.compile(r"[0-9a-f]{40}")
_NAME_ONE = (
    "Name a commit of 40 hex digits (https://huggingface.co/{}/commits/main), or a folder that holds the weights"
)
_NEEDED = ("*.json", "*.safetensors", "*.jinja", "*.txt", "*.model")


@dataclass(frozen=True)
class Weights:
    """source: a folder, or owner/name on the Hugging Face Hub. revision: a commit of the latter, 40 hex digits."""

    source: str
    revision: str | None = None

    @cached_property
    def identity(self) -> dict[str, str]:
        """Nothing is downloaded or looked up for it, but files in a folder are read.

        Raises:
            SetupError: no commit is named.
        """
        if self._local:
            return {"weights": self._local.name, "revision": f"sha256:{_hash(self._local)}"}
        return {"weights": self.source, "revision": self._commit}

    def looked_up(self) -> Weights:
        """The same with the commit that the Hub has now, if none is named.

        Raises:
            SetupError: the Hub does not say it.
        """
        if self._local or self.revision:
            return self
        from huggingface_hub import HfApi

        try:
            found = HfApi().model_info(self.source, timeout=30).sha
        except Exception as error:  # the Hub's client has many, and they share no class with those of its transport
            raise SetupError(f"{self.source}: {_first_line(error)}. {_NAME_ONE.format(self.source)}") from None
        return Weights(self.source, found)

    def folder(self) -> Path:
        """Where the files are; downloads them if need be.

        Raises:
            SetupError: they can't be downloaded.
        """
        if self._local:
            return self._local
        from huggingface_hub import snapshot_download

        try:
            return Path(snapshot_download(self.source, revision=self._commit, allow_patterns=list(_NEEDED)))
        except Exception as error:  # as above
            raise SetupError(f"{self.source} can't be downloaded: {_first_line(error)}") from None

    @property
    def _local(self) -> Path | None:
        folder = Path(self.source).expanduser()
        return folder.absolute() if folder.is_dir() else None

    @property
    def _commit(self) -> str:
        if not _COMMIT.fullmatch(self.revision or ""):
            raise SetupError(f"{self.source}: revision {self.revision} may change. {_NAME_ONE.format(self.source)}")
        return self.revision or ""


def _hash(folder: Path) -> str:
    """Of the needed files' names and contents."""
    files = sorted({file for pattern in _NEEDED for file in folder.glob(pattern)})
    if not files:
        raise SetupError(f"{folder}: no model in it: none of {', '.join(_NEEDED)}")
    with ThreadPoolExecutor(4) as pool:
        return combine([file.name for file in files] + list(pool.map(file_sha256, files)))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
