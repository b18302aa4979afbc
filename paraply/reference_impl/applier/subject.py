"""The parallel applier as a subject under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from paraply.reference_impl.applier.commit_order import CommitOrderQueue, NoCommitOrder
from paraply.reference_impl.applier.coordinator import Database, LogicalClock
from paraply.reference_impl.applier.recovery import GtidRecovery, Recovery
from paraply.reference_impl.applier.replica import Budget, Replica
from paraply.reference_impl.applier.row_store import RowStore
from paraply.reference_impl.applier.sleeping import SleepingReplica
from paraply.reference_impl.applier.source_log import Source, SourceSettings
from paraply.reference_impl.causes import (
    BARRIER,
    HOLE,
    OVERLAP,
    RETRIES_USED_UP,
    STAMPED_WITH_NEXT,
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
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item

MEMBER = "r1"
_BY_CLOCK = frozenset({"logical_clock", "logical_clock_unordered", "prompt_logical_clock"})


def _breaches_of_al1(
    *breaks: str,
    because: str,
    cause: Cause,
    dialects: frozenset[str] = frozenset(),
) -> KnownBreaches:
    """Return what breaks if the log has the stamps of AL1 as written."""
    return KnownBreaches(
        where="stamps=wl8440_literal",
        applies=lambda options: options["stamps"] == "wl8440_literal",
        breaks=frozenset(breaks),
        because=because,
        cause=cause,
        dialects=dialects,
    )


class ApplierSubject(Subject):
    """A replica; the dialect is its scheduling.

    A prompt coordinator takes each step as soon as it can; otherwise the schedule delays it.
    """

    name = "applier"
    meaning = "a multi-threaded replica: coordinator, workers, commit order, crash recovery"
    source = "WL#8440, WL#7165"
    dialects = (
        "logical_clock",
        "logical_clock_unordered",
        "database",
        "database_unordered",
        "prompt_logical_clock",
    )
    options = (
        Option(name="workers", default=2, least=1, meaning="replica_parallel_workers"),
        Option(
            name="stamps",
            default="mysql_8_0",
            meaning="dialect of the LC/SN in the log",
            choices=tuple(DIALECTS),
        ),
        Option(
            name="barriers", default=True, small=False, meaning="log transactions without write set"
        ),
        Option(
            name="rotations",
            default=1,
            small=0,
            meaning="new files of the source's and the relay log",
        ),
        Option(
            name="collections", default=1, small=0, meaning="garbage collections that open windows"
        ),
        Option(name="view_changes", default=0, meaning="view changes of a group in the log"),
        Option(
            name="sessions", default=2, small=1, least=1, meaning="client sessions at the source"
        ),
        Option(name="extra_locks", default=False, meaning="lock rows beside those written"),
        Option(
            name="recovery",
            default="gtid",
            meaning="after a crash: gtid or positions",
            choices=("gtid", "positions"),
        ),
        Option(
            name="sleeps",
            default=False,
            meaning="the coordinator sleeps until a worker signals, instead of looking again",
        ),
        Option(name="reads", default=2, small=0, meaning="snapshots that a reader takes"),
        Option(name="crashes", default=0, meaning="how often the replica crashes"),
        Option(name="checkpoints", default=0, meaning="how often the position is saved"),
        Option(
            name="reconnects",
            default=0,
            meaning="receivers killed, or sent elsewhere by CHANGE MASTER, within a transaction",
        ),
    )
    _out_of_order = frozenset(
        {
            "engine_commits_follow_the_log",
            "sessions_keep_their_order",
            "readers_see_prefixes",
            "reads_never_go_back",
        }
    )
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        "logical_clock_unordered": _out_of_order,
        # DATABASE ignores LC and SN safely: conflicts stay in one worker.
        "database": frozenset({"starts_respect_last_committed"}),
        "database_unordered": _out_of_order | {"starts_respect_last_committed"},
    }
    breaks_where = (
        _breaches_of_al1(
            "no_conflicting_parallel_apply",
            "rows_apply_as_logged",
            "replica_ends_in_the_sources_state",
            because="step 1 of AL1 lets transactions without write set overlap with what is before "
            "them; the applier keeps to the log it is given",
            cause=BARRIER,
            dialects=_BY_CLOCK,
        ),
        _breaches_of_al1(
            "logged_numbers_rise_above_last_committed",
            because="the text raises last_committed to the number that it gives next",
            cause=STAMPED_WITH_NEXT,
        ),
    )
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        # An error ends the run.
        "": frozenset(
            {
                "nothing_after_an_error_is_applied",
                "restart_repeats_a_transaction",
                "restart_reaches_the_sources_state",
            }
        ),
        **dict.fromkeys(
            ("logical_clock", "database", "prompt_logical_clock"),
            frozenset({"replica_has_a_gap", "gap_free_states_are_the_sources"}),
        ),
    }
    causes: ClassVar[Mapping[str, Cause]] = {
        **dict.fromkeys(_out_of_order, HOLE),
        "starts_respect_last_committed": OVERLAP,
    }
    follows = (
        KnownBreaches(
            where="any options",
            applies=lambda _: True,
            breaks=frozenset({"replica_states_existed_on_the_source"}),
            because="workers commit in any order, as readers see",
            cause=HOLE,
            dialects=frozenset({"logical_clock_unordered", "database_unordered"}),
        ),
        _breaches_of_al1(
            "applier_does_not_give_up",
            "restart_reaches_the_sources_state",
            "sound_log_never_fails",
            because="a transaction that overlaps with one before may not find the row it changes",
            cause=BARRIER,
            dialects=_BY_CLOCK,
        ),
        KnownBreaches(
            where="extra_locks=true",
            applies=lambda options: bool(options["extra_locks"]),
            breaks=frozenset(
                {
                    "applier_does_not_give_up",
                    "replica_ends_in_the_sources_state",
                    "restart_reaches_the_sources_state",
                    "sound_log_never_fails",
                }
            ),
            because="the latest of a circle of row waits is undone and tries again at once; a "
            "schedule that lets the others sleep uses up its retries",
            cause=RETRIES_USED_UP,
            dialects=frozenset({"logical_clock_unordered", "database_unordered"}),
        ),
    )

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Apply a source's log."""
        self.replica(schedule, workload, dialect, options, recorder).run(schedule)
        return (MEMBER,)

    def replica(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> Replica:
        """Return a replica at the start of a source's log."""
        source = Source(
            workload.row_names,
            DIALECTS[str(options["stamps"])],
            SourceSettings(
                barriers=bool(options["barriers"]),
                rotations=int(options["rotations"]),
                collections=int(options["collections"]),
                sessions=int(options["sessions"]),
                view_changes=int(options["view_changes"]),
                reconnects=int(options["reconnects"]),
            ),
        )
        log = source.execute(schedule, recorder, workload.transactions)
        locks = extra_locks(schedule, workload, recorder) if options["extra_locks"] else {}
        kind = SleepingReplica if options["sleeps"] else Replica
        return kind(
            log,
            recorder,
            store=RowStore(workload.row_names),
            coordinator=LogicalClock if "logical_clock" in dialect else Database,
            commit_order=NoCommitOrder if dialect.endswith("_unordered") else CommitOrderQueue,
            recovery=GtidRecovery() if options["recovery"] == "gtid" else Recovery(),
            workers=int(options["workers"]),
            budget=Budget(
                reads=int(options["reads"]),
                crashes=int(options["crashes"]),
                checkpoints=int(options["checkpoints"]),
            ),
            extra_locks=locks,
            is_prompt=dialect.startswith("prompt_"),
        )


def extra_locks(
    schedule: Schedule, workload: Workload, recorder: Recorder
) -> dict[TransactionId, Item]:
    """Choose at most one extra lock per transaction."""
    chosen: dict[TransactionId, Item] = {}
    for transaction in recorder.transactions:
        others: list[str] = [r for r in workload.row_names if r not in transaction.write_set]
        row = schedule.choose(["", *others], "extra lock")
        if row:
            chosen[transaction.id] = row
    return chosen


APPLIER = register_subject(ApplierSubject())


def apply(schedule: Schedule, **options: OptionValue) -> History:
    """Run the applier's default workload."""
    return APPLIER.run(schedule, Workload(options=options))
