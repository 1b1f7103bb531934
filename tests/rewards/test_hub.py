"""A benchmark from the Hub is that of one commit, or it is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sbench_dag.errors import SetupError
from sbench_dag.rewards.bench.source import open_bench
from tests.rewards.bench_data import IDS, write_bench
from tests.rewards.hub import COMMIT, hub

_READ = """
import sys
from sbench_dag.rewards.bench.source import open_bench
from sbench_dag.errors import SetupError
try:
    data = open_bench(sys.argv[1], videos=sys.argv[2] == "videos")
    print(data.name, len(data.examples), len(data.missing))
except SetupError as error:
    print("refused:", error)
"""


def read(source: str, address: str, cache: Path, *options: str) -> str:
    """In a process of its own, since huggingface_hub reads its settings once."""
    hidden = ("HF_HUB_OFFLINE", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy")
    settings = {key: value for key, value in os.environ.items() if key not in hidden}
    settings |= {"HF_ENDPOINT": address, "HF_HOME": str(cache), "HF_HUB_DISABLE_PROGRESS_BARS": "1", "no_proxy": "*"}
    done = subprocess.run(
        [sys.executable, "-c", _READ, source, *options], env=settings, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_metadata_alone_and_then_videos_of_the_commit_that_was_named(tmp_path: Path):
    write_bench(tmp_path / "remote")
    (tmp_path / "remote" / "train").mkdir()
    (tmp_path / "remote" / "train" / "metadata.jsonl").write_text("not wanted")
    source = f"teetone/RoboReward@{COMMIT}"
    with hub(tmp_path / "remote") as (address, fetched):
        assert read(source, address, tmp_path / "cache", "labels") == f"{source}, test {len(IDS)} 0\n"
        assert fetched == ["test/metadata.jsonl"]
        assert read(source, address, tmp_path / "cache", "videos") == f"{source}, test {len(IDS)} 0\n"
        assert sorted(fetched[1:]) == sorted(f"test/{name}.mp4" for name in IDS), "and nothing of train"
    nobody = "http://127.0.0.1:9"
    assert read(source, nobody, tmp_path / "cache", "videos") == f"{source}, test {len(IDS)} 0\n", "it is here now"


def test_what_the_hub_has_not_is_said(tmp_path: Path):
    write_bench(tmp_path / "remote", videos=False)
    with hub(tmp_path / "remote") as (address, _):
        out = read(f"teetone/RoboReward@{'f' * 40}", address, tmp_path / "cache", "labels")
    assert out.startswith(f"refused: teetone/RoboReward@{'f' * 40} can't be had from the Hub: ")


@pytest.mark.parametrize(
    ("source", "why"), [("teetone/RoboReward", "what it holds changes"), ("a/b@main", "'main' may")]
)
def test_a_revision_that_moves_is_refused_and_the_text_says_how_to_name_one(source: str, why: str):
    with pytest.raises(SetupError, match=why) as caught:
        open_bench(source)
    assert "@<40 hex digits>" in str(caught.value) and "git ls-remote https://huggingface.co/datasets/" in str(
        caught.value
    )
