"""Which frames of a video a model sees, and what comes of videos that are not what they say."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from sbench_dag.rewards.video import FrameRule, VideoError, decode
from tests.rewards.videos import HEIGHT, WIDTH, cut, patch, seen, write_video

EVENLY = [0, 7, 14, 21, 27, 34, 41, 48]


@pytest.mark.parametrize(
    ("name", "codec", "movflags"),
    [
        ("plain.mp4", "libx264", ""),
        ("fast.mp4", "libx264", "faststart"),
        ("fragmented.mp4", "libx264", "frag_keyframe+empty_moov"),
        ("video.mkv", "libx264", ""),
        ("video.avi", "mpeg4", ""),
    ],
)
def test_sampled_frames_reach_from_the_first_to_the_last_in_any_container(
    tmp_path: Path, name: str, codec: str, movflags: str
):
    clip = decode(write_video(tmp_path / name, codec=codec, movflags=movflags))
    assert clip.indices.tolist() == EVENLY
    assert seen(clip.frames) == EVENLY
    assert clip.frames.shape == (8, HEIGHT, WIDTH, 3)
    assert clip.frames.dtype == np.uint8
    assert clip.times_s.tolist() == pytest.approx([index / 10 for index in EVENLY])
    assert (clip.source_frames, clip.source_fps, clip.duration_s) == (49, pytest.approx(10), pytest.approx(4.9))


@pytest.mark.parametrize(
    ("frames", "duration_s", "rule", "indices"),
    [
        (49, 4.9, FrameRule(), EVENLY),
        (24, 4.8, FrameRule(fps=1), [0, 8, 15, 23]),
        (30, 3.0, FrameRule(), [0, 6, 12, 17, 23, 29]),
        (10, 1.0, FrameRule(), [0, 3, 6, 9]),
        (3, 0.3, FrameRule(), [0, 1, 2]),
        (1, 0.1, FrameRule(), [0]),
        (600, 60.0, FrameRule(at_most=3), [0, 300, 599]),
        (600, 60.0, FrameRule(at_least=1, at_most=1), [599]),
    ],
)
def test_the_rule_always_includes_the_last_frame(frames: int, duration_s: float, rule: FrameRule, indices: list[int]):
    assert rule.indices(frames, duration_s).tolist() == indices


def test_a_video_of_one_frame_is_that_frame(tmp_path: Path):
    clip = decode(write_video(tmp_path / "one.mp4", frames=1))
    assert (clip.indices.tolist(), clip.times_s.tolist(), clip.source_frames) == ([0], [0.0], 1)
    assert clip.duration_s == pytest.approx(0.1)


def test_frames_are_counted_where_the_header_lies(tmp_path: Path):
    video = write_video(tmp_path / "lie.avi", codec="mpeg4")
    patch(video, b"strh", 36, struct.pack("<I", 5000))  # the stream's length in frames
    clip = decode(video)
    assert (clip.source_frames, seen(clip.frames)) == (49, EVENLY)


def test_frames_that_an_edit_list_hides_do_not_count(tmp_path: Path):
    """The header counts 49 frames, but a player shows those from 2.0 s on."""
    video = write_video(tmp_path / "edited.mp4")
    at_20 = struct.unpack(">I", video.read_bytes().partition(b"elst")[2][12:16])[0] + 20 * 1024
    clip = decode(patch(video, b"elst", 12, struct.pack(">I", at_20)))
    assert clip.source_frames < 49
    assert clip.indices[-1] == clip.source_frames - 1
    assert seen(clip.frames[-1:]) == [48]
    assert clip.times_s[-1] == pytest.approx((clip.source_frames - 1) / 10)


def test_times_are_the_frames_own_where_their_rate_varies(tmp_path: Path):
    times = [0, 1, 2, 3, 4, 10, 20, 30, 40, 49]
    clip = decode(write_video(tmp_path / "vary.mkv", frames=10, times=times))
    assert clip.times_s.tolist() == pytest.approx([times[index] / 10 for index in clip.indices])
    assert clip.source_fps == pytest.approx(9 / 4.9)


def test_what_is_no_whole_video_is_an_error_that_names_it(tmp_path: Path):
    (text := tmp_path / "text.mp4").write_text("hello")
    (empty := tmp_path / "empty.mp4").write_bytes(b"")
    sound = tmp_path / "sound.mp4"
    sound.mkdir()
    broken_off = cut(write_video(tmp_path / "broken-off.mp4", movflags="faststart"))
    no_index = cut(write_video(tmp_path / "no-index.mp4"), by=1500)
    fragment = cut(write_video(tmp_path / "fragment.mp4", movflags="frag_keyframe+empty_moov"))
    for file in (text, empty, sound, broken_off, no_index, fragment):
        with pytest.raises(VideoError, match=rf"{file}: can't be decoded"):
            decode(file)
    with pytest.raises(VideoError, match=r"nowhere\.mp4: no such file"):
        decode(tmp_path / "nowhere.mp4")


def test_a_video_without_frames_is_an_error(tmp_path: Path):
    """Header and no packets."""
    video = write_video(tmp_path / "none.mp4", frames=1, movflags="frag_keyframe+empty_moov")
    content = video.read_bytes()
    video.write_bytes(content[: content.index(b"moof") - 4])
    with pytest.raises(VideoError, match=r"none\.mp4: no frames"):
        decode(video)


def test_a_file_without_a_video_stream_is_an_error(tmp_path: Path):
    import av

    with av.open(str(tmp_path / "sound.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
    with pytest.raises(VideoError, match=r"sound\.wav: no video in it"):
        decode(tmp_path / "sound.wav")


def test_a_long_video_needs_no_more_memory_than_a_short_one(tmp_path: Path):
    video = write_video(tmp_path / "long.mp4", frames=1000)
    tracemalloc.start()
    clip = decode(video)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert clip.source_frames == 1000
    assert peak < 4 * clip.frames.nbytes
