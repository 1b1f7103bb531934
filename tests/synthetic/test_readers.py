"""Five memories of one small story, and what noise does to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sbench_dag.dataset.answers import read_run
from sbench_dag.dataset.eval_spec import FLOOR, EvalSpec, Kind, Query, Scoring, Steps, TrueLocation
from sbench_dag.scenes.houses.rng import stable_rng
from sbench_dag.synthetic.answers import usual_places, write_answers
from sbench_dag.synthetic.episode import MadeEpisode
from sbench_dag.synthetic.memory import Belief, Entry, Recording, strategies
from sbench_dag.synthetic.profiles import EpisodeOrder
from sbench_dag.synthetic.readers import KnownHouse, Noise, answer, noise_levels
from sbench_dag.synthetic.wording import Request, Which, phrase, understand

HOUSE = KnownHouse({"kitchen": ("countertop", "stool"), "bedroom": ("bed", "desk")})
COUNTER, STOOL, BED, DESK, ON_FLOOR = (
    ("kitchen", "countertop"),
    ("kitchen", "stool"),
    ("bedroom", "bed"),
    ("bedroom", "desk"),
    (None, FLOOR),
)
SILENT = Noise(miss=0, twin=0, surface=0, room=0, invent=0, guess=0)
PLURALS = {"mug": "mugs", "potato": "potatoes", "box": "boxes"}


@pytest.fixture
def recording() -> Recording:
    """Ten frames: mug_0 goes from the counter to the bed in frames 2 to 4, and then the boxes move one by one."""
    category = {"mug_0": "mug", "mug_1": "mug", "potato_0": "potato", "box_0": "box", "box_1": "box", "box_2": "box"}
    boxes = tuple(Entry(f"box_{i}", 5 + i, 6 + i, STOOL, DESK) for i in range(3))
    sightings: list[dict] = [{} for _ in range(10)]
    sightings[0] = {"mug_0": COUNTER, "mug_1": STOOL}
    sightings[1] = {"mug_0": COUNTER, "potato_0": COUNTER}
    sightings[4] = {"mug_0": BED}
    sightings[7] = {"mug_1": STOOL}
    return Recording(category, (Entry("mug_0", 2, 4, COUNTER, BED), *boxes), tuple(sightings))


def ask(recording: Recording, strategy: str, text: str, noise: Noise = SILENT, seed: int = 0) -> list:
    said = answer(understand(text, PLURALS), strategies()[strategy](recording), HOUSE, noise, stable_rng("test", seed))
    return sorted(((s.room, s.surface) for s in said), key=str)


def test_the_event_log_knows_what_was_moved_and_nothing_else(recording: Recording):
    assert ask(recording, "event-log", "Pick up the mug I moved earlier") == [BED]
    assert ask(recording, "event-log", "Pick up the mug I did not move") == []
    assert ask(recording, "event-log", "Pick up the potato") == []


def test_recent_events_are_three_and_what_was_in_view_as_they_ended(recording: Recording):
    assert ask(recording, "recent-events", "Pick up all the boxes") == [DESK] * 3
    assert ask(recording, "recent-events", "Pick up the mug I moved earlier") == [STOOL]
    assert ask(recording, "recent-events", "Pick up the potato") == []


def test_last_seen_and_first_seen_differ_in_what_was_moved(recording: Recording):
    assert set(ask(recording, "last-seen", "Pick up all the mugs")) == {BED, STOOL}
    assert set(ask(recording, "first-seen", "Pick up all the mugs")) == {COUNTER, STOOL}


def test_frames_uniform_sees_eight_frames_and_infers_that_a_thing_was_moved(recording: Recording):
    # of ten frames 2 and 7 are left out
    assert ask(recording, "frames-uniform", "Pick up the mug I moved earlier") == [BED]
    assert ask(recording, "frames-uniform", "Pick up the mug I did not move") == [STOOL]
    blinked = replace(recording, sightings=tuple({} if i == 1 else s for i, s in enumerate(recording.sightings)))
    assert ask(blinked, "frames-uniform", "Pick up the potato") == []


def test_the_five_strategies_remember_five_different_things(recording: Recording):
    memories = [tuple(sorted(map(str, remember(recording)))) for remember in strategies().values()]
    assert len(set(memories)) == 5


def test_a_reader_that_cannot_tell_twins_apart_guesses_one_of_them(recording: Recording):
    said = {tuple(ask(recording, "last-seen", "Pick up the mug I moved earlier", seed=seed)) for seed in range(20)}
    assert said == {(BED,), (STOOL,)}


def test_noise_is_a_function_of_its_seed(recording: Recording):
    noise = noise_levels()["high-noise"]
    texts = ("Pick up all the mugs", "Pick up the potato", "Pick up all the boxes")
    first = [ask(recording, "last-seen", text, noise, seed) for text in texts for seed in range(30)]
    again = [ask(recording, "last-seen", text, noise, seed) for text in texts for seed in range(30)]
    assert first == again
    assert len({tuple(said) for said in first[:30]}) > 1


def test_a_reader_that_misses_everything_abstains(recording: Recording):
    assert ask(recording, "last-seen", "Pick up all the mugs", replace(SILENT, miss=1.0)) == []


@pytest.mark.parametrize(
    ("noise", "possible"),
    [
        (replace(SILENT, surface=1.0), {STOOL, ON_FLOOR}),
        (replace(SILENT, room=1.0), {("bedroom", "countertop"), BED, DESK}),
        (replace(SILENT, invent=1.0), set(HOUSE.invented)),
    ],
)
def test_each_kind_of_noise_mistakes_a_place_in_its_own_way(recording: Recording, noise: Noise, possible: set):
    said = {tuple(ask(recording, "last-seen", "Pick up the potato", noise, seed)) for seed in range(60)}
    assert said == {(place,) for place in possible}


def test_twins_are_mixed_up_but_not_invented(recording: Recording):
    mixed = replace(SILENT, twin=1.0)
    assert set(ask(recording, "last-seen", "Pick up all the mugs", mixed)) <= {BED, STOOL}


@pytest.mark.parametrize(
    "request_",
    [
        Request("mug", Which.ANY, False),
        Request("mug", Which.MOVED, False),
        Request("potato", Which.UNMOVED, False),
        Request("potato", Which.ANY, True),
        Request("box", Which.MOVED, True),
    ],
)
def test_a_query_is_understood_as_it_was_meant(request_: Request):
    assert understand(phrase(request_, PLURALS[request_.category]), PLURALS) == request_


def test_foreign_words_are_refused():
    with pytest.raises(ValueError, match="not a query"):
        understand("Where is the mug?", PLURALS)


def _made(house: int, place: tuple[str, str]) -> MadeEpisode:
    truth = (TrueLocation("mug_0_0", "mug", *place),)
    query = Query("q00", "Pick up the mug", Kind.DISTRACTOR, Steps.SINGLE, Scoring.LIFTED, "mug", False, truth)
    name = f"val_{house:04d}__0"
    spec = EvalSpec(name, {0: "kitchen", 1: "bedroom"}, HOUSE.furniture, 0.65, 0.85, (query,))
    recording = Recording({"mug_0_0": "mug"}, (), ({},))
    return MadeEpisode(EpisodeOrder(name, house, 0, 1, 0), spec, recording, {"mug_0_0": place}, PLURALS)


def test_common_sense_leaves_its_own_house_out(tmp_path: Path):
    write_answers(tmp_path, [_made(0, BED), _made(1, COUNTER), _made(2, COUNTER)], "r")
    run = read_run(tmp_path / "answers" / "s3_blind" / "results.json", [])
    assert [(a.selections[0].room, a.selections[0].surface) for a in run.answers] == [COUNTER, BED, BED]


def test_common_sense_counts_a_house_once_and_abstains_on_what_it_never_saw():
    twice = [_made(0, BED), replace(_made(0, BED), order=EpisodeOrder("val_0000__1", 0, 1, 1, 0))]
    usual = usual_places([*twice, _made(1, COUNTER), _made(2, COUNTER)])
    assert usual == {"mug": COUNTER}


def test_beliefs_of_another_category_are_no_answer():
    beliefs = [Belief("can_0", "can", BED, None)]
    assert answer(Request("mug", Which.ANY, False), beliefs, HOUSE, SILENT, stable_rng("x")) == ()
