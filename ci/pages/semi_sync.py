"""The tables of ``docs/semi-sync.md``.

Each cell comes from every state of a small scope: a run with the loss, or the number of states.
"""

from __future__ import annotations

import sys

from ci.pages.semi_sync_faults import FAULTS, LOSSES, WAIT_POINTS, smallest_losses
from ci.pages.semi_sync_tables import (
    CLIENTS,
    design_rows,
    fault_rows,
    old_source_rows,
    pace_rows,
)
from ci.pages.writing import filled, pages_main, table
from paraply.exploring.state_space import Node, StateSpace
from paraply.properties.semi_sync.watch import ABANDON_REASONS
from paraply.reference_impl.semi_sync.state import SOURCE
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History

PAGE = "docs/semi-sync.md"


class Runs:
    """Numbers the tables' runs."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def link(self, word: str, title: str, space: StateSpace, node: Node) -> str:
        """Number a run; return its cell."""
        self.count += 1
        words = in_words(space.run(node))
        self.lines += [f"### Run {self.count}", "", f"{title}.", "", f"> {words}", ""]
        return f"[**{word}**](#run-{self.count})"


def matrix(runs: Runs) -> list[str]:
    """Return losses by wait point and fault."""
    rows = []
    for wait_point in WAIT_POINTS:
        for fault in FAULTS:
            space = fault.space(wait_point)
            found = smallest_losses(space)
            point = wait_point.value.upper()
            cells = []
            for name, _ in LOSSES:
                word = "stalled" if name == "stalled" else "lost"
                cells.append(
                    runs.link(word, f"{point}, {fault.name}: {name}", space, found[name])
                    if name in found
                    else _nowhere(space)
                )
            rows.append([point, fault.name, fault.seen_on_servers, *cells, _bound(space)])
    names = [name for name, _ in LOSSES]
    return table(["wait point", "fault", "seen on servers as", *names, "states"], rows)


def designs(runs: Runs) -> list[str]:
    """Return each design's order."""
    rows = []
    for words, space, answers in design_rows():
        cells = []
        for question, node in answers:
            is_stall = question == "stall"
            if node is None:
                cells.append("*never*" if is_stall else "kept")
            else:
                word = "stalls" if is_stall else "broken"
                cells.append(runs.link(word, f"{words}: {question}", space, node))
        rows.append([words, *cells, _bound(space)])
    head = ["design", "order", "prefix", "no phantom", "dump thread under LOCK_log", "states"]
    return table(head, rows)


def _bound(space: StateSpace) -> str:
    return f"{space.watched:,}" if space.is_complete else f"the first {space.watched:,}"


def _nowhere(space: StateSpace) -> str:
    return "*never*" if space.is_complete else "not seen"


def in_words(history: History) -> str:
    """Return a run's essential events."""
    return "; ".join(_event_in_words(event) for event in history.events if not _is_dull(event))


def _is_dull(event: Event) -> bool:
    if event.kind is EventKind.ENGINE_COMMITTED:
        return event.member != SOURCE
    is_end = event.kind is EventKind.STOPPED and event.note in ("at rest", "promoted")
    is_start = event.kind is EventKind.STARTED and not event.note
    return is_end or is_start or event.kind is EventKind.PREPARED


def _event_in_words(event: Event) -> str:
    what = event.kind.value.replace("_", " ")
    if event.kind is EventKind.READ:
        seen = ", ".join(f"T{o.writer}" for o in event.observed) or "nothing"
        what = f"{event.session} sees {seen}"
    elif event.transaction is not None:
        what = f"T{event.transaction} {what}"
    if event.note:
        what = f"{what}, {event.note}"
    return f"{what} ({event.member})"


def page() -> str:
    """Return the page."""
    runs = Runs()
    clients = [f"{count} client{'' if count == 1 else 's'}" for count in CLIENTS]
    source = ["wait point", "the old source", "accepted", "refused", "extra", "states"]
    blocks = {
        "matrix": matrix(runs),
        "reasons": [f"- {reason}" for reason in ABANDON_REASONS],
        "designs": designs(runs),
        "old-source": table(source, old_source_rows()),
        "pace": table(["round trip", "design", *clients], pace_rows()),
        "faults": table(["known as", "server", "fault", "mutants"], fault_rows()),
    }
    return filled(PAGE, {**blocks, "runs": runs.lines[:-1]})


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.semi_sync", {PAGE: page()}))
