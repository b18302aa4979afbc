"""A semi-synchronous source and its replicas as a subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from paraply.reference_impl.causes import LOGGED_BESIDE
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.semi_sync.binlog import ReplicaState
from paraply.reference_impl.semi_sync.cluster import Cluster
from paraply.reference_impl.semi_sync.replication import UNNOTICED
from paraply.reference_impl.semi_sync.settings import (
    BY_HAND,
    Recovery,
    Settings,
    Staging,
    WaitPoint,
)
from paraply.reference_impl.semi_sync.state import SOURCE
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

NOT_LOSSLESS = frozenset({"visible_only_after_acknowledgement", "what_was_seen_survives"})

DIALECTS: dict[str, tuple[WaitPoint, Recovery, Staging]] = {
    "after_sync": (WaitPoint.AFTER_SYNC, Recovery.WAITS, Staging.CHAINED),
    "after_commit": (WaitPoint.AFTER_COMMIT, Recovery.WAITS, Staging.CHAINED),
    "stock_recovery": (WaitPoint.AFTER_SYNC, Recovery.COMMITS, Staging.CHAINED),
    "barred_recovery": (WaitPoint.AFTER_SYNC, Recovery.BARRED, Staging.CHAINED),
    "global_mutex": (WaitPoint.AFTER_SYNC, Recovery.WAITS, Staging.GLOBAL_MUTEX),
    "mysql_ordered": (WaitPoint.AFTER_SYNC, Recovery.WAITS, Staging.MYSQL_ORDERED),
    "mysql_unordered": (WaitPoint.AFTER_SYNC, Recovery.WAITS, Staging.MYSQL_UNORDERED),
}
"""Each differs from the first once."""


def _is_replica_awaited(history: History) -> bool:
    crashes = history.events_of(EventKind.CRASHED)
    return (
        history.header.options.get("waits_without_replicas") is not False
        or any(event.note == UNNOTICED for event in crashes)
        or any(history.events_of(EventKind.RECOVERED, member=SOURCE))
    )


def _sends_unsynced(history: History) -> bool:
    flushed: set[TransactionId | None] = set()
    for event in history.events:
        if event.member == SOURCE and event.kind is EventKind.FLUSHED:
            flushed.add(event.transaction)
        elif event.member == SOURCE and event.kind is EventKind.SYNCED:
            flushed.discard(event.transaction)
        elif event.kind is EventKind.DELIVERED and event.transaction in flushed:
            return True
    return False


def _logged_groups(history: History) -> set[int | None]:
    """Return the source's groups that are logged and whose clients have no answer at the end."""
    group_of: dict[TransactionId | None, int | None] = {}
    for event in history.events:
        if event.member != SOURCE:
            continue
        if event.kind is EventKind.FLUSHED:
            group_of[event.transaction] = event.group
        elif event.kind is EventKind.CLIENT_ACKNOWLEDGED:
            group_of.pop(event.transaction, None)
        elif event.kind is EventKind.CRASHED:
            group_of.clear()
    return set(group_of.values())


def _rotates_at_the_end(history: History) -> bool:
    ended = sum(1 for _ in history.events_of(EventKind.RELAY_ROTATED, member=SOURCE))
    rotations = history.header.options.get("rotations")
    return isinstance(rotations, int) and ended < rotations and bool(_logged_groups(history))


REPLICA_AWAITED = Cause(
    "wait_no_slave, a replica that crashed without a word, or recovered transactions that wait",
    _is_replica_awaited,
)
SOURCE_CRASHED = Cause(
    "the source crashes",
    lambda history: any(history.events_of(EventKind.CRASHED, member=SOURCE)),
)
SEEN_EARLY = Cause(
    "engine commits do not wait for acknowledgements, or the source recovers from a crash",
    lambda history: (
        history.header.dialect == "after_commit"
        or any(history.events_of(EventKind.RECOVERED, member=SOURCE))
    ),
)
REPLICA_CRASHED = Cause(
    "a replica crashes",
    lambda history: any(one.member != SOURCE for one in history.events_of(EventKind.CRASHED)),
)

SENT_UNSYNCED = Cause(
    "a replica receives what the source has flushed and not synced", _sends_unsynced
)
TWO_GROUPS_LOGGED = Cause(
    "at the end two logged groups wait",
    lambda history: len(_logged_groups(history)) > 1,
)
ROTATION_UNDER_WAY = Cause(
    "at the end a logged group waits, and a rotation may be under way",
    _rotates_at_the_end,
)


class SemiSyncSubject(Subject):
    """Source and replicas; dialects set the design.

    ``changes`` are settings outside the dialects.
    """

    name = "semi_sync"
    meaning = "group commit with semi-sync acknowledgement, crash recovery and fail-over"
    source = "MDEV-162, MDEV-181; MYSQL_BIN_LOG::ordered_commit, ReplSemiSyncMaster"
    dialects = tuple(DIALECTS)
    options = (
        Option(
            name="acknowledgements", default=1, least=1, greatest=8, meaning="wait_for_slave_count"
        ),
        Option(name="keeps_relay_log", default=True, meaning="relay logs survive a restart"),
        Option(name="rotation_waits", default=False, meaning="rotation waits for pending XIDs"),
        Option(name="dump_takes_lock_log", default=False, meaning="dump threads need LOCK_log"),
        Option(name="sync_binlog", default=1, greatest=1, meaning="1: synced before it is sent"),
        Option(name="waits_without_replicas", default=True, meaning="wait_no_slave"),
        Option(name="replicas_return", default=True, meaning="replicas that go come back"),
        Option(name="silent_crashes", default=False, meaning="replicas crash without a word"),
        Option(name="shutdown_waits", default=False, meaning="SHUTDOWN WAIT FOR ALL SLAVES"),
        Option(
            name="truncates",
            default=True,
            meaning="a source that comes back as a replica cuts its prepared tail",
        ),
        Option(name="reads", default=2, small=1, meaning="reads at the source"),
        Option(name="source_crashes", default=1, meaning="crashes of the source"),
        Option(name="replica_crashes", default=0, meaning="crashes of replicas"),
        Option(name="rotations", default=1, small=0, meaning="rotations of the binary log"),
        Option(name="abandons", default=1, small=0, meaning="waits that are given up"),
        Option(
            name="abandon_by",
            default="any",
            choices=("any", *BY_HAND),
            meaning="how a wait is given up",
        ),
        Option(name="shutdowns", default=0, meaning="shutdowns of the source"),
        Option(name="loses_source", default=True, meaning="the source may be lost"),
        Option(
            name="loses_replicas", default=0, greatest=8, meaning="replicas lost together with it"
        ),
        Option(
            name="source_returns",
            default=True,
            small=False,
            meaning="the old source comes back after the fail-over",
        ),
    )
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        "after_commit": NOT_LOSSLESS,
        "stock_recovery": NOT_LOSSLESS,
        "mysql_unordered": frozenset(
            {"stages_follow_the_binary_log", "readers_at_the_source_see_prefixes"}
        ),
    }
    causes: ClassVar[Mapping[str, Cause]] = {
        **dict.fromkeys(NOT_LOSSLESS, SEEN_EARLY),
        "stages_follow_the_binary_log": LOGGED_BESIDE,
        "readers_at_the_source_see_prefixes": LOGGED_BESIDE,
    }

    breaks_where = (
        KnownBreaches(
            where="sync_binlog=0",
            applies=lambda options: options["sync_binlog"] == 0,
            breaks=frozenset({"replicas_are_never_ahead"}),
            because="replicas get what is not synced",
            cause=SENT_UNSYNCED,
        ),
        KnownBreaches(
            where="sync_binlog=0",
            applies=lambda options: options["sync_binlog"] == 0,
            breaks=frozenset(
                {
                    "recovery_decides_by_the_binlog",
                    "gtids_are_not_given_twice",
                    "commits_reach_their_end",
                }
            ),
            because="replicas get what a crash of the source takes back",
            cause=SOURCE_CRASHED,
        ),
        KnownBreaches(
            where="acknowledgements>=members",
            applies=lambda options: int(options["acknowledgements"]) >= int(options["members"]),
            breaks=frozenset({"commits_reach_their_end"}),
            because="more replicas must acknowledge than there are",
            cause=REPLICA_AWAITED,
        ),
        KnownBreaches(
            where="replicas_return=false, replica_crashes>0",
            applies=lambda options: bool(
                options["replica_crashes"] and not options["replicas_return"]
            ),
            breaks=frozenset({"commits_reach_their_end"}),
            because="a wait for a replica that is gone for good ends by a time-out only",
            cause=REPLICA_AWAITED,
        ),
        KnownBreaches(
            where="keeps_relay_log=false, replica_crashes>0",
            applies=lambda options: bool(
                options["replica_crashes"] and not options["keeps_relay_log"]
            ),
            breaks=frozenset(
                {
                    "steps_run_out",
                    "what_was_seen_survives",
                    "what_was_confirmed_survives",
                }
            ),
            because="MDEV-4698: what a replica had acknowledged is thrown away and sent again",
            cause=REPLICA_CRASHED,
        ),
        KnownBreaches(
            where="dump_takes_lock_log=true",
            applies=lambda options: bool(options["dump_takes_lock_log"]),
            breaks=frozenset({"commits_reach_their_end"}),
            because="a group holds LOCK_log until the one before it has its acknowledgement",
            cause=TWO_GROUPS_LOGGED,
            dialects=frozenset({"after_sync", "stock_recovery", "barred_recovery"}),
        ),
        KnownBreaches(
            where="dump_takes_lock_log=true, rotation_waits=true",
            applies=lambda options: bool(
                options["dump_takes_lock_log"] and options["rotation_waits"]
            ),
            breaks=frozenset({"commits_reach_their_end"}),
            because="MySQL bug 44058, point 5: rotation, waiter and dump thread wait in a ring",
            cause=ROTATION_UNDER_WAY,
        ),
    )
    follows = (
        KnownBreaches(
            where="sync_binlog=0",
            applies=lambda options: options["sync_binlog"] == 0,
            breaks=frozenset({"what_was_confirmed_survives", "what_was_seen_survives"}),
            because="a replica that has what a crash of the source took back is promoted without "
            "what came after",
            cause=SOURCE_CRASHED,
        ),
    )
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        "global_mutex": frozenset({"commit_stages_overlap", "stages_follow_the_binary_log"})
    }

    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Run until no step remains."""
        cluster = self.start(workload, dialect, options, recorder)
        members = (SOURCE, *(replica.name for replica in cluster.replicas))
        cluster.run(schedule)
        return members

    def start(
        self,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> Cluster:
        """Return the initial cluster."""
        settings = self.settings(dialect, workload, options)
        clients: list[TransactionId] = []
        for number in range(1, workload.transactions + 1):
            identifier = TransactionId(number)
            write_set = frozenset({f"r{number}"})
            recorder.add(Transaction(id=identifier, session=f"c{number}", write_set=write_set))
            clients.append(identifier)
        replicas = [ReplicaState(f"r{number}") for number in range(1, settings.replicas + 1)]
        return Cluster(settings, recorder, clients, replicas=replicas)

    def settings(
        self, dialect: str, workload: Workload, options: Mapping[str, OptionValue]
    ) -> Settings:
        """Return the resulting settings."""
        wait_point, recovery, staging = DIALECTS[dialect]
        values: dict[str, Any] = {
            "wait_point": wait_point,
            "recovery": recovery,
            "staging": staging,
            **options,
            **self.changes,
        }
        return Settings(
            clients=workload.transactions, replicas=max(1, workload.members - 1), **values
        )


SEMI_SYNC = register_subject(SemiSyncSubject())
