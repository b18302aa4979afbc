"""Compares a recorded run of real members with the certifier.

It compares verdict, GTID, last_committed and sequence_number of every transaction, by member.

The record omits the place of collections (a thread wakes once a second). The first timestamp that
needs one reveals it: after the transaction of that number. The comparison then returns to the
round's end and collects there; all later steps must agree again.
"""

from __future__ import annotations

from paraply.reference_impl.group.comparison import Comparison
from paraply.reference_impl.group.following import Follower
from paraply.vocabulary.group_trace import GroupTrace, MemberUuid, ViewInstalled


def compare_with_reference(trace: GroupTrace, dialect: str) -> Comparison:
    """Compare every member's run.

    Raises:
        ParaplyError: P401, unknown dialect.
    """
    comparison = Comparison(views=sum(isinstance(step, ViewInstalled) for step in trace.steps))
    for member in trace.members:
        for start, end in sessions(trace, member):
            comparison.add(Follower(trace, member, dialect).follow(start, end))
    return comparison


def sessions(trace: GroupTrace, member: MemberUuid) -> list[tuple[int, int]]:
    """Return each membership's step range."""
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
