"""What can become of a work item. An item whose robot failed is a result; one whose harness failed is not."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    NOT_APPLICABLE = "not_applicable"
    INVALID = "invalid"
    NOT_RUN = "not_run"

    @property
    def is_result(self) -> bool:
        """Whether the gate came to a verdict about the item."""
        return self in (Outcome.SUCCESS, Outcome.FAILURE, Outcome.NOT_APPLICABLE)


class Reason(StrEnum):
    """Why an outcome is not `success`. Closed: a report can list all of them."""

    # Stage B, the answer's fault
    ROOM_UNKNOWN = "room_unknown"
    SURFACE_NOT_IN_ROOM = "surface_not_in_room"
    SURFACE_UNKNOWN = "surface_unknown"
    FLOOR_WITHOUT_ROOM = "floor_without_room"
    # Stage B, the world's
    NO_FREE_POSE = "no_free_pose"
    TOO_FAR = "too_far"
    # Stage C
    NOTHING_PERCEIVED = "nothing_perceived"
    NO_GRASP = "no_grasp"
    NOT_LIFTED = "not_lifted"
    WRONG_OBJECT_LIFTED = "wrong_object_lifted"
    NOT_ALL_LIFTED = "not_all_lifted"
    # not applicable
    NOT_REACHED = "not_reached"
    REACHED_ONLY = "reached_only"
    NO_ROLLOUT = "no_rollout"
    # not run or invalid: the harness, its inputs, the simulator
    BAD_INPUT = "bad_input"
    NO_ANSWER = "no_answer"
    G0_FAILED = "g0_failed"
    GT_NOT_RESTORED = "gt_not_restored"
    GT_NOT_SUPPORTED = "gt_not_supported"
    UPSTREAM_INVALID = "upstream_invalid"
    UPSTREAM_MISSING = "upstream_missing"
    PHYSICS_WARNING = "physics_warning"
    TRUE_AT_RESET = "true_at_reset"
    NO_SCORE = "no_score"
    INPUT_CHANGED = "input_changed"
    WORKER_CRASHED = "worker_crashed"
    WORKER_LOST = "worker_lost"
    TIMED_OUT = "timed_out"
    HARNESS_ERROR = "harness_error"
