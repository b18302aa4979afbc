"""Timed group commit as a subject: round trips per commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from paraply.reference_impl.causes import LOGGED_BESIDE
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.semi_sync.binlog import ReplicaState
from paraply.reference_impl.semi_sync.settings import Staging
from paraply.reference_impl.semi_sync.state import SOURCE
from paraply.reference_impl.semi_sync.subject import SEMI_SYNC
from paraply.reference_impl.semi_sync.timed_cluster import Durations, TimedCluster
from paraply.reference_impl.subject import (
    Cause,
    KnownBreaches,
    Option,
    Subject,
    Workload,
    register_subject,
)
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import Transaction, TransactionId


def _awaits_mutex(history: History) -> bool:
    prepared: set[TransactionId | None] = set()
    for event in history.events:
        if event.kind is EventKind.PREPARED:
            prepared.add(event.transaction)
        elif event.kind is EventKind.FLUSHED:
            prepared.discard(event.transaction)
        elif event.kind is EventKind.ENGINE_COMMITTED and event.member == SOURCE and prepared:
            return True
    return False


MUTEX_AWAITED = Cause(
    "a transaction is prepared and not logged while another one commits", _awaits_mutex
)


class SemiSyncClockSubject(Subject):
    """A timed source and replica; dialects set staging."""

    name = "semi_sync_clock"
    meaning = "group commit with semi-sync acknowledgement, on a simulated clock in microseconds"
    source = "MDEV-162: high throughput can be maintained"
    dialects = tuple(staging.value for staging in Staging)
    options = (
        Option(name="clients", default=4, least=1, small=2, meaning="clients that commit at once"),
        Option(name="round_trip_us", default=1_000, greatest=1_000_000, meaning="to a replica"),
        Option(name="sync_us", default=200, greatest=1_000_000, meaning="sync of a group"),
        Option(
            name="engine_commit_us",
            default=10,
            greatest=1_000_000,
            meaning="engine commit of a transaction",
        ),
        Option(
            name="stagger_us",
            default=100,
            greatest=1_000_000,
            meaning="from one client's first commit to the next one's",
        ),
    )
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        "global_mutex": frozenset({"commits_wait_for_two_round_trips"})
    }
    causes: ClassVar[Mapping[str, Cause]] = {"commits_wait_for_two_round_trips": MUTEX_AWAITED}
    follows = (
        KnownBreaches(
            where="any options",
            applies=lambda _: True,
            breaks=frozenset({"stages_follow_the_binary_log"}),
            because="binlog_order_commits=OFF lets transactions of a group commit in any order",
            cause=LOGGED_BESIDE,
            dialects=frozenset({"mysql_unordered"}),
        ),
    )
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        # No faults and no reads.
        "": frozenset(
            {
                "source_recovers_unacknowledged",
                "source_is_lost_after_a_read",
                "semi_sync_comes_back_on",
                "a_commit_waits_for_nothing",
                "nothing_waits_while_semi_sync_is_off",
                "visible_only_after_acknowledgement",
                "what_was_seen_survives",
                "what_was_confirmed_survives",
                "waits_are_abandoned_only_for_cause",
                "lost_clients_get_no_answer",
                "readers_at_the_source_see_prefixes",
                "snapshots_know_their_place",
                "recovery_decides_by_the_binlog",
                "returned_sources_have_nothing_extra",
                "source_is_refused_only_with_reason",
            }
        ),
        "global_mutex": frozenset(
            {"round_trips_overlap", "commit_stages_overlap", "stages_follow_the_binary_log"}
        ),
    }

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Run all commits on the clock."""
        calm = {option.name: option.default for option in SEMI_SYNC.options}
        settings = SEMI_SYNC.settings(dialect_of_semi_sync(dialect), workload, calm)
        identifiers = []
        for number in range(1, workload.transactions + 1):
            identifier = TransactionId(number)
            recorder.add(Transaction(id=identifier))
            identifiers.append(identifier)
        cluster = TimedCluster(
            settings,
            recorder,
            identifiers,
            replicas=[ReplicaState("r1")],
            clients=int(options["clients"]),
            durations=Durations(
                round_trip=int(options["round_trip_us"]),
                sync=int(options["sync_us"]),
                engine_commit=int(options["engine_commit_us"]),
                stagger=int(options["stagger_us"]),
            ),
        )
        cluster.run(schedule)
        return (SOURCE, "r1")


def dialect_of_semi_sync(dialect: str) -> str:
    """Return the corresponding untimed dialect."""
    return "after_sync" if dialect == Staging.CHAINED.value else dialect


SEMI_SYNC_CLOCK = register_subject(SemiSyncClockSubject())
