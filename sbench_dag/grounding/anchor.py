"""What an answer's words stand for in this house."""

from __future__ import annotations

from dataclasses import dataclass

from sbench_dag.dataset.answers import Selection
from sbench_dag.dataset.eval_spec import FLOOR
from sbench_dag.outcomes import Reason
from sbench_dag.scenes.scene import Furniture, Room
from sbench_dag.scenes.world import World


class GroundingFailure(Exception):
    """The answer names nothing that exists, or nowhere to stand. A result about the answer, not an error."""

    def __init__(self, reason: Reason, message: str):
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Anchor:
    """A piece of furniture, or the floor of a room, or (furniture and room None) every floor.

    ambiguous: several pieces of that name stand in the room.
    """

    furniture: Furniture | None
    room: Room | None
    ambiguous: bool = False

    @property
    def label(self) -> str:
        if self.furniture is not None:
            return self.furniture.uid
        return f"{FLOOR}:{self.room.index}" if self.room is not None else f"{FLOOR}:any"


def find_anchor(world: World, selection: Selection, category: str) -> Anchor:
    """Several pieces of one name in a room: the first by uid among those that carry the category, else the first.

    Raises:
        GroundingFailure: there is no such room, or no such furniture in it.
    """
    if selection.surface == FLOOR:
        return Anchor(None, None if selection.room is None else _room(world, selection.room))
    room = _room(world, selection.room)
    everywhere = [piece for piece in world.scene.furniture if piece.name == selection.surface]
    here = sorted((piece for piece in everywhere if piece.room == room.index), key=lambda piece: piece.uid)
    if not here:
        known = f"the house has one in another room ({everywhere[0].uid})" if everywhere else "the house has none"
        reason = Reason.SURFACE_NOT_IN_ROOM if everywhere else Reason.SURFACE_UNKNOWN
        raise GroundingFailure(reason, f"no {selection.surface!r} in the {selection.room}; {known}")
    carrying = [piece for piece in here if instances_on(world, Anchor(piece, room), category)]
    return Anchor((carrying or here)[0], room, ambiguous=len(here) > 1)


def instances_on(world: World, anchor: Anchor, category: str) -> list[str]:
    """Uids of the objects of a category that rest on the anchor, ascending."""
    found = []
    for uid, support in world.supports.items():
        if category not in world.scene.objects[uid].names:
            continue
        if anchor.furniture is not None:
            matches = support == anchor.furniture
        else:
            matches = isinstance(support, Room) and anchor.room in (None, support)
        if matches:
            found.append(uid)
    return sorted(found)


def _room(world: World, name: str | None) -> Room:
    if name is None or name not in world.room_index:
        rooms = ", ".join(sorted(world.room_index))
        raise GroundingFailure(Reason.ROOM_UNKNOWN, f"no room {name!r} in this house; it has {rooms}")
    return world.room(world.room_index[name])
