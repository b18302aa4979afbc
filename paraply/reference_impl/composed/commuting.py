"""What actions of the composed system read and write, for sleep sets.

Four pairs commute although they meet in one list. An append to a relay log or commit order beside
the removal of an earlier entry. An append to the total order beside the delivery of an earlier
message. A donor's commit beside the copy of an earlier one. A departure beside a commit: only a
join's message is asked for executed sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from paraply.reference_impl.group.commuting import Touched
from paraply.reference_impl.group.messages import (
    OnlineMessage,
    TransactionMessage,
    ViewChangeMessage,
)

if TYPE_CHECKING:
    from paraply.reference_impl.composed.member import ComposedMember
    from paraply.reference_impl.composed.run import ComposedRun
    from paraply.reference_impl.group.run import Action

WHOLE = (
    "own.life own.receiver own.role own.applier own.rows own.executed own.clients own.relay "
    "own.views"
)
"""All parts of a member.

Life: its status and restarts. Receiver: position, certifier and view. Role: whether it takes
writes. Applier: coordinator, workers, and the order of commits. Clients: their transactions, until
they are answered. Relay: what its relay log still has. Views: states that it can donate.
"""
PARTS = {
    # Action -> what it reads beside the member's life, and what it writes. The view includes the
    # members' statuses.
    "delivers own": ("", "own.receiver own.clients own.rows"),
    "delivers remote": ("", "own.receiver own.receipts"),
    "delivers view": ("own.relay", "own.receiver own.role own.views"),
    "delivers itself online": ("", f"{WHOLE} view"),
    "delivers role": ("own.relay", "own.receiver own.role"),
    "delivers": ("", "own.receiver"),
    "dispatch": ("", "own.applier"),
    "skip": ("own.executed", "own.applier own.relay"),
    "begins": ("", "own.applier"),
    "applies": ("", "own.applier own.rows own.clients"),
    "ends": ("own.clients", "own.applier own.rows own.executed own.relay"),
    "submits": ("own.role own.executed writers", "own.rows own.clients transactions"),
    "sends": ("own.executed", "own.rows own.clients order writers"),
    "flushes": ("own.relay own.applier", "own.clients"),
    "commits": ("others.receipts view", "own.clients own.rows own.executed own.applier"),
    "answers": ("others.receipts view", "own.clients"),
    "broadcasts": ("own.executed", "own.receiver order broadcasts"),
    "applied": ("own.executed", "own.role order"),
    "is online": ("own.relay", "own.receiver order"),
    "is read": ("own.rows", "reads"),
    "recovers": ("others.views view", WHOLE),
    "gives": ("others.views", f"{WHOLE} order view"),
    "crashes": ("", f"{WHOLE} order view departures"),
    "leaves": ("", f"{WHOLE} order view departures"),
    "leaves with flushed": ("others.receipts", f"{WHOLE} order view departures"),
    "joins": ("others.executed", f"{WHOLE} order view joins"),
}
# A table change excludes users of the table on all members, wherever it is on its way.
WITH_DDL = {
    "begins": ("own.clients", ""),
    "submits": ("own.receiver own.relay order", "users"),
    **dict.fromkeys(("applies", "sends", "crashes", "joins", "gives"), ("", "users")),
    **dict.fromkeys(("leaves", "leaves with flushed"), ("", "users")),
}
STAGES = {"assigned": "begins", "finished": "ends"}


def touched(run: ComposedRun, action: Action) -> Touched:
    """Return what an action reads and writes."""
    names = list(run.group.members)
    name = names[action.owner]
    others = [one for one in names if one != name]
    kind = kind_of(run, run.group.members[name], action.name.removeprefix(f"{name} "))

    def parts_of(words: str) -> Iterator[str]:
        for word in words.split():
            owner, _, part = word.rpartition(".")
            owners = {"own": [name], "others": others}.get(owner, [""])
            yield from (f"{one} {part}" for one in owners)

    def both(index: int) -> Iterable[str]:
        yield from parts_of(PARTS[kind][index])
        if run.has_ddl:
            yield from parts_of(WITH_DDL.get(kind, ("", ""))[index])

    return Touched.of(reads=(f"{name} life", *both(0)), writes=both(1))


def kind_of(run: ComposedRun, member: ComposedMember, what: str) -> str:
    """Return the kind of a member's action."""
    if what.startswith("worker "):
        return STAGES.get(what.split()[-1], "applies")
    if what == "leaves" and member.flushed:
        # It commits them first, if others have them.
        return "leaves with flushed"
    if what != "delivers":
        return what if what in PARTS else what.split()[0]
    match run.group.total_order[member.next_message]:
        case TransactionMessage(transaction=transaction):
            return "delivers own" if transaction in member.sessions else "delivers remote"
        case ViewChangeMessage():
            return "delivers view"
        case OnlineMessage(member=name):
            return "delivers itself online" if name == member.name else "delivers role"
    return "delivers role"
