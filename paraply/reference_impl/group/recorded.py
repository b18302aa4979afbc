"""Follows a recorded run of real members with the certifier, and says where they differ.

Each member is followed on its own, from the view in which it joined. Fed is only what was
delivered to it; compared is what its logs say: verdict, GTID, last_committed and
sequence_number of every transaction.

One thing is not in the record: servers collect garbage beside the stream (a thread wakes once a
second), so that the place of a collection within it is unknown. The first timestamp that
needs it tells the place: behind the transaction whose number it names. Following then goes back
to the completion of the round and collects there; all that comes after must agree again.
"""

from __future__ import annotations

from paraply.reference_impl.certification.parts import STANDARD_PARTS, Parts
from paraply.reference_impl.group.comparison import Comparison
from paraply.reference_impl.group.following import Follower
from paraply.vocabulary.group_trace import GroupTrace, MemberUuid, ViewInstalled


def compare_with_reference(
    trace: GroupTrace, dialect: str, *, parts: Parts = STANDARD_PARTS
) -> Comparison:
    """Follow every member of a recorded run; ``differences`` is empty if all agree.

    Raises:
        ParaplyError: P401, there is no such dialect.
    """
    comparison = Comparison(views=sum(isinstance(step, ViewInstalled) for step in trace.steps))
    for member in trace.members:
        for start, end in sessions(trace, member):
            comparison.add(Follower(trace, member, dialect, parts).follow(start, end))
    return comparison


def sessions(trace: GroupTrace, member: MemberUuid) -> list[tuple[int, int]]:
    """Return from and until which step a member was in the group, each time it was."""
    found: list[tuple[int, int]] = []
    start: int | None = None
    for number, step in enumerate(trace.steps):
        if not isinstance(step, ViewInstalled):
            continue
        if start is None and member in step.members:
            start = number
        elif start is not None and member not in step.members:
            found.append((start, number))
            start = None
    if start is not None:
        found.append((start, len(trace.steps)))
    return found
