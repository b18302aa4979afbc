"""The nemeses of a request."""

from __future__ import annotations

from collections.abc import Sequence

from paraply.adapters.live.nemeses.field import Equipment
from paraply.adapters.live.nemeses.kinds import NEMESES, Nemesis
from paraply.adapters.live.nemeses.plan import RANDOM, Plan, draw_names, draw_plan
from paraply.adapters.live.target import UNKNOWN_CHOICE, LiveRequest
from paraply.vocabulary.errors import ParaplyError, register

NEMESIS_REFUSED = register(
    "P626",
    "nemesis '{nemesis}' cannot be had: {reason}",
    "ci/servers --only faketime and a C compiler provide all of them; docs/live.md lists the"
    " targets of each",
)
_MEMBERS = {"galera": 3, "mysql-gr": 3}
_REFUSED = {
    "mysql-gr/disk-full": "a member that waited for space did not come back within four minutes",
}
"""Reasons by ``target/nemesis``."""
_PAIRS = ("mariadb", "mysql")
_SHARE = 0.6
"""Of a round's duration, for the plan."""
_SECONDS_MIN = 6.0


def members_of(target: str, request: LiveRequest) -> int:
    """Return the number of members; ``ParaplyError`` P626 for a target without nemeses."""
    if target in _PAIRS:
        return 1 + request.replicas
    if target not in _MEMBERS:
        known = ", ".join((*_MEMBERS, *_PAIRS))
        raise ParaplyError(
            NEMESIS_REFUSED,
            nemesis=",".join(request.nemeses),
            reason=f"target {target} has none ({known} have)",
        )
    return _MEMBERS[target]


def chosen(target: str, request: LiveRequest) -> Sequence[Nemesis]:
    """Return the nemeses of the request's seed.

    Raises ``ParaplyError`` P620 for an unknown name, P626 for one that cannot be had here.
    """
    members = members_of(target, request)
    names: Sequence[str] = request.nemeses
    if RANDOM in names:
        fitting = [
            name
            for name, one in NEMESES.items()
            if one.members_min <= members and f"{target}/{name}" not in _REFUSED
        ]
        names = draw_names(fitting, request.seed)
    found = []
    for name in names:
        if name not in NEMESES:
            raise ParaplyError(
                UNKNOWN_CHOICE, target=target, what="nemesis", given=name,
                known=", ".join((*NEMESES, RANDOM)),
            )  # fmt: skip
        nemesis = NEMESES[name]()
        reason = _REFUSED.get(f"{target}/{name}") or nemesis.why_not()
        if members < nemesis.members_min:
            reason = f"it needs {nemesis.members_min} members, and there are {members}"
        if reason:
            raise ParaplyError(NEMESIS_REFUSED, nemesis=name, reason=reason)
        found.append(nemesis)
    return found


def plan_of(target: str, request: LiveRequest) -> Plan:
    """Return the plan of the request's seed."""
    seconds = max(_SECONDS_MIN, request.duration_s * _SHARE)
    return draw_plan(chosen(target, request), request.seed, members_of(target, request), seconds)


def equipment_of(target: str, request: LiveRequest) -> Equipment | None:
    """Return what the servers need for the request's nemeses; None without any."""
    if not request.nemeses:
        return None
    return Equipment(needs=frozenset(need for one in chosen(target, request) for need in one.needs))
