"""The order in which jobs take their rows, where a coordinator sorts against deadlocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import attempts_of_workers, relay_log
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.write_set import Item

SORTING = frozenset({"c3", "c3_c1", "c4"})
"""Dialects whose coordinator sorts the row events of a job."""
_STARTS = frozenset({EventKind.STARTED, EventKind.CRASHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsInCircle(Violation):
    """Jobs take rows in orders that no one order has."""

    member: str
    rows: tuple[Item, ...]

    def __str__(self) -> str:
        circle = ", then ".join(map(str, self.rows))
        return f"{self.member}: jobs that take rows one after the other close a circle: {circle}"


def sorted_jobs(history: History) -> bool:
    """Workers apply jobs whose row events a coordinator sorts."""
    return (
        attempts_of_workers(history)
        and relay_log(history)
        and history.header.dialect in SORTING
        and history.header.options.get("workers") != 0
    )


Orders = dict[Item, dict[Item, None]]
"""Row -> rows that a job took right before it."""


def _orders(history: History) -> Iterator[tuple[str, Orders]]:
    """Yield the orders of rows of a member's jobs between two starts."""
    for member in history.members:
        orders: Orders = {}
        jobs: dict[int | None, list[Item]] = {}
        for event in history.events:
            if event.member != member:
                continue
            if event.kind in _STARTS:
                yield member, orders
                orders, jobs = {}, {}
            elif event.kind is EventKind.BEGUN:
                jobs[event.worker] = []
            elif event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.OK:
                # A row with several keys is none that one order of keys could place.
                job = jobs.setdefault(event.worker, [])
                job += event.items if len(event.items) == 1 else ()
                for before, after in pairwise(job[-2:]):
                    if before != after:
                        orders.setdefault(after, {})[before] = None
        yield member, orders


@always(
    of=sorted_jobs,
    source="WL#4648, extension towards P1+C3: sorting of events in a job to avoid deadlocks; E4",
    witness=lambda history: sum(len(orders) for _, orders in _orders(history)),
)
def jobs_take_rows_in_one_order(history: History) -> list[RowsInCircle]:
    """There is one order of rows, and each job of a run takes its rows in it.

    A restarted coordinator may sort anew.
    """
    found = []
    for member, orders in _orders(history):
        try:
            TopologicalSorter(orders).prepare()
        except CycleError as error:
            found.append(RowsInCircle(member=member, rows=tuple(error.args[1])))
    return found
