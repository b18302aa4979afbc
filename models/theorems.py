"""Every theorem and every refuted statement, by its identifier.

A theorem is a claim about one or more systems, and the faulty systems (mutants) that show that the
proof could have failed: each has a statement that is false in it and a scope in which the shortest
run that breaks it is found. Names of claims are those of ``properties`` where both judge one thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from models import applier, certification, commit_order, semi_sync
from models.concrete import Scope
from models.system import System


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A statement that is false in a faulty system, with the length of the shortest run."""

    id: str
    title: str
    system: Callable[[], System]
    statement: str
    scope: Scope
    steps: int
    """Length of the shortest run: found at this depth, and at no smaller one."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """A claim, proved by induction for any number of transactions, rows and steps."""

    id: str
    claim: str
    systems: tuple[Callable[[], System], ...]
    statements: tuple[str, ...]
    assumes: tuple[str, ...]
    delimited_by: tuple[str, ...]
    """Counterexamples that show what breaks without an assumption or a guard."""
    source: str


def _applier(**switches: object) -> Callable[[], System]:
    return lambda: applier.parallel_applier(applier.Dialect(**switches))  # type: ignore[arg-type]


def _certification(**switches: object) -> Callable[[], System]:
    return lambda: certification.certification(certification.Rules(**switches))  # type: ignore[arg-type]


def _commit_order(**switches: object) -> Callable[[], System]:
    return lambda: commit_order.commit_order(commit_order.Rules(**switches))  # type: ignore[arg-type]


def _semi_sync(**switches: object) -> Callable[[], System]:
    return lambda: semi_sync.semi_sync(semi_sync.Rules(**switches))  # type: ignore[arg-type]


DIALECTS = (_applier(name="wl8440"), _applier(name="mysql_8_0", window="burn"))
"""Both safe readings of the window after garbage collection."""

REMEDIES = (
    _semi_sync(name="semi_sync[waits]"),
    _semi_sync(name="semi_sync[barred]", recovery="barred"),
)
"""Both remedies of MDEV-162 for the hole in crash recovery."""

THEOREMS = (
    Theorem(
        id="P01",
        claim="No conflicting parallel apply: of two transactions that write one row, the later "
        "starts only after the earlier has committed.",
        systems=DIALECTS,
        statements=("conflicting_rows_are_ordered",),
        assumes=("A1",),
        delimited_by=("C03", "C04", "C06"),
        source="WL#8440 AL1, EX3, EX6",
    ),
    Theorem(
        id="P02",
        claim="A transaction without write set runs beside nothing.",
        systems=DIALECTS,
        statements=("without_write_set_is_alone",),
        assumes=(),
        delimited_by=("C01",),
        source="WL#8440 EX4",
    ),
    Theorem(
        id="P03",
        claim="A view change is a barrier, on existing members and on joiners.",
        systems=DIALECTS,
        statements=("view_change_is_a_barrier",),
        assumes=(),
        delimited_by=("C05",),
        source="WL#8440 View_change_log_event, EX7",
    ),
    Theorem(
        id="P04",
        claim="LC < SN for every transaction that bears numbers.",
        systems=DIALECTS,
        statements=("last_committed_is_below",),
        assumes=(),
        delimited_by=("C02",),
        source="WL#8440 definitions; ER_RPL_INCONSISTENT_TIMESTAMPS",
    ),
    Theorem(
        id="P05",
        claim="First certified wins: of two certified writers of one row, the later had seen the "
        "earlier; garbage collection changes nothing about it.",
        systems=(
            _certification(name="certification"),
            _certification(name="certification[no collection]", collect=False),
        ),
        statements=("first_certified_wins",),
        assumes=("A2", "A4"),
        delimited_by=("C07", "C08", "C09"),
        source="WL#8440 trx.LC; Certifier::certify, Certifier::garbage_collect",
    ),
    Theorem(
        id="P06",
        claim="A refused transaction shares a row with a certified one that it had not seen.",
        systems=(_certification(name="certification"),),
        statements=("refusals_are_deserved",),
        assumes=("A2", "A4"),
        delimited_by=("C10",),
        source="Certifier::certify",
    ),
    Theorem(
        id="P07",
        claim="Commit order preserved: what has committed on the replica is a prefix of its log.",
        systems=(_commit_order(name="commit_order"),),
        statements=("commit_order_preserved",),
        assumes=(),
        delimited_by=("C11",),
        source="WL#8440 session commit order; slave_preserve_commit_order",
    ),
    Theorem(
        id="P08",
        claim="Readers see prefixes: a snapshot that shows a transaction shows all before it.",
        systems=(_commit_order(name="commit_order"),),
        statements=("readers_see_prefixes",),
        assumes=(),
        delimited_by=("C12",),
        source="WL#4648 consistency levels",
    ),
    Theorem(
        id="P09",
        claim="Commit order and row locks do not deadlock: the least uncommitted transaction can "
        "always take its next step.",
        systems=(_commit_order(name="commit_order"),),
        statements=("the_head_is_never_blocked", "the_head_may_start"),
        assumes=(),
        delimited_by=("C13",),
        source="WL#4648 C3; Commit_order_manager",
    ),
    Theorem(
        id="P10",
        claim="No phantom visibility: under AFTER_SYNC, while the wait stands, whatever a client "
        "saw is on the replica, across any number of crashes with either remedy.",
        systems=REMEDIES,
        statements=("no_phantom_visibility",),
        assumes=("A5",),
        delimited_by=("C14", "C15", "C16"),
        source="MDEV-162",
    ),
    Theorem(
        id="P11",
        claim="An acknowledged client's transaction is on the replica.",
        systems=REMEDIES,
        statements=("confirmed_survives",),
        assumes=("A5",),
        delimited_by=("C17",),
        source="MDEV-162",
    ),
    Theorem(
        id="P12",
        claim="No overtaking: engine commits follow the binary log, through chained mutexes and "
        "across crashes.",
        systems=REMEDIES,
        statements=("no_overtaking",),
        assumes=(),
        delimited_by=("C18",),
        source="MDEV-162 stages 1 to 4",
    ),
    Theorem(
        id="P13",
        claim="A crash of the source never leaves the replica with more than the source has.",
        systems=REMEDIES,
        statements=("replica_is_not_ahead",),
        assumes=(),
        delimited_by=("C19",),
        source="MDEV-162; sync_binlog=1",
    ),
)

SMALL = Scope(high=3, size=1)
"""Three positions and one row: enough for a pair that conflicts and one more."""

COUNTEREXAMPLES = (
    Counterexample(
        id="C01", title="AL1 as written lets a transaction without write set run beside others",
        system=_applier(name="wl8440_literal", fence_without_write_set=False),
        statement="without_write_set_is_alone", scope=SMALL, steps=4,
        source="WL#8440 AL1 step 1 against EX4",
    ),
    Counterexample(
        id="C02", title="the window read literally gives LC = SN: the transaction waits for itself",
        system=_applier(name="wl8440_literal", window="literal"),
        statement="last_committed_is_below", scope=SMALL, steps=2,
        source="WL#8440 garbage collection against EX6",
    ),
    Counterexample(
        id="C03", title="without a new window, garbage collection loses a dependency",
        system=_applier(name="no_window", window="none"),
        statement="conflicting_rows_are_ordered", scope=SMALL, steps=5, source="WL#8440 EX5",
    ),
    Counterexample(
        id="C04", title="LC read as one parent instead of a prefix",
        system=_applier(name="pairwise", prefix=False),
        statement="conflicting_rows_are_ordered", scope=Scope(high=3, size=2), steps=7,
        source="WL#8440 EX3 (T6 does depend on T5 only)",
    ),
    Counterexample(
        id="C05", title="a view change that is not applied alone",
        system=_applier(name="no_barrier", barrier=False),
        statement="view_change_is_a_barrier", scope=SMALL, steps=4,
        source="WL#8440 View_change_log_event",
    ),
    Counterexample(
        id="C06", title="a local transaction that had not seen an earlier writer",
        system=_applier(name="blind_local", local_sees_earlier=False),
        statement="conflicting_rows_are_ordered", scope=SMALL, steps=5, source="assumption A1",
    ),
    Counterexample(
        id="C07", title="garbage collection before every later snapshot contains the stable set",
        system=_certification(name="no_a2", stable_is_seen=False),
        statement="first_certified_wins", scope=Scope(high=0, low=0, size=2), steps=4,
        source="assumption A2; third-party report of diverging members",
    ),
    Counterexample(
        id="C08", title="a stored version without the writer's own GTID",
        system=_certification(name="without_own_gtid", own_gtid_in_version=False),
        statement="first_certified_wins", scope=Scope(high=0, low=0, size=2), steps=2,
        source="WL#8440 definition of snapshot version against EX2",
    ),
    Counterexample(
        id="C09", title="purging items that are not stable",
        system=_certification(name="purge_any", purge_stable_only=False),
        statement="first_certified_wins", scope=Scope(high=0, low=0, size=2), steps=3,
        source="Certifier::garbage_collect",
    ),
    Counterexample(
        id="C10", title="a refusal that nobody deserved, from a snapshot with a hole",
        system=_certification(name="open_snapshots", snapshots_are_closed=False),
        statement="refusals_are_deserved", scope=Scope(high=0, low=0, size=3), steps=3,
        source="assumption A4; members without preserve commit order",
    ),
    Counterexample(
        id="C11", title="commit order off: a later transaction commits first",
        system=_commit_order(name="order_off", preserve_commit_order=False),
        statement="commit_order_preserved", scope=SMALL, steps=5,
        source="replica_preserve_commit_order=OFF",
    ),
    Counterexample(
        id="C12", title="commit order off: a reader sees a state that never existed",
        system=_commit_order(name="order_off", preserve_commit_order=False),
        statement="readers_see_prefixes", scope=SMALL, steps=6,
        source="MySQL manual, replication and transaction inconsistencies: gaps",
    ),
    Counterexample(
        id="C13", title="commit order with conflicting transactions in parallel: deadlock",
        system=_commit_order(name="conflicts_overlap", conflicts_wait=False),
        statement="the_head_is_never_blocked", scope=SMALL, steps=5,
        source="WL#4648 C1; MySQL bug 87796",
    ),
    Counterexample(
        id="C14", title="AFTER_COMMIT: seen before any replica has it",
        system=_semi_sync(name="after_commit", after_sync=False),
        statement="no_phantom_visibility", scope=SMALL, steps=6,
        source="rpl_semi_sync_source_wait_point=AFTER_COMMIT",
    ),
    Counterexample(
        id="C15", title="recovery commits what no replica has",
        system=_semi_sync(name="hole", recovery="commits"),
        statement="no_phantom_visibility", scope=SMALL, steps=4,
        source="MDEV-162, crash of the master; MySQL bug 99370",
    ),
    Counterexample(
        id="C16", title="the wait is abandoned: seen without acknowledgement",
        system=_semi_sync(name="abandoned", wait_stands=False),
        statement="no_phantom_visibility", scope=SMALL, steps=6,
        source="rpl_semi_sync_source_timeout",
    ),
    Counterexample(
        id="C17", title="the wait is abandoned: a client is told what no replica has",
        system=_semi_sync(name="abandoned", wait_stands=False),
        statement="confirmed_survives", scope=SMALL, steps=6,
        source="rpl_semi_sync_source_timeout",
    ),
    Counterexample(
        id="C18", title="un-chained mutexes: a later group overtakes",
        system=_semi_sync(name="unchained", chained=False, recovery="none"),
        statement="no_overtaking", scope=SMALL, steps=11,
        source="MDEV-162: take the next lock before releasing the previous one",
    ),
    Counterexample(
        id="C19", title="events sent before they are durable: the replica is ahead after a crash",
        system=_semi_sync(name="sent_early", send_after_sync=False),
        statement="replica_is_not_ahead", scope=SMALL, steps=2,
        source="sync_binlog other than 1",
    ),
)  # fmt: skip


def theorem(identifier: str) -> Theorem | Counterexample | None:
    """Return a theorem (``P07``) or a counterexample (``C07``) by its identifier."""
    wanted = identifier.upper()
    return next((entry for entry in (*THEOREMS, *COUNTEREXAMPLES) if entry.id == wanted), None)
