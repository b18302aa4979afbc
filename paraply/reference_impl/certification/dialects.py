"""Dialects: differences between WL#8440's text, its examples and the servers.

docs/wl8440-review.md lists each difference with its smallest history.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from paraply.vocabulary.errors import ParaplyError, register

UNKNOWN_DIALECT = register(
    "P401",
    "there is no dialect '{name}'",
    "choose one of: {known}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """AL1's counters.

    Attributes:
        last_committed_global: parallel_applier_last_committed_global.
        sequence_number: parallel_applier_sequence_number, the next number.
    """

    last_committed_global: int
    sequence_number: int


def wait_for_all_before(window: Window) -> int:
    """Return the last number (EX4, every server)."""
    return window.sequence_number - 1


def wait_for_the_window(window: Window) -> int:
    """Return step 1's unsafe LC (EX4 has 4, this has 2)."""
    return window.last_committed_global


def open_window_at_last_assigned(window: Window) -> Window:
    """Wait for the last number (EX6; servers from 8.4)."""
    return Window(
        last_committed_global=window.sequence_number - 1, sequence_number=window.sequence_number
    )


def open_window_at_next(window: Window) -> Window:
    """Wait for the next number: LC = SN (text)."""
    return Window(
        last_committed_global=window.sequence_number, sequence_number=window.sequence_number
    )


def open_window_and_burn_a_number(window: Window) -> Window:
    """Wait for a skipped number (servers to 8.3)."""
    return Window(
        last_committed_global=window.sequence_number, sequence_number=window.sequence_number + 1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One consistent set of certification rules.

    Attributes:
        orders_create_select: whether CREATE TABLE ... SELECT is a barrier: its write set omits rows
            read.
        marks_first_remote: whether a member's first remote transaction has (0, 0), which resets the
            applier.
        logs_view_change: whether a view change has a GTID and (0, 0).
        collects_only_if_stable_grew: whether an unchanged stable set leaves the window.
        hands_on_stable_set: whether a joiner gets its donor's stable set; timestamps differ only
            with ``collects_only_if_stable_grew``.
        recovering_members_report: whether a round waits for recovering members.
        may_certify_gtid_again: whether an uncommitted specified GTID is valid again (a worker's
            retry).
        orders_empty: whether an empty transaction with a specified GTID is a barrier.
    """

    name: str
    source: str
    last_committed_of_barrier: Callable[[Window], int] = wait_for_all_before
    window_after_collection: Callable[[Window], Window] = open_window_at_last_assigned
    orders_create_select: bool = True
    marks_first_remote: bool = False
    logs_view_change: bool = True
    collects_on_join: bool = True
    collects_only_if_stable_grew: bool = False
    hands_on_stable_set: bool = True
    recovering_members_report: bool = True
    may_certify_gtid_again: bool = False
    orders_empty: bool = True


WL8440 = Dialect(
    name="wl8440",
    source="WL#8440, read so that its examples EX3, EX4, EX6 and EX7 hold together",
)

WL8440_LITERAL = Dialect(
    name="wl8440_literal",
    source="WL#8440, algorithm AL1 and the sentence on garbage collection word by word",
    last_committed_of_barrier=wait_for_the_window,
    window_after_collection=open_window_at_next,
    # The text omits CREATE TABLE ... SELECT.
    orders_create_select=False,
)

MYSQL_8_0 = Dialect(
    name="mysql_8_0",
    source="MySQL 8.0, plugin/group_replication/src/certifier.cc: Certifier::certify",
    window_after_collection=open_window_and_burn_a_number,
)

MYSQL_8_3 = Dialect(
    name="mysql_8_3",
    source="MySQL 8.3: the view change is no longer logged, the first remote bears (0, 0)",
    window_after_collection=open_window_and_burn_a_number,
    marks_first_remote=True,
    logs_view_change=False,
    recovering_members_report=False,
)

MYSQL_8_4 = Dialect(
    name="mysql_8_4",
    source="MySQL 8.4 and later: Certifier::update_transaction_dependency_timestamps",
    marks_first_remote=True,
    logs_view_change=False,
    collects_only_if_stable_grew=True,
    hands_on_stable_set=False,
    recovering_members_report=False,
    may_certify_gtid_again=True,
)

MYSQL_9_7 = replace(
    MYSQL_8_4,
    name="mysql_9_7",
    source="MySQL 9.7: an empty transaction bears (-1, 1) when it is sent, and is no barrier",
    orders_empty=False,
)

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (WL8440, WL8440_LITERAL, MYSQL_8_0, MYSQL_8_3, MYSQL_8_4, MYSQL_9_7)
}


def dialect_named(name: str) -> Dialect:
    """Return a dialect, or raise ``ParaplyError`` P401."""
    if name not in DIALECTS:
        raise ParaplyError(UNKNOWN_DIALECT, name=name, known=", ".join(DIALECTS))
    return DIALECTS[name]
