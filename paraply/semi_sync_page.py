"""``docs/semi-sync.md``: what each wait point loses under each fault, with the smallest run.

Every cell is decided by enumerating all runs of a small scope: a run that shows the loss, or the
number of runs in which there is none. ``python -m paraply.semi_sync_page --check`` compares.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from paraply.pages import pages_main
from properties.semi_sync import commits_reach_their_end
from properties.semi_sync_watch import PROMOTED
from reference_impl.semi_sync.mutants import RotationWaits
from reference_impl.semi_sync.recovery_mutants import DiscardsRelayLog
from reference_impl.semi_sync.subject import SemiSyncSubject
from reference_impl.semi_sync.wait_mutants import ConnectCounts
from reference_impl.subject import Workload
from vocabulary.events import EventKind
from vocabulary.history import History, OptionValue
from vocabulary.schedule import Exploration

PAGE = "docs/semi-sync.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One row: what happens, and the subject and scope that it happens in."""

    name: str
    seen_on_servers: str
    subject: SemiSyncSubject = field(default_factory=SemiSyncSubject)
    stock_recovery: bool = False
    options: dict[str, OptionValue] = field(default_factory=dict)


FAULTS = (
    Fault(name="none", seen_on_servers="control"),
    Fault(name="the source crashes, a remedy of MDEV-162 is in place",
          seen_on_servers="no stock server", options={"source_crashes": 1}),
    Fault(name="the source crashes and opens at once",
          seen_on_servers="a: kill -9, normal restart", stock_recovery=True,
          options={"source_crashes": 1}),
    Fault(name="the wait is given up",
          seen_on_servers="b: KILL CONNECTION, c: KILL QUERY, d: time-out, e: switched off",
          options={"abandons": 1}),
    Fault(name="no replica, wait_no_slave=0",
          seen_on_servers="f: commits at once, status stays ON",
          options={"replica_crashes": 1, "waits_without_replicas": False}),
    Fault(name="a replica connects at the end of the log",
          seen_on_servers="g: counts as an acknowledgement", subject=SemiSyncSubject(ConnectCounts),
          options={"replica_crashes": 1}),
    Fault(name="a replica restarts without its relay log",
          seen_on_servers="MDEV-4698, GTID mode", subject=SemiSyncSubject(DiscardsRelayLog),
          options={"replica_crashes": 1}),
    Fault(name="a rotation waits under LOCK_log",
          seen_on_servers="MySQL bug 44058, point 5; gone with MDEV-181",
          subject=SemiSyncSubject(RotationWaits), options={"rotations": 1, "loses_source": False}),
)  # fmt: skip

RUNS_MAX = 40_000
"""No scope of the page comes near; if one did, its cells would say so."""


def _kept(history: History) -> set[int] | None:
    """Return what the promoted replica has; None if none was promoted."""
    for event in history.events_of(EventKind.READ):
        if event.session == PROMOTED:
            return {observation.writer for observation in event.observed}
    return None


def visible_but_lost(history: History) -> bool:
    """Return whether something read on the source is not on the promoted replica."""
    kept = _kept(history)
    seen = {
        observation.writer
        for event in history.events_of(EventKind.READ, member=history.members[0])
        for observation in event.observed
    }
    return kept is not None and not seen <= kept


def confirmed_but_lost(history: History) -> bool:
    """Return whether a client was told of a transaction that the promoted replica lacks."""
    kept = _kept(history)
    told = {event.transaction for event in history.events_of(EventKind.CLIENT_ACKNOWLEDGED)}
    return kept is not None and not told <= kept


def stalled(history: History) -> bool:
    """Return whether nothing can move any more and a client has no answer."""
    return bool(commits_reach_their_end(history))


LOSSES: tuple[tuple[str, Callable[[History], bool]], ...] = (
    ("visible but lost", visible_but_lost),
    ("confirmed but lost", confirmed_but_lost),
    ("stalled", stalled),
)


def smallest_runs(fault: Fault, wait_point: str) -> tuple[int, bool, dict[str, History]]:
    """Enumerate a scope: how many runs, whether all of them, and the smallest run per loss."""
    dialect = (
        "stock_recovery" if fault.stock_recovery and wait_point == "after_sync" else wait_point
    )
    options: dict[str, OptionValue] = {"reads": 1, "rotations": 0, "source_crashes": 0}
    workload = Workload(
        transactions=1, members=2, dialect=dialect, options=options | fault.options
    )  # fmt: skip
    exploration = Exploration(runs_max=RUNS_MAX)
    found: dict[str, History] = {}
    for schedule in exploration:
        history = fault.subject.run(schedule, workload)
        for name, is_lost in LOSSES:
            small = name not in found or len(history.events) < len(found[name].events)
            if small and is_lost(history):
                found[name] = history
    return exploration.count, exploration.is_complete, found


def _words(history: History) -> str:
    """Return the run in words, without what every run has."""
    dull = (EventKind.STARTED, EventKind.STOPPED, EventKind.PREPARED)
    words = []
    for event in history.events:
        if event.kind in dull:
            continue
        what = event.kind.value.replace("_", " ")
        if event.kind is EventKind.READ:
            seen = ", ".join(f"T{o.writer}" for o in event.observed) or "nothing"
            what = f"{event.session} sees {seen}"
        elif event.transaction is not None:
            what = f"T{event.transaction} {what}"
        words.append(f"{what} ({event.member})")
    return "; ".join(words)


def page() -> str:
    """Return the page."""
    head = [
        "# Semi-sync: what is lost, and when", "",
        "Generated by `python -m paraply.semi_sync_page --write`; `make check` compares. Each cell "
        "is decided by enumerating every run of a small scope (one transaction, one "
        "replica, one fault, one read, the source lost at any moment): **lost** links to the "
        "smallest run, *never* stands for none in all the runs counted on the right.", "",
        "`visible but lost`: somebody read it on the source, and the promoted replica does not "
        "have it. `confirmed but lost`: its client was told so. Under AFTER_SYNC with the wait "
        "standing, neither can happen; that is proved for any number of transactions and crashes "
        "([P10](../proofs/P10.md), [P11](../proofs/P11.md)).", "",
        "| wait point | fault | seen on servers as | visible but lost | confirmed but lost | "
        "stalled | runs |", "| --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    runs = ["", "## The smallest runs", ""]
    number = 0
    for wait_point in ("after_sync", "after_commit"):
        for fault in FAULTS:
            count, is_complete, found = smallest_runs(fault, wait_point)
            cells = []
            for name, _ in LOSSES:
                if name not in found:
                    cells.append("*never*" if is_complete else "not seen")
                    continue
                number += 1
                word = "stalled" if name == "stalled" else "lost"
                cells.append(f"[**{word}**](#run-{number})")
                title = f"{wait_point.upper()}, {fault.name}: {name}."
                runs += [f"### Run {number}", "", title, "", f"> {_words(found[name])}", ""]
            bound = f"{count:,}" if is_complete else f"the first {count:,}"
            head.append(
                f"| {wait_point.upper()} | {fault.name} | {fault.seen_on_servers} | "
                f"{' | '.join(cells)} | {bound} |"
            )
    return "\n".join([*head, *runs]).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(pages_main("paraply.semi_sync_page", {PAGE: page()}))
