"""Monotonic reads of sets and counters: a client's later read does not show less.

Both grow only. The order of versions is not needed: each read must contain every earlier one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from paraply.properties.isolation.breaches import ReadWentBackInSession, shown
from paraply.properties.isolation.judging import Finding, finding_of
from paraply.properties.isolation.phenomena import Phenomenon, phenomenon_named
from paraply.properties.isolation.whole_reads import WholeRead, content, whole_reads
from paraply.vocabulary.client_history import ClientHistory

MONOTONIC_READS = phenomenon_named("monotonic reads")
MONOTONIC_AT_SERVER = Phenomenon(
    label="monotonic reads at one server",
    fact="session_reads_only_go_forward_at_one_server",
    meaning="a session read less than it had read before at the same server",
    breach=ReadWentBackInSession,
)


def judge_going_back(history: ClientHistory) -> tuple[Finding, Finding]:
    """Return whether reads go back in a session, and in a session at one server."""
    return (
        _judge(history, MONOTONIC_READS, at_server=False),
        _judge(history, MONOTONIC_AT_SERVER, at_server=True),
    )


def _judge(history: ClientHistory, one: Phenomenon, *, at_server: bool) -> Finding:
    breaches = []
    compared = 0
    known: dict[tuple[Any, ...], tuple[Counter[Any], dict[Any, WholeRead]]] = {}
    for read in whole_reads(history):
        reader = read.reader
        if not reader.session or (at_server and not reader.node):
            continue
        place = (reader.session, reader.node if at_server else "", read.key)
        now = content(history, read.value)
        if place not in known:
            known[place] = (Counter(), {})
        before, readers = known[place]
        compared += bool(before)
        missed = next((element for element, count in before.items() if now[element] < count), None)
        if missed is not None:
            breaches.append(_breach(readers[missed], read))
        for element, count in now.items():
            if count > before[element]:
                before[element], readers[element] = count, read
    return finding_of(
        one, breaches, compared > 0,
        "no session returned to a key" + (" at one server" if at_server else ""),
    )  # fmt: skip


def _breach(earlier: WholeRead, later: WholeRead) -> ReadWentBackInSession:
    return ReadWentBackInSession(
        session=later.reader.session,
        earlier=earlier.reader.name, earlier_access=_told(earlier),
        later=later.reader.name, later_access=_told(later),
    )  # fmt: skip


def _told(read: WholeRead) -> str:
    node = f" at {read.reader.node}" if read.reader.node else ""
    return f"read {read.key}={shown(read.value)}{node}"
