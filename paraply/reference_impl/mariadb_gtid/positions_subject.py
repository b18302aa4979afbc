"""A replica and its position store as a subject."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from paraply.reference_impl.causes import CRASH, HOLE, HOLE_OR_RESTART, OVERLAP, RESTART
from paraply.reference_impl.mariadb_gtid.event_groups import PositionSource
from paraply.reference_impl.mariadb_gtid.position_store import (
    BinlogPosition,
    PositionStore,
    RelayLogInfo,
    SingleRowTable,
)
from paraply.reference_impl.mariadb_gtid.replica import PositionReplica
from paraply.reference_impl.mariadb_gtid.workers import MEMBER, Budget
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import (
    Cause,
    KnownBreaches,
    Option,
    Subject,
    Workload,
    register_subject,
)
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """Position store and log settings."""

    store: type[PositionStore] = PositionStore
    logs_updates: bool = True
    syncs_binlog: bool = True
    has_unsafe_changes: bool = False


METHODS = {
    "table": Method(),
    "table_without_binlog": Method(logs_updates=False),
    "table_unsynced_binlog": Method(syncs_binlog=False),
    "table_with_ddl": Method(has_unsafe_changes=True),
    "single_row": Method(store=SingleRowTable),
    "binlog": Method(store=BinlogPosition),
    "binlog_unsynced": Method(store=BinlogPosition, syncs_binlog=False),
    "binlog_with_ddl": Method(store=BinlogPosition, has_unsafe_changes=True),
    "relay_log_info": Method(store=RelayLogInfo),
}
"""The first is method 2 of the text; method 1 is ``binlog``."""

_TWICE = frozenset({"position_covers_all_that_is_applied", "no_event_is_applied_twice"})
_LOST = frozenset({"position_covers_only_what_is_applied", "no_event_is_lost"})


_READS = frozenset(
    {
        "domains_are_read_in_order",
        "reader_sees_the_middle",
        "readers_see_prefixes",
        "reads_never_go_back",
        "reader_misses_a_later_version",
        "replica_reads_fit_one_order",
    }
)
_CONFLICTS = frozenset(
    {
        "conflicting_transactions_are_applied",
        "no_conflicting_parallel_apply",
        "domains_apply_without_conflict",
    }
)


def _unreachable(name: str, method: Method) -> frozenset[str]:
    found = frozenset() if method.has_unsafe_changes else _CONFLICTS
    if name == "single_row":
        return found | {"one_group_has_two_of_a_domain"}
    is_apart = name in ("binlog", "binlog_unsynced", "binlog_with_ddl", "relay_log_info")
    return found | {"position_rows_never_wait"} if is_apart else found


class PositionsSubject(Subject):
    """A replica with a position store."""

    name = "gtid_positions"
    meaning = "a MariaDB replica that commits in groups, crashes, and starts from its position"
    source = "More on global transaction ID in MariaDB, 2013: crash-safe slave"
    dialects = tuple(METHODS)
    options = (
        Option(name="workers", default=2, least=1, greatest=16, meaning="slave_parallel_threads"),
        Option(name="domains", default=2, least=1, greatest=8, meaning="domains in the log"),
        Option(name="engines", default=1, least=1, greatest=4, meaning="gtid_pos_auto_engines"),
        Option(name="rewinds", default=0, meaning="GTIDs that go back to a smaller number"),
        Option(name="crashes", default=1, meaning="how often the replica crashes"),
        Option(name="stops", default=1, meaning="how often it is stopped and started"),
        Option(name="retries", default=1, meaning="temporary errors"),
        Option(name="failures", default=0, meaning="errors that stop it until it is started"),
        Option(name="reads", default=1, meaning="times that the position is looked at"),
        Option(name="cleanups", default=1, meaning="deletions of old position rows"),
    )
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        "single_row": frozenset({"position_rows_never_wait"}),
        "table_with_ddl": _TWICE,
        "binlog_with_ddl": _TWICE,
        "binlog_unsynced": _TWICE,
        "relay_log_info": _TWICE
        | _LOST
        | {"stop_points_are_prefixes", "recovered_positions_cover_the_synced_log"},
    }
    causes: ClassVar[Mapping[str, Cause]] = {
        **dict.fromkeys(_TWICE, HOLE_OR_RESTART),
        "recovered_positions_cover_the_synced_log": CRASH,
        "position_rows_never_wait": OVERLAP,
        **dict.fromkeys((*_LOST, "stop_points_are_prefixes"), HOLE),
    }
    follows = (
        KnownBreaches(
            where="any options",
            applies=lambda _: True,
            breaks=frozenset(
                {
                    "applied_exactly_once",
                    "replica_ends_in_the_sources_state",
                    "restart_reaches_the_sources_state",
                    "replica_logs_domains_in_order",
                    "domains_commit_in_order",
                    "engine_commits_follow_the_log",
                    "sequences_rise_within_a_domain",
                    "smaller_numbers_are_noticed",
                    "replica_states_existed_on_the_source",
                }
            ),
            because="a start from a wrong position repeats transactions or leaves them out",
            cause=RESTART,
            dialects=frozenset(
                {"table_with_ddl", "binlog_with_ddl", "binlog_unsynced", "relay_log_info"}
            ),
        ),
    )
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        "": _READS,
        **{name: _unreachable(name, method) for name, method in METHODS.items()},
    }

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Run until no step remains."""
        self.replica(schedule, workload, dialect, options, recorder).run(schedule)
        return (MEMBER,)

    def replica(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> PositionReplica:
        """Return a replica at the log's start."""
        method = METHODS[dialect]
        source = PositionSource(
            domains=int(options["domains"]),
            engines=int(options["engines"]),
            has_unsafe_changes=method.has_unsafe_changes,
            rewinds=int(options["rewinds"]),
        )
        log = source.write(schedule, recorder, workload.transactions)
        return PositionReplica(
            log,
            recorder,
            method.store(log),
            Budget(**{name: int(options[name]) for name in Budget.__dataclass_fields__}),
            workers_max=int(options["workers"]),
            logs_updates=method.logs_updates,
            syncs_binlog=method.syncs_binlog,
        )


GTID_POSITIONS = register_subject(PositionsSubject())
