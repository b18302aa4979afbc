"""The appliers of WL#4648 as a subject; a dialect is a scheme."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from paraply.reference_impl.applier.commit_order import CommitOrderQueue, NoCommitOrder
from paraply.reference_impl.applier.replica import Budget
from paraply.reference_impl.applier.source_log import RelayLog, SourceSettings
from paraply.reference_impl.causes import (
    CRASH,
    HOLE_OR_CRASH,
    LOCK_WAIT_TIMED_OUT,
    OVERLAP,
    OVERLAP_IN_CONFLICT,
    OVERLAP_IN_SESSION,
    SAVED_AMID,
    SEVERAL_ROWS,
)
from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import (
    Cause,
    KnownBreaches,
    Option,
    Subject,
    Workload,
    register_subject,
)
from paraply.reference_impl.wl4648.coordinator import (
    BlindCoordinator,
    BreakingCoordinator,
    GraphCoordinator,
)
from paraply.reference_impl.wl4648.merging import MERGED_BY_DEFAULT, MergingReplica
from paraply.reference_impl.wl4648.parts import RowsReplica, SerializableRowsReplica, TableReplica
from paraply.reference_impl.wl4648.recovery import CommitWatermark, WatermarkAsWritten
from paraply.reference_impl.wl4648.replica import JobReplica
from paraply.reference_impl.wl4648.source import RowSource
from paraply.reference_impl.wl4648.stores import ReentrantStore, TimestampStore
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import TransactionId

MEMBER = "r1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """The parts of a scheme."""

    meaning: str
    replica: type[JobReplica] = JobReplica
    coordinator: type[BlindCoordinator] = BlindCoordinator
    commit_order: type[CommitOrderQueue] = NoCommitOrder
    store: type[ReentrantStore] = ReentrantStore


C1 = CommitOrderQueue

SCHEMES = {
    "c3_c1": Scheme(
        meaning="C3, and commits in the source's order",
        coordinator=GraphCoordinator,
        commit_order=C1,
    ),
    "c0": Scheme(meaning="a blind eye on conflicts"),
    "c0_timestamp": Scheme(
        meaning="C0, an older change of a row is discarded", store=TimestampStore
    ),
    "c1": Scheme(meaning="commits in the source's order, no notion of conflict", commit_order=C1),
    "c2": Scheme(
        meaning="a break at the first conflict, until all before it have committed",
        coordinator=BreakingCoordinator,
    ),
    "c2_c1": Scheme(
        meaning="C2, and commits in the source's order",
        coordinator=BreakingCoordinator,
        commit_order=C1,
    ),
    "c3": Scheme(meaning="a row event waits for its predecessor", coordinator=GraphCoordinator),
    "c4": Scheme(
        meaning="small transactions merged into one job, served by C3",
        replica=MergingReplica,
        coordinator=GraphCoordinator,
    ),
    "c4_c1": Scheme(
        meaning="C4 served by C1: no notion of conflict between jobs",
        replica=MergingReplica,
        commit_order=C1,
    ),
    "c4_c2": Scheme(
        meaning="C4 served by C2", replica=MergingReplica, coordinator=BreakingCoordinator
    ),
    "p2": Scheme(meaning="a worker per table, parts commit apart", replica=TableReplica),
    "p3": Scheme(
        meaning="rows hashed to workers, two-phase commit, snapshot reads", replica=RowsReplica
    ),
    "p3_serializable": Scheme(
        meaning="P3, local reads are SERIALIZABLE", replica=SerializableRowsReplica
    ),
}
"""C3 with C1 comes first: it guarantees most."""

_READS = frozenset({"readers_see_prefixes", "replica_reads_fit_one_order"})
_STATES = _READS | {"replica_states_existed_on_the_source"}
_RESTART = frozenset({"applied_exactly_once", "reads_never_go_back"}) | _STATES
_NO_ORDER = _RESTART | {"engine_commits_follow_the_log", "sessions_keep_their_order"}
_GIVES_UP = frozenset(
    {
        "rows_apply_as_logged",
        "applier_does_not_give_up",
        "sound_log_never_fails",
    }
)
_CONFLICTS = _GIVES_UP | {"no_conflicting_parallel_apply"}
_NEVER_ENDS = frozenset(
    {
        "applier_reaches_the_end",
        "replica_never_stalls",
        "replica_ends_in_the_sources_state",
        "restart_reaches_the_sources_state",
    }
)


class Wl4648Subject(Subject):
    """A replica of a scheme."""

    name = "wl4648"
    meaning = "the prototype for multi-threaded apply of rows: P1 with C0 to C4, P2, P3"
    source = "WL#4648"
    dialects = tuple(SCHEMES)
    options = (
        Option(name="workers", default=2, meaning="|W|; 0: the coordinator applies by itself"),
        Option(name="conflicts", default=True, meaning="transactions write rows of others"),
        Option(name="deletes", default=True, meaning="rows are deleted and inserted again"),
        Option(
            name="exec_mode",
            default="strict",
            meaning="slave_exec_mode: strict or idempotent",
            choices=("strict", "idempotent"),
        ),
        Option(
            name="watermark",
            default="exact",
            meaning="the longest committed prefix, or the formula of the pseudo-code",
            choices=("exact", "as_written"),
        ),
        Option(
            name="merged",
            default=MERGED_BY_DEFAULT,
            least=1,
            meaning="C4: small transactions of a job, at most",
        ),
        Option(name="sessions", default=2, least=1, meaning="client sessions at the source"),
        Option(name="reads", default=2, meaning="snapshots that a reader takes"),
        Option(name="crashes", default=0, meaning="how often the replica crashes"),
        Option(name="checkpoints", default=0, meaning="how often rli info may be updated"),
    )
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        "c3_c1": _RESTART,
        "c0": _NO_ORDER
        | _CONFLICTS
        | _NEVER_ENDS
        | {"gap_free_states_are_the_sources", "final_state_is_the_sources"},
        "c0_timestamp": _NO_ORDER | _NEVER_ENDS | {"no_conflicting_parallel_apply"},
        "c1": _RESTART | _NEVER_ENDS | _GIVES_UP,
        "c2": _NO_ORDER,
        "c2_c1": _RESTART,
        "c3": _NO_ORDER,
        "c4": _NO_ORDER,
        "c4_c1": _RESTART | _NEVER_ENDS | _GIVES_UP,
        "c4_c2": _NO_ORDER,
        "p2": _NO_ORDER
        | {"no_conflicting_parallel_apply", "parts_are_shown_when_all_rows_are_changed"},
        "p3": _RESTART,
        "p3_serializable": (_RESTART - _READS)
        | (_NEVER_ENDS - {"applier_reaches_the_end", "replica_never_stalls"})
        | {"applier_does_not_give_up", "sound_log_never_fails"},
    }
    causes: ClassVar[Mapping[str, Cause]] = {
        **dict.fromkeys(_STATES, HOLE_OR_CRASH),
        "reads_never_go_back": HOLE_OR_CRASH,
        "applied_exactly_once": CRASH,
        "restart_reaches_the_sources_state": CRASH,
        **dict.fromkeys(
            _CONFLICTS | (_NEVER_ENDS - {"restart_reaches_the_sources_state"}), OVERLAP_IN_CONFLICT
        ),
        "gap_free_states_are_the_sources": OVERLAP_IN_CONFLICT,
        "final_state_is_the_sources": OVERLAP_IN_CONFLICT,
        "engine_commits_follow_the_log": OVERLAP,
        "sessions_keep_their_order": OVERLAP_IN_SESSION,
        "parts_are_shown_when_all_rows_are_changed": SEVERAL_ROWS,
    }
    # A local reader has the row.
    causes_in: ClassVar[Mapping[str, Mapping[str, Cause]]] = {
        "p3_serializable": dict.fromkeys(
            (
                "applier_does_not_give_up",
                "sound_log_never_fails",
                "replica_ends_in_the_sources_state",
            ),
            LOCK_WAIT_TIMED_OUT,
        )
    }
    breaks_where = (
        KnownBreaches(
            where="watermark=as_written, checkpoints>0",
            applies=lambda options: bool(
                options["watermark"] == "as_written" and options["checkpoints"]
            ),
            breaks=frozenset({"saved_positions_are_executed"}),
            because="the formula of the pseudo-code counts what was given to workers",
            cause=SAVED_AMID,
        ),
    )
    follows = (
        KnownBreaches(
            where="watermark=as_written, checkpoints>0, crashes>0",
            applies=lambda options: options["watermark"] == "as_written",
            breaks=frozenset(
                {
                    "no_conflicting_parallel_apply",
                    "rows_apply_as_logged",
                    "applied_exactly_once",
                    "final_state_is_the_sources",
                    "gap_free_states_are_the_sources",
                    "applier_does_not_give_up",
                    "sound_log_never_fails",
                }
            )
            | _NEVER_ENDS
            | _NO_ORDER,
            because="after a crash, transactions are left out that the position covers",
            cause=CRASH,
        ),
        KnownBreaches(
            where="p3_serializable, crashes>0",
            applies=lambda options: bool(options["crashes"]),
            breaks=_READS,
            because="a restart shows old rows beside newer ones",
            cause=CRASH,
            dialects=frozenset({"p3_serializable"}),
        ),
    )

    # P3 distributes a transaction when the one before has ended.
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        name: frozenset({"a_job_has_several_transactions"})
        | ({"a_coordinator_runs_ahead_of_its_workers"} if name.startswith("p3") else set())
        for name, scheme in SCHEMES.items()
        if scheme.replica is not MergingReplica
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
        source = RowSource(
            workload.row_names,
            DIALECTS["wl8440"],
            SourceSettings(
                barriers=False,
                rotations=0,
                collections=0,
                view_changes=0,
                sessions=int(options["sessions"]),
            ),
        )
        source.conflicts, source.deletes = bool(options["conflicts"]), bool(options["deletes"])
        log = source.execute(schedule, recorder, workload.transactions)
        self.replica(log, workload, dialect, options, recorder).run(schedule)
        return (MEMBER,)

    def replica(
        self,
        log: RelayLog,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> JobReplica:
        """Return a replica at the log's start."""
        scheme = SCHEMES[dialect]
        is_exact = options["watermark"] == "exact"
        workers = int(options["workers"])
        store = scheme.store(workload.row_names)
        if options["exec_mode"] == "idempotent":
            store.reentrant_up_to = TransactionId(2**63)
        replica = scheme.replica(
            log,
            recorder,
            store=store,
            coordinator=lambda: scheme.coordinator(workers),
            commit_order=scheme.commit_order,
            recovery=CommitWatermark() if is_exact else WatermarkAsWritten(),
            workers=workers,
            budget=Budget(
                reads=int(options["reads"]),
                crashes=int(options["crashes"]),
                checkpoints=int(options["checkpoints"]),
            ),
            extra_locks={},
        )
        if isinstance(replica, MergingReplica):
            replica.merged = int(options["merged"])
        return replica


WL4648 = register_subject(Wl4648Subject())
