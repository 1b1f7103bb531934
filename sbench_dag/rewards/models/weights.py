"""Where a model's weights lie, and which ones they are."""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sbench_dag.errors import SetupError
from sbench_dag.work.fingerprint import combine

_COMMIT = re.compile(r"[0-9a-f]{40}")
_NEEDED = ("*.json", "*.safetensors", "*.jinja", "*.txt", "*.model")


@dataclass(frozen=True)
class Weights:
    """source: a folder, or owner/name on the Hugging Face Hub. revision: a commit of the latter (40 hex digits), or a
    branch or tag of it, which is looked up there."""

    source: str
    revision: str | None = None

    @cached_property
    def identity(self) -> dict[str, str]:
        """Nothing is downloaded for it, but files in a folder are read.

        Raises:
            SetupError: the Hub does not say which commit the revision is.
        """
        if self._local:
            return {"weights": self._local.name, "revision": f"sha256:{_hash(self._local)}"}
        return {"weights": self.source, "revision": self._commit}

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
        except Exception as error:  # the Hub's client has many, and they share no class with those of its transport
            raise SetupError(f"{self.source} can't be downloaded: {_first_line(error)}") from None

    @property
    def _local(self) -> Path | None:
        folder = Path(self.source).expanduser()
        return folder.absolute() if folder.is_dir() else None

    @cached_property
    def _commit(self) -> str:
        if self.revision and _COMMIT.fullmatch(self.revision):
            return self.revision
        from huggingface_hub import HfApi

        try:
            found = HfApi().model_info(self.source, revision=self.revision, timeout=30).sha
        except Exception as error:
            found, why = None, _first_line(error)
        else:
            why = "the Hub names none"
        if found is None:
            raise SetupError(
                f"{self.source}: which commit is {self.revision or 'the newest'}? {why}. Name one of 40 hex digits "
                f"(https://huggingface.co/{self.source}/commits/main), or a folder that holds the weights"
            )
        return found


def _hash(folder: Path) -> str:
    """Of the needed files' names and contents."""
    files = sorted({file for pattern in _NEEDED for file in folder.glob(pattern)})
    if not files:
        raise SetupError(f"{folder}: no model in it: none of {', '.join(_NEEDED)}")
    with ThreadPoolExecutor(4) as pool:
        return combine([file.name for file in files] + list(pool.map(_file_hash, files)))


def _file_hash(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
