"""Outcomes, reasons and labels in plain words, for those who have not read the code."""

from __future__ import annotations

from collections.abc import Mapping

from sbench_dag.outcomes import Reason

REASONS: Mapping[Reason, str] = {
    Reason.ROOM_UNKNOWN: "The answer names a room that this house does not have.",
    Reason.SURFACE_NOT_IN_ROOM: "The answer names furniture that stands in another room of this house.",
    Reason.SURFACE_UNKNOWN: "The answer names furniture that this house does not have.",
    Reason.FLOOR_WITHOUT_ROOM: "The answer says “on the floor” of no room, and no such object lies on any floor.",
    Reason.NO_FREE_POSE: "There is no free floor from which the robot could reach the answered place.",
    Reason.TOO_FAR: "The robot went where the answer sent it, and none of the right objects is within reach there.",
    Reason.NOTHING_PERCEIVED: "The robot saw no object of that kind at the answered place.",
    Reason.NO_GRASP: "The policy found no way to grasp the object and did not move.",
    Reason.NOT_LIFTED: "The robot tried to pick, and the right object was never off its place by the robot alone.",
    Reason.WRONG_OBJECT_LIFTED: "The robot lifted an object, but not one that was asked for.",
    Reason.NOT_ALL_LIFTED: "The robot lifted some of the objects that were asked for, but not all.",
    Reason.NOT_REACHED: "The right object was not within reach, so nothing was picked.",
    Reason.REACHED_ONLY: "The question asks for reaching only, so nothing was picked.",
    Reason.NO_ROLLOUT: "There was no pick to score.",
    Reason.BAD_INPUT: "A file of the episode or of its answers is wrong.",
    Reason.NO_ANSWER: "The source gave no answer that can be used.",
    Reason.G0_FAILED: "The rebuilt house is not the one in which the episode ended.",
    Reason.GT_NOT_RESTORED: "The right object is missing from the rebuilt house.",
    Reason.GT_NOT_SUPPORTED: "In the rebuilt house the right object is not where the truth says.",
    Reason.UPSTREAM_INVALID: "An earlier gate could not give a result.",
    Reason.UPSTREAM_MISSING: "An earlier gate has not run.",
    Reason.PHYSICS_WARNING: "The simulator warned that its numbers went wrong.",
    Reason.TRUE_AT_RESET: "The object was in the air before the robot did anything.",
    Reason.NO_SCORE: "A reward model gave no score.",
    Reason.INPUT_CHANGED: "The input has changed since this was asked for.",
    Reason.WORKER_CRASHED: "The process that worked on it crashed.",
    Reason.WORKER_LOST: "The process that worked on it was lost.",
    Reason.TIMED_OUT: "It took longer than it may.",
    Reason.HARNESS_ERROR: "The harness made an error.",
}

LABELS: Mapping[int, str] = {
    1: "the robot touched no object of that kind",
    2: "it touched one, but raised none",
    3: "it raised one while something else touched it, or lifted some of several",
    4: "it lifted what was asked for, but did not hold it to the end",
    5: "it held what was asked for to the end",
}
"""What the simulator's label of a rollout means."""
