"""Theorems about auto-position."""

from __future__ import annotations

from functools import partial

from paraply.models.claims.claim import Theorem, about
from paraply.models.systems.variants import variant_of_auto_position

with_any_purge = partial(
    variant_of_auto_position, purges_executed_only=False, speaks_of_purges=False
)
"""Without A21: whatever is purged, the source refuses whom it cannot serve."""

THEOREMS_OF_EXACTLY_ONCE = (
    Theorem(
        id="P50",
        claim="Exactly once with auto-position: across crashes of both servers and broken "
        "connections, workers in any order apply each transaction of the source once, and a "
        "replica that has caught up has applied all.",
        systems=(with_any_purge(name="auto_position[any purge]"),),
        statements=(
            "nothing_is_applied_twice",
            "nothing_is_passed_over",
            "applied_is_what_the_source_has",
            "caught_up_means_exactly_once",
        ),
        assumes=("A15", "A16", "A18"),
        delimited_by=("C99", "C100", "C101", "C102", "C103", "C104", "C105"),
        standing=about("one source and one replica, without certification and row locks"),
        source="MySQL manual, GTID auto-positioning; relay_log_recovery; error 1236",
    ),
    Theorem(
        id="P51",
        claim="What a replica has not executed can always be fetched again, though it loses any "
        "end of its relay log in a crash.",
        systems=(variant_of_auto_position(name="auto_position"),),
        statements=("what_is_missing_can_be_fetched",),
        assumes=("A21",),
        delimited_by=("C106",),
        standing=about("one source and one replica, without certification and row locks"),
        source="MySQL manual, gtid_purged; PURGE BINARY LOGS, binlog_expire_logs_seconds",
    ),
)
