"""Every theorem and refuted statement, by identifier."""

from __future__ import annotations

from paraply.models.claims.claim import (
    LOGGED_VIEWS,
    RECOVERY,
    WORKERS_AFTER_RESTART,
    Counterexample,
    Theorem,
    about,
    corollary,
    smaller_only,
    there_too,
)
from paraply.models.claims.commits.theorems import THEOREMS_OF_COMMITS
from paraply.models.claims.exactly_once.theorems import THEOREMS_OF_EXACTLY_ONCE
from paraply.models.claims.group.theorems import THEOREMS_OF_THE_GROUP
from paraply.models.claims.ourselves.theorems import THEOREMS_ABOUT_OURSELVES
from paraply.models.claims.progress.theorems import THEOREMS_OF_PROGRESS
from paraply.models.claims.refinement.theorems import THEOREMS_OF_REFINEMENT
from paraply.models.claims.refuted import COUNTEREXAMPLES, with_open_snapshots
from paraply.models.systems.variants import (
    variant_of_applier,
    variant_of_certification,
    variant_of_commit_order,
    variant_of_end_to_end,
    variant_of_low_water_mark,
    variant_of_members,
    variant_of_restart,
    variant_of_semi_sync,
    variant_of_tracker,
)

DIALECTS = (
    variant_of_applier(name="wl8440"),
    variant_of_applier(name="mysql_8_0", window="burn"),
    variant_of_applier(name="mysql_8_3", window="burn", logs_view_change=False),
    variant_of_applier(name="mysql_8_4", logs_view_change=False),
)
"""Both safe windows, with and without logged view changes."""


REMEDIES = (
    variant_of_semi_sync(name="semi_sync[waits]"),
    variant_of_semi_sync(name="semi_sync[barred]", recovery="barred"),
)
"""Both remedies of MDEV-162 in crash recovery."""

AFTER_COMMIT = variant_of_semi_sync(
    name="semi_sync[after commit]", after_sync=False, recovery="commits", speaks_of_readers=False
)
"""AFTER_COMMIT with the servers' own recovery. Readers see what no replica has (C14)."""

SOURCES = (*REMEDIES, AFTER_COMMIT)

RESTARTS = (
    variant_of_restart(name="restart"),
    variant_of_restart(name="restart[in order]", commits_in_order=True),
)
"""A replica with GTID auto-skip."""

IN_ONE_DOMAIN = variant_of_restart(name="position", by_position=True, commits_in_order=True)
"""One position, in order."""

END_TO_END = variant_of_end_to_end(name="end_to_end")

ROWS_END_TO_END = variant_of_end_to_end(
    name="end_to_end[rows]", ddl_is_apart=False, speaks_of_tables=False
)
"""The same without A12 and tables."""

_STATED: tuple[Theorem, ...] = (
    Theorem(
        id="P01",
        claim="No conflicting parallel apply: of two transactions that write one row, the later "
        "starts only after the earlier has committed.",
        systems=DIALECTS,
        statements=("conflicting_rows_are_ordered",),
        assumes=("A1",),
        delimited_by=("C03", "C04", "C06"),
        standing=corollary("P59.conflicting_rows_are_ordered", but=LOGGED_VIEWS),
        source="WL#8440 AL1, EX3, EX6",
    ),
    Theorem(
        id="P02",
        claim="A transaction without write set runs beside nothing.",
        systems=DIALECTS,
        statements=("without_write_set_is_alone",),
        assumes=(),
        delimited_by=("C01",),
        standing=corollary("P59.without_write_set_is_alone", but=LOGGED_VIEWS),
        source="WL#8440 EX4",
    ),
    Theorem(
        id="P03",
        claim="A view change is a barrier, on existing members and on joiners.",
        systems=DIALECTS,
        statements=("view_change_is_a_barrier",),
        assumes=(),
        delimited_by=("C05",),
        standing=corollary("P59.first_is_a_barrier", but=LOGGED_VIEWS),
        source="WL#8440 View_change_log_event, EX7",
    ),
    Theorem(
        id="P04",
        claim="LC < SN for every transaction with numbers.",
        systems=DIALECTS,
        statements=("last_committed_is_below",),
        assumes=(),
        delimited_by=("C02",),
        standing=corollary("P59.last_committed_is_below", but=LOGGED_VIEWS),
        source="WL#8440 definitions; ER_RPL_INCONSISTENT_TIMESTAMPS",
    ),
    Theorem(
        id="P05",
        claim="First certified wins: of two certified writers of one row, the later had seen the "
        "earlier; garbage collection changes nothing about it.",
        systems=(
            with_open_snapshots(name="certification[open snapshots]"),
            with_open_snapshots(name="certification[no collection]", collect=False),
        ),
        statements=("first_certified_wins",),
        assumes=("A2",),
        delimited_by=("C07", "C08", "C09"),
        standing=corollary("P58.first_certified_wins"),
        source="WL#8440 trx.LC; Certifier::certify, Certifier::garbage_collect",
    ),
    Theorem(
        id="P06",
        claim="A refused transaction shares a row with a certified one that it had not seen.",
        systems=(
            variant_of_certification(
                name="certification", stable_is_seen=False, speaks_of_winners=False
            ),
        ),
        statements=("refusals_are_deserved",),
        assumes=("A4",),
        delimited_by=("C10",),
        standing=corollary("P58.refusals_are_deserved"),
        source="Certifier::certify",
    ),
    Theorem(
        id="P07",
        claim="Commit order preserved: what has committed on the replica is a prefix of its log.",
        systems=(variant_of_commit_order(name="commit_order"),),
        statements=("commit_order_preserved",),
        assumes=(),
        delimited_by=("C11",),
        standing=there_too("P54.members_show_prefixes"),
        source="WL#8440 session commit order; slave_preserve_commit_order",
    ),
    Theorem(
        id="P08",
        claim="Readers see prefixes: a snapshot that shows a transaction shows all before it.",
        systems=(variant_of_commit_order(name="commit_order"),),
        statements=("readers_see_prefixes",),
        assumes=(),
        delimited_by=("C12",),
        standing=there_too("P54.members_show_prefixes"),
        source="WL#4648 consistency levels",
    ),
    Theorem(
        id="P09",
        claim="Commit order and row locks do not deadlock: the least uncommitted transaction can "
        "always take its next step.",
        systems=(variant_of_commit_order(name="commit_order"),),
        statements=("the_head_is_never_blocked", "the_head_may_start"),
        assumes=("A14",),
        delimited_by=("C13", "C70"),
        standing=smaller_only("the group model states nothing about deadlocks"),
        source="WL#4648 C3; Commit_order_manager",
    ),
    Theorem(
        id="P10",
        claim="No phantom visibility: under AFTER_SYNC, while the wait stands, whatever a client "
        "saw is on the replica, across any number of crashes, if recovered groups wait for it.",
        systems=REMEDIES[:1],
        statements=("no_phantom_visibility",),
        assumes=("A5",),
        delimited_by=("C14", "C15", "C16"),
        standing=there_too("P56.what_readers_see_is_at_others", but=RECOVERY),
        source="MDEV-162",
    ),
    Theorem(
        id="P11",
        claim="An acknowledged client's transaction is on the replica.",
        systems=SOURCES,
        statements=("confirmed_survives",),
        assumes=("A5",),
        delimited_by=("C17", "C137"),
        standing=there_too("P56.what_clients_are_told_is_at_others", but=RECOVERY),
        source="MDEV-162",
    ),
    Theorem(
        id="P12",
        claim="No overtaking: engine commits follow the binary log, through chained mutexes and "
        "across crashes.",
        systems=SOURCES,
        statements=("no_overtaking",),
        assumes=(),
        delimited_by=("C18",),
        standing=about("the commit stages of one source"),
        source="MDEV-162 stages 1 to 4",
    ),
    Theorem(
        id="P13",
        claim="A crash of the source never leaves the replica with more than the source has.",
        systems=SOURCES,
        statements=("replica_is_not_ahead",),
        assumes=(),
        delimited_by=("C19",),
        standing=about("what a crash leaves of one source's binary log"),
        source="MDEV-162; sync_binlog=1",
    ),
    Theorem(
        id="P14",
        claim="Members decide alike, though each collects garbage when it likes: an item because "
        "of which one refuses is there at the other.",
        systems=(variant_of_members(name="members"),),
        statements=("what_a_refuses_b_refuses", "what_b_refuses_a_refuses"),
        assumes=("A2", "A4"),
        delimited_by=("C20", "C67", "C130"),
        standing=smaller_only(
            "the group model decides with one certification info for all members",
        ),
        source="WL#8440 certification; Certifier::garbage_collect",
    ),
    Theorem(
        id="P15",
        claim="WRITESET is never wider than conflicts allow, also across resets of its history.",
        systems=(variant_of_tracker(name="writeset_tracker"),),
        statements=("conflicting_rows_are_ordered",),
        assumes=("A6",),
        delimited_by=("C21", "C22"),
        standing=about("the dependency tracker of one source"),
        source="WL#7165; Writeset_trx_dependency_tracker",
    ),
    Theorem(
        id="P16",
        claim="Galera's depends_seqno with a contiguous mark orders conflicting write sets.",
        systems=(variant_of_tracker(name="galera_depends_seqno", lowers_to_commit_order=False),),
        statements=("conflicting_rows_are_ordered",),
        assumes=(),
        delimited_by=("C23",),
        standing=smaller_only("the group model has no numbers of Galera"),
        source="Galera certification index and apply monitor",
    ),
    Theorem(
        id="P17",
        claim="No transaction is applied twice across any number of crashes, in or out of order.",
        systems=RESTARTS,
        statements=("nothing_is_applied_twice",),
        assumes=("A15",),
        delimited_by=("C24", "C71"),
        standing=there_too("P57.nothing_commits_twice", but=WORKERS_AFTER_RESTART),
        source="WL#8440, applier recovery; GTID auto-skip",
    ),
    Theorem(
        id="P18",
        claim="No transaction is passed over, if recovery begins at or before the first missing.",
        systems=RESTARTS,
        statements=("nothing_is_passed_over",),
        assumes=("A16",),
        delimited_by=("C25", "C72"),
        standing=there_too("P57.nothing_is_passed_over", but=WORKERS_AFTER_RESTART),
        source="WL#8440, applier recovery, EX7",
    ),
    Theorem(
        id="P19",
        claim="The position equals the data at every moment, if it is saved in the transaction and "
        "transactions commit in order.",
        systems=(IN_ONE_DOMAIN,),
        statements=("position_equals_data",),
        assumes=(),
        delimited_by=("C26", "C27"),
        standing=about("positions of an asynchronous MariaDB replica"),
        source="MariaDB global transaction id, rpl_slave_state",
    ),
    Theorem(
        id="P20",
        claim="One position per domain suffices in order: what begins after it loses nothing and "
        "repeats nothing.",
        systems=(IN_ONE_DOMAIN,),
        statements=("nothing_is_applied_twice", "nothing_is_passed_over"),
        assumes=(),
        delimited_by=("C27",),
        standing=about("positions of an asynchronous MariaDB replica"),
        source="MariaDB global transaction id, in-order parallel replication",
    ),
    Theorem(
        id="P21",
        claim="LC is minimal: the window, or the number of a real earlier writer of a common row.",
        systems=DIALECTS,
        statements=("last_committed_is_minimal",),
        assumes=(),
        delimited_by=("C28",),
        standing=corollary("P59.last_committed_is_minimal", but=LOGGED_VIEWS),
        source="WL#8440 AL1 step 3a",
    ),
    Theorem(
        id="P22",
        claim="The coordinator's low-water mark starts only what LC allows.",
        systems=(variant_of_low_water_mark(name="low_water_mark"),),
        statements=("starts_respect_last_committed",),
        assumes=(),
        delimited_by=("C29", "C30"),
        standing=smaller_only("the group model has no queue of the coordinator"),
        source="Mts_submode_logical_clock, Slave_committed_queue::find_lwm",
    ),
    *THEOREMS_OF_COMMITS,
    Theorem(
        id="P31",
        claim="End to end: every change lands on the version that the certified writer before it "
        "left, through certification, collection, joining, sessions, workers and locks.",
        systems=(ROWS_END_TO_END,),
        statements=("changes_land_as_certified",),
        assumes=("A11",),
        delimited_by=("C48", "C49", "C50", "C51", "C52"),
        standing=there_too(
            "P54.changes_land_as_certified",
            "P55.changes_land_as_certified",
            "P55.changes_are_made_on_the_last_version",
            but=LOGGED_VIEWS,
        ),
        source="WL#8440 EX2 (silently fail), EX5, EX7",
    ),
    Theorem(
        id="P32",
        claim="With metadata locks, every change finds its table, and every DDL its definition, as "
        "the certified DDL before it left them.",
        systems=(END_TO_END,),
        statements=("definitions_are_as_certified", "alterations_are_as_certified"),
        assumes=("A11", "A12"),
        delimited_by=("C53", "C54"),
        standing=smaller_only("the group model has no DDL and no metadata locks"),
        source="WL#8440 EX4; metadata locking",
    ),
    Theorem(
        id="P33",
        claim="Members converge: when all that was certified has committed, rows and tables depend "
        "only on the order of certification.",
        systems=(END_TO_END,),
        statements=("members_converge",),
        assumes=("A11", "A12"),
        delimited_by=("C55",),
        standing=there_too("P55.members_agree_in_the_end", but="tables, and logged view changes"),
        source="WL#8440; strong eventual consistency of a group",
    ),
    *THEOREMS_OF_REFINEMENT,
    *THEOREMS_OF_PROGRESS,
    *THEOREMS_ABOUT_OURSELVES,
    *THEOREMS_OF_THE_GROUP,
    *THEOREMS_OF_EXACTLY_ONCE,
)

THEOREMS = tuple(sorted(_STATED, key=lambda entry: int(entry.id[1:])))


def theorem(identifier: str) -> Theorem | Counterexample | None:
    """Return a theorem (``P07``) or counterexample (``C07``)."""
    wanted = identifier.upper()
    entries: tuple[Theorem | Counterexample, ...] = (*THEOREMS, *COUNTEREXAMPLES)
    return next((entry for entry in entries if entry.id == wanted), None)
