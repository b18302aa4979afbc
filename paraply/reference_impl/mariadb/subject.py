"""MariaDB's parallel modes as one subject: a dialect is a mode with a domain rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from paraply.reference_impl.applier.row_store import RowStore
from paraply.reference_impl.causes import (
    HOLE,
    IRREVERSIBLE,
    OVERLAP,
    OVERLAP_IN_CONFLICT,
    OVERLAP_WITH_COMMIT,
    UNDONE,
    UNDONE_BETWEEN_DOMAINS,
)
from paraply.reference_impl.mariadb.driver import MEMBER, Settings
from paraply.reference_impl.mariadb.modes import Mode, Rules
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mariadb.source import GroupCommitSource, GroupSettings
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
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A mode with a domain rule."""

    mode: Mode
    domains: str = "one"
    non_transactional: int = 0


DIALECTS = {
    "optimistic": Dialect(mode=Mode.OPTIMISTIC),
    "conservative": Dialect(mode=Mode.CONSERVATIVE),
    "aggressive": Dialect(mode=Mode.AGGRESSIVE),
    "minimal": Dialect(mode=Mode.MINIMAL),
    "none": Dialect(mode=Mode.NONE),
    "optimistic_by_schema": Dialect(mode=Mode.OPTIMISTIC, domains="schema"),
    "conservative_by_schema": Dialect(mode=Mode.CONSERVATIVE, domains="schema"),
    "minimal_by_schema": Dialect(mode=Mode.MINIMAL, domains="schema"),
    "optimistic_long_running": Dialect(mode=Mode.OPTIMISTIC, domains="long_running"),
    "aggressive_non_transactional": Dialect(mode=Mode.AGGRESSIVE, non_transactional=2),
    "conservative_non_transactional": Dialect(mode=Mode.CONSERVATIVE, non_transactional=2),
}
"""The default comes first (since 10.5)."""


_SPECULATION = frozenset({"rows_apply_as_logged", "commit_groups_never_overlap"})
_MARKS = frozenset({"marked_transactions_wait_for_all_before"})
"""Marks matter only in optimistic; otherwise the barrier opens at commit *start*."""
_SEEN_AT_ONCE = frozenset(
    {
        "irreversible_changes_wait_for_all_before",
        "domains_commit_in_order",
        "domains_are_read_in_order",
        "engine_commits_follow_the_log",
        "readers_see_prefixes",
        "reads_never_go_back",
    }
)
"""Non-transactional changes are visible before the commit."""

_ONE_DOMAIN = frozenset({"domains_overtake_each_other"})
_NO_SPECULATION = frozenset(
    {
        "a_row_change_fails_in_an_attempt",
        "row_errors_end_the_attempt",
        "speculation_meets_a_conflict",
    }
)
"""Row changes fail only where transactions run ahead of those that they conflict with."""
_ONE_AT_A_TIME = (
    _NO_SPECULATION
    | _ONE_DOMAIN
    | {
        "attempt_is_killed_for_an_earlier_one",
        "only_later_transactions_are_killed",
        "commit_start_is_revoked",
        "waiting_transaction_joins_the_group",
        "waiting_costs_no_sync",
    }
)
_IN_ORDER = frozenset({"replica_has_a_gap", "gap_free_states_are_the_sources"})
_NOTHING_BESIDE = _ONE_AT_A_TIME | {
    "a_commit_group_overlaps",
    "conflicting_transactions_are_applied",
    "domains_apply_without_conflict",
    "domains_commit_in_order",
    "domains_keep_their_worker_limit",
    "engine_commits_follow_the_log",
    "error_meets_later_transactions",
    "no_conflicting_parallel_apply",
    "nothing_after_an_error_is_applied",
    "one_group_has_two_of_a_domain",
    "two_transactions_overlap",
}


class ParallelModesSubject(Subject):
    """A replica in one of the modes."""

    name = "mariadb_parallel"
    meaning = "a MariaDB replica: parallel modes, batches, speculation, group commit, domains"
    source = "slave_parallel_mode; sql/rpl_parallel.cc; MariaDB GTID, in-order and out-of-order"
    dialects = tuple(DIALECTS)
    options = (
        Option(
            name="workers",
            default=3,
            greatest=64,
            meaning="slave_parallel_threads; 0: as mode none",
        ),
        Option(
            name="domain_workers",
            default=0,
            greatest=64,
            meaning="slave_domain_parallel_threads; 0: the whole pool",
        ),
        Option(name="queued_max", default=2, least=1, meaning="groups in a worker's queue"),
        Option(name="retries_max", default=10, meaning="slave_transaction_retries"),
        Option(name="ddl", default=1, meaning="DDLs in the log, at most"),
        Option(
            name="marks",
            default=1,
            meaning="transactions with WAITED or without ALLOW_PARALLEL, at most",
        ),
        Option(name="restarts", default=0, meaning="restarts of the source: commit ids repeat"),
        Option(name="commit_groups", default=True, meaning="the source commits in groups"),
        Option(
            name="extra_locks",
            default="domain",
            choices=("none", "domain", "any"),
            meaning="locks beside the rows written: of rows of the domain, or of any",
        ),
        Option(
            name="eager",
            default=False,
            meaning="begin and queue without asking when: fewer runs to enumerate",
        ),
        Option(name="reads", default=1, meaning="snapshots that a reader takes"),
        Option(name="stops", default=1, meaning="STOP SLAVE, and START SLAVE after it"),
        Option(name="failures", default=0, meaning="errors from outside that stop the replica"),
        Option(name="timeouts", default=0, meaning="lock wait timeouts"),
    )

    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        "optimistic": _SPECULATION,
        "conservative": _MARKS,
        "aggressive": _SPECULATION | _MARKS,
        "minimal": _MARKS,
        "optimistic_by_schema": _SPECULATION,
        "conservative_by_schema": _MARKS,
        "minimal_by_schema": _MARKS,
        "optimistic_long_running": _SPECULATION,
        "aggressive_non_transactional": _SPECULATION | _MARKS,
        "conservative_non_transactional": _MARKS | _SEEN_AT_ONCE,
    }
    causes: ClassVar[Mapping[str, Cause]] = {
        "rows_apply_as_logged": OVERLAP_IN_CONFLICT,
        "commit_groups_never_overlap": OVERLAP,
        "marked_transactions_wait_for_all_before": OVERLAP_WITH_COMMIT,
        **dict.fromkeys(_SEEN_AT_ONCE, IRREVERSIBLE),
    }
    # They ignore marks.
    causes_in: ClassVar[Mapping[str, Mapping[str, Cause]]] = {
        name: {"marked_transactions_wait_for_all_before": OVERLAP}
        for name, one in DIALECTS.items()
        if one.mode is Mode.AGGRESSIVE
    }
    breaks_where = (
        KnownBreaches(
            where="retries_max=0",
            applies=lambda options: options["retries_max"] == 0,
            breaks=frozenset(
                {
                    "sound_log_never_fails",
                    "applier_does_not_give_up",
                }
            ),
            because="a transaction that is killed for an earlier one is never tried again",
            cause=UNDONE,
            dialects=frozenset(DIALECTS) - {"none", "minimal", "minimal_by_schema"},
        ),
    )
    follows = (
        KnownBreaches(
            where="retries_max>0, several domains",
            applies=lambda options: int(options["retries_max"]) > 0,
            breaks=frozenset({"replica_ends_in_the_sources_state"}),
            because="domains have no common order of commits, which would end a circle of rows",
            cause=UNDONE_BETWEEN_DOMAINS,
            dialects=frozenset(name for name, one in DIALECTS.items() if one.domains != "one"),
        ),
        KnownBreaches(
            where="retries_max=0",
            applies=lambda options: options["retries_max"] == 0,
            breaks=frozenset(
                {
                    "replica_ends_in_the_sources_state",
                    "nothing_after_an_error_is_applied",
                }
            ),
            because="a transaction that is killed for an earlier one is never tried again",
            cause=UNDONE,
        ),
        KnownBreaches(
            where="any options",
            applies=lambda _: True,
            breaks=frozenset(
                {
                    "replica_states_existed_on_the_source",
                }
            ),
            because="a change without transaction is there when it is executed",
            cause=HOLE,
            dialects=frozenset({"conservative_non_transactional", "aggressive_non_transactional"}),
        ),
    )
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        # No crash, no client sessions; LC and SN do not define conflicts; who waits kills.
        "": frozenset(
            {
                "starts_respect_last_committed",
                "sessions_keep_their_order",
                "replica_crashes_midway",
                "saved_positions_are_executed",
                "crash_finds_a_transaction_half_done",
                "position_rows_never_wait",
                "commit_order_rolls_a_transaction_back",
            }
        ),
        "optimistic": _ONE_DOMAIN | _IN_ORDER,
        "conservative": _ONE_DOMAIN | _NO_SPECULATION | _IN_ORDER,
        "aggressive": _ONE_DOMAIN | _IN_ORDER,
        "minimal": _ONE_AT_A_TIME | _IN_ORDER,
        "none": _NOTHING_BESIDE | _IN_ORDER,
        "conservative_by_schema": _NO_SPECULATION,
        "minimal_by_schema": _ONE_AT_A_TIME,
        "aggressive_non_transactional": _ONE_DOMAIN,
        "conservative_non_transactional": _ONE_DOMAIN | _NO_SPECULATION,
    }

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Apply a source's log."""
        rules = DIALECTS[dialect]
        source = GroupCommitSource(
            workload.row_names,
            GroupSettings(
                domains=rules.domains,
                non_transactional=rules.non_transactional,
                ddl=int(options["ddl"]),
                marks=int(options["marks"]),
                restarts=int(options["restarts"]),
                commit_groups=bool(options["commit_groups"]),
            ),
        )
        log = source.write(schedule, recorder, workload.transactions)
        locks = extra_locks(schedule, log, workload, str(options["extra_locks"]))
        self.replica(log, workload, dialect, options, recorder, locks).run(schedule)
        return (MEMBER,)

    def replica(
        self,
        log: Sequence[Transaction],
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
        locks: dict[TransactionId, Item] | None = None,
    ) -> ParallelReplica:
        """Return a replica with its log."""
        mode, workers = DIALECTS[dialect].mode, int(options["workers"])
        numbers = (
            "domain_workers",
            "queued_max",
            "retries_max",
            "reads",
            "stops",
            "failures",
            "timeouts",
        )
        return ParallelReplica(
            log,
            recorder,
            Settings(
                # Without a pool the driver applies everything in every mode.
                rules=Rules(mode if workers else Mode.NONE),
                workers=max(1, workers),
                is_eager=bool(options["eager"]),
                **{name: int(options[name]) for name in numbers},
            ),
            store=RowStore(workload.row_names),
            extra_locks=locks,
        )


def extra_locks(
    schedule: Schedule, log: Sequence[Transaction], workload: Workload, rule: str
) -> dict[TransactionId, Item]:
    """Choose an extra row lock, or none, per transaction.

    The write sets omit such a lock (of a secondary or replica-only index), so members of one commit
    group may block each other.
    """
    chosen: dict[TransactionId, Item] = {}
    if rule == "none":
        return chosen
    rows_of: dict[int | None, set[Item]] = {}
    for one in log:
        rows_of.setdefault(one.domain, set()).update(one.write_set)
    for one in log:
        if one.rows:
            rows = rows_of[one.domain] if rule == "domain" else set(workload.row_names)
            item = schedule.choose(["", *sorted(map(str, rows - one.write_set))], "extra lock")
            if item:
                chosen[one.id] = item
    return chosen


MARIADB_PARALLEL = register_subject(ParallelModesSubject())
