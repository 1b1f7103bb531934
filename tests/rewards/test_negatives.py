"""Cut videos and other instructions are labelled by the simulator, and never above what they are taken from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest

from sbench_dag.context import Context
from sbench_dag.dataset.eval_spec import Steps
from sbench_dag.manipulation.trace import RETRACTING, Touch, Trace, read_trace
from sbench_dag.rewards.clips import choose_cuts, steps_shown
from sbench_dag.rewards.counterfactuals import House, Thing, counterfactuals, look_around
from sbench_dag.rewards.goal import Goal, Place, goal_of, goal_over_time, was_let_go
from sbench_dag.rewards.rubric import label, label_over_time
from sbench_dag.study import JudgeSettings, Study
from tests.traces import random_trace, trace_of

SETTINGS = JudgeSettings()
TABLE, SHELF, FLOOR = Place("kitchen", "table"), Place("kitchen", "shelf"), Place(None, "floor")
HOUSE = House(
    (Thing("bowl", ("bowl",), TABLE), Thing("twin", ("bowl",), SHELF), Thing("mug", ("mug", "cup"), TABLE)),
    (SHELF, TABLE, Place("hall", "desk")),
)
BOWL = Goal("bowl", ("bowl", "twin"))
HELD = {"bowl": [0.0] * 30 + [0.02] * 10}
TOUCH = {"bowl": [int(Touch.STATIC)] * 20 + [3] * 10 + [int(Touch.ROBOT)] * 10, "twin": [2] * 40, "mug": [2] * 40}


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    trace: Trace
    goal: Goal
    house: House


@pytest.fixture(params=["random", "real"])
def cases(request: pytest.FixtureRequest) -> list[Case]:
    if request.param == "random":
        draw = rng()
        return [Case(random_trace(draw, int(draw.integers(1, 60))), BOWL, HOUSE) for _ in range(300)]
    return list(real_cases(request.getfixturevalue("picked")))


def real_cases(study: Study) -> Iterator[Case]:
    context = Context(study)
    for plan in study.manifest.plans:
        row = context.upstream("stage_c", plan.key).row
        goal = goal_of(plan, row["instances"])
        trace = read_trace(study.folder / row["trace"]["file"])
        yield Case(trace, goal, look_around(context.world(plan.episode)))


def test_a_longer_clip_never_has_a_lower_label(cases: list[Case]):
    for case in cases:
        others = [c.goal for c in counterfactuals(case.trace, case.goal, case.house, SETTINGS, rng())]
        for goal in (case.goal, *others):
            labels = goal_over_time(case.trace, goal, SETTINGS)
            assert (np.diff(labels) >= 0).all()
            assert len(labels) == len(case.trace.time_s) + 1


def test_a_stricter_instruction_never_has_a_higher_label(cases: list[Case]):
    kinds = set()
    for case in cases:
        plain = goal_over_time(case.trace, case.goal, SETTINGS)
        for other in counterfactuals(case.trace, case.goal, case.house, SETTINGS, rng()):
            if other.kind != "another object":
                kinds.add(other.kind)
                strict = goal_over_time(case.trace, other.goal, SETTINGS)
                assert (strict <= plain).all(), other
                if other.goal.put_on is None and len(case.goal.instances) > other.goal.needed:
                    assert (goal_over_time(case.trace, other.goal.one_more(), SETTINGS) <= strict).all()
    assert kinds == {"same place", "another place", "one more", "put it on"}


def test_the_whole_rollout_has_the_label_of_the_gate(cases: list[Case]):
    for case in cases:
        whole = label(case.trace, case.goal.instances, case.goal.needed, SETTINGS)
        assert goal_over_time(case.trace, case.goal, SETTINGS)[-1] == whole


def test_cuts_climb_the_ladder_and_say_what_their_last_frame_shows(cases: list[Case]):
    found = set()
    for case, seed in product(cases, range(5)):
        cuts = choose_cuts(case.trace, case.goal, SETTINGS, np.random.default_rng(seed))
        shown, labels = steps_shown(case.trace), goal_over_time(case.trace, case.goal, SETTINGS)
        assert [cut.name for cut in cuts] == ["early", "middle", "late"][: len(cuts)]
        assert [cut.frames for cut in cuts] == sorted({cut.frames for cut in cuts})
        for cut in cuts:
            found.add(cut.label)
            steps = shown[cut.frames - 1]
            assert cut.label == labels[steps] < 5
            assert cut.seconds == pytest.approx(cut.frames / 15, abs=1e-3) and cut.seconds >= 0.5
            assert steps == 0 or case.trace.attempt[steps - 1] != RETRACTING
    assert found == {1, 2, 3, 4}


def test_a_cut_is_never_made_where_a_hold_is_long_enough_but_not_over():
    trace = trace_of({"bowl": [0.02] * 60}, {**{n: [2] * 60 for n in ("twin", "mug")}, "bowl": [int(Touch.ROBOT)] * 60})
    for seed in range(20):
        cuts = choose_cuts(trace, BOWL, SETTINGS, np.random.default_rng(seed))
        assert cuts == [], "half a second is the shortest clip, and the hold takes no longer"
    later = trace_of(HELD | {"bowl": [0.0] * 30 + [0.02] * 30}, {n: [2] * 30 + [1] * 30 for n in ("bowl", "twin")})
    ends = {c.frames for s in range(50) for c in choose_cuts(later, BOWL, SETTINGS, np.random.default_rng(s))}
    assert max(ends) <= 31 + 7


def test_frames_are_taken_when_the_writer_takes_them(picked: Study):
    """The video has as many frames as the trace says."""
    import av

    context = Context(picked)
    for plan in picked.manifest.plans:
        row = context.upstream("stage_c", plan.key).row
        with av.open(str(picked.folder / row["video"]["file"])) as container:
            frames = sum(1 for _ in container.decode(video=0))
        assert frames == len(steps_shown(read_trace(picked.folder / row["trace"]["file"])))


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (BOWL, 5),
        (Goal("mug", ("mug",)), 1),
        (replace(BOWL, source=TABLE, there=("bowl",)), 5),
        (replace(BOWL, source=SHELF, there=("twin",)), 3),
        (replace(BOWL, source=FLOOR), 3),
        (BOWL.one_more(), 3),
        (replace(BOWL, put_on=SHELF), 3),
    ],
)
def test_each_requirement_that_is_missed_leaves_three(goal: Goal, expected: int):
    assert goal_over_time(trace_of(HELD, TOUCH), goal, SETTINGS)[-1] == expected


def test_of_several_right_answers_a_single_step_needs_one_and_several_steps_all(picked: Study):
    plan = replace(picked.manifest.plans[0], gt_bodies=("bar_a", "bar_b"))
    assert goal_of(plan, ("bar_a", "bar_b")).needed == 1
    assert goal_of(replace(plan, steps=Steps.MULTI), ("bar_a", "bar_b")).needed == 2


def test_touching_the_wrong_one_is_worth_no_more_than_touching_the_right_one():
    trace = trace_of({"bowl": [0.0] * 40}, TOUCH | {"bowl": [2] * 20 + [3] * 20})
    assert goal_over_time(trace, replace(BOWL, source=SHELF, there=("twin",)), SETTINGS)[-1] == 2


def test_where_a_thing_that_was_let_go_lies_nobody_asks():
    dropped = trace_of({"bowl": [0.02] * 10 + [0.0] * 10}, {"bowl": [1] * 10 + [2] * 10})
    assert was_let_go(dropped, BOWL, SETTINGS)
    assert "put it on" not in {c.kind for c in counterfactuals(dropped, BOWL, HOUSE, SETTINGS, rng())}
    with pytest.raises(ValueError, match="let go"):
        goal_over_time(dropped, replace(BOWL, put_on=SHELF), SETTINGS)


def test_the_harness_setting_it_down_is_not_the_robot_letting_go():
    trace = trace_of({"bowl": [0.02] * 10 + [0.0] * 10}, {"bowl": [1] * 10 + [2] * 10}, [0] * 10 + [RETRACTING] * 10)
    assert not was_let_go(trace, BOWL, SETTINGS)


def test_instructions_read_like_instructions():
    found = {c.kind: c.goal.text for c in counterfactuals(trace_of(HELD, TOUCH), BOWL, HOUSE, SETTINGS, rng())}
    assert found == {
        "another object": "Pick up the mug",
        "same place": "Pick up the bowl from the table in the kitchen",
        "another place": "Pick up the bowl from the shelf in the kitchen",
        "one more": "Pick up the bowl and another bowl",
        "put it on": "Pick up the bowl and put it on the desk in the hall",
    }
    assert replace(BOWL, source=FLOOR).text == "Pick up the bowl from the floor"


def test_a_synonym_of_the_object_is_no_other_object():
    mug = Goal("cup", ("mug",))
    found = [c.goal.category for c in counterfactuals(trace_of(HELD), mug, HOUSE, SETTINGS, rng())]
    assert "mug" not in found


def test_the_house_knows_what_stands_where(picked: Study):
    house = look_around(Context(picked).world(picked.manifest.episodes[0]))
    assert {thing.uid: str(thing.place) for thing in house.things} == {
        "cube_a": "the table in the room 0",
        "cube_b": "the floor",
        "bar_a": "the floor",
        "bar_b": "the floor",
    }
    assert house.instances("cube") == ("cube_a", "cube_b")


def test_one_of_several_objects_still_up_makes_no_clear_picture():
    """Of two that are wanted, the second is up for long enough, but its attempt goes on."""
    both = replace(BOWL, needed=2)
    up = [0.02] * 10
    trace = trace_of({"bowl": up + [0.0] * 20, "twin": [0.0] * 12 + [0.02] * 18}, None, [0] * 10 + [1] * 20)
    assert label_over_time(trace, both.instances, 2, SETTINGS)[25] == 4
    for seed in range(20):
        for cut in choose_cuts(trace, both, SETTINGS, np.random.default_rng(seed)):
            assert steps_shown(trace)[cut.frames - 1] < 12 + 8
