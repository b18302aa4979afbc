"""Read appliers and sent write sets from a member's error log.

``wsrep_debug=SERVER`` and the provider's ``debug=yes`` log the beginning and commit of each
applier, and seqno, last_seen and depends_seqno of sent write sets. One lock orders the lines: a
beginning follows the provider's admission, a commit precedes its exit. Observed with MariaDB
10.11.19 and Galera 26.4.23.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

OPTIONS = ("--wsrep-debug=SERVER",)
PROVIDER_OPTIONS = "debug=yes"
_LINE = re.compile(r"\d{4}-\d\d-\d\d +\d+:\d\d:\d\d (\d{1,20}) \[Note\] WSREP: (.*)")
_BEGINS = "applying event 1,"
_ENDS = "wsrep_after_apply"
_COMMITS = re.compile(
    r"wsrep_ordered_commit: [01] (\d{1,20})$"
    # An applier logs its end after it has left, but the statement's end before.
    r"|Apply TO END: (\d{1,20}):"
    r"|.*to_isolation_end\(\).*\bg: (\d{1,20}),"
)
_NUMBERS = re.compile(r"seqnos \(l: -?\d+, g: (\d{1,20}), s: (-?\d{1,20}), d: (-?\d{1,20})\)")
_TELLS_NUMBERS = ("release_commit() for trx", "to_isolation_begin():")
_REPLAYS = ": replaying "


@dataclass(frozen=True, slots=True, kw_only=True)
class SentWriteSet:
    """A certified write set of its sender, with the cluster's seqnos."""

    seqno: int
    last_seen: int
    depends: int
    """An applier waits for everything up to here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A committed write set; places are log lines, from 1."""

    seqno: int
    thread: int
    begun: int | None
    """None without an observed applier, as for own write sets."""
    place: int


@dataclass(slots=True)
class ProviderLog:
    """One member's error log of one round."""

    sent: list[SentWriteSet] = field(default_factory=list)
    committed: list[Committed] = field(default_factory=list)


def read_provider_log(lines: Iterable[str]) -> ProviderLog:
    """Return the events in an error log's lines.

    A replayed transaction logs an applier's thread, whose beginnings are therefore ignored.
    """
    log = ProviderLog()
    begun: dict[int, int] = {}
    replaying: set[int] = set()
    for place, line in enumerate(lines, start=1):
        found = _LINE.match(line)
        if found is None:
            continue
        thread, said = int(found[1]), found[2]
        if said.startswith(_BEGINS):
            begun.setdefault(thread, place)
        elif said.startswith(_ENDS):
            begun.pop(thread, None)
        elif commits := _COMMITS.match(said):
            seqno = int(commits[1] or commits[2] or commits[3])
            log.committed.append(
                Committed(seqno=seqno, thread=thread, begun=begun.pop(thread, None), place=place)
            )
        elif _REPLAYS in said:
            replaying.add(thread)
        if any(words in said for words in _TELLS_NUMBERS):
            # A client transaction's line has the fields twice: the last one has the numbers.
            for seqno, last_seen, depends in map(_as_numbers, _NUMBERS.findall(said)):
                log.sent.append(SentWriteSet(seqno=seqno, last_seen=last_seen, depends=depends))
    log.committed = [
        replace(one, begun=None) if one.thread in replaying else one for one in log.committed
    ]
    return log


def _as_numbers(found: Iterable[str]) -> tuple[int, int, int]:
    seqno, last_seen, depends = map(int, found)
    return seqno, last_seen, depends


def provider_log_of(file: Path, offset: int) -> ProviderLog:
    """Return the events from a byte offset on."""
    with file.open("rb") as opened:
        opened.seek(offset)
        return read_provider_log(line.decode(errors="replace") for line in opened)
