"""Where a benchmark comes from: a local folder, or a data set on the Hub at one revision."""

from __future__ import annotations

import re
from pathlib import Path

from sbench_dag.errors import SetupError
from sbench_dag.rewards.bench.data import BenchData
from sbench_dag.rewards.bench.helm_data import FINAL_TEST, read_final_test
from sbench_dag.rewards.bench.roboreward import METADATA, read_roboreward
from sbench_dag.work.fingerprint import file_sha256, fingerprint

_ON_THE_HUB = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+?)(?:@(?P<revision>.*))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def open_bench(source: str, split: str = "test", videos: bool = True) -> BenchData:
    """source: a folder, HELM's final_test.json, or OWNER/NAME@COMMIT on the Hub.

    videos: download them as well; a local folder has those that it has. Scores that are stored need none.

    Raises:
        SetupError: there is no such thing; the text says what was looked for.
        BadRowsError: rows that can't be used.
    """
    path = Path(source)
    on_the_hub = _ON_THE_HUB.fullmatch(source)
    if path.exists() or not on_the_hub:
        return _read(path, split, f"{source}, {split}")
    root = _download(on_the_hub["repo"], on_the_hub["revision"], split, videos)
    return _read(root, split, f"{source}, {split}", videos)


def content_of(source: str, split: str = "test") -> str:
    """A hash of what a benchmark asks and how it is labelled, without its videos. Of a commit on the Hub it is that.

    Raises:
        SetupError: there is no such thing.
    """
    path = Path(source)
    on_the_hub = _ON_THE_HUB.fullmatch(source)
    return fingerprint(source, split) if on_the_hub and not path.exists() else file_sha256(_labels(path, split))


def is_on_the_hub(source: str) -> bool:
    """Whether it names a commit there: OWNER/NAME@COMMIT."""
    found = _ON_THE_HUB.fullmatch(source)
    return found is not None and found["revision"] is not None


def _read(root: Path, split: str, name: str, videos: bool = True) -> BenchData:
    file = _labels(root, split)
    if file == root:
        return read_final_test(root, str(root))
    data = read_roboreward(file.parent, name) if file.name == METADATA else read_final_test(file, name)
    return data if videos else BenchData(data.name, data.examples)


def _labels(root: Path, split: str) -> Path:
    """The file that says what is asked and what is right."""
    if root.name == FINAL_TEST and root.is_file():
        return root
    looked = [root / split / METADATA, root / METADATA, root / FINAL_TEST, root / "collected" / FINAL_TEST]
    file = next((file for file in looked if file.is_file()), None)
    if file is None:
        tried = ", ".join(str(file.relative_to(root)) for file in looked)
        raise SetupError(f"{root}: no benchmark there; looked for {tried}")
    return file


def _download(repo: str, revision: str | None, split: str, videos: bool) -> Path:
    if not _COMMIT.fullmatch(revision or ""):
        found = f"{revision!r} may become something else" if revision else "what it holds changes"
        raise SetupError(
            f"{repo}: no such folder, and on the Hub {found}: name a commit, {repo}@<40 hex digits>. "
            f"`git ls-remote https://huggingface.co/datasets/{repo}` prints them, "
            "and so does the page's History"
        )
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    wanted = [f"{split}/**"] if videos else [f"{split}/{METADATA}"]
    try:
        return Path(snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=wanted))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise SetupError(f"{repo}@{revision} can't be had from the Hub: {error}") from None
