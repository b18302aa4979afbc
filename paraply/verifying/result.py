"""The result as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.models.recorded.monitored import MonitorFinding
from paraply.properties.registry import Evidence
from paraply.properties.two_logs.judgement import End, Level
from paraply.vocabulary.verdict import Verdict, combine

REQUIREMENTS: dict[str, Level] = {
    "prefix": Level.PREFIX,
    "batches": Level.BATCHES,
    "atomic": Level.ATOMIC,
    "per-key": Level.PER_KEY,
    "final": Level.FINAL,
}

LEVEL_SENTENCES: dict[Level, str] = {
    Level.PREFIX: "Every committed state of the target is a state of the source, in order, and "
    "none is skipped.",
    Level.BATCHES: "Every committed state of the target is a state of the source, in order; the "
    "target commits several source transactions at once.",
    Level.ATOMIC: "The target commits whole source transactions, in an order that respects common "
    "rows; some of its states are no state of the source.",
    Level.PER_KEY: "The versions of each row come in order; source transactions are torn apart.",
    Level.FINAL: "Only the last state of the target is a state of the source.",
    Level.UNDECIDED: "Versions of rows come out of order, and the target's log ends too early to "
    "tell whether both would become equal.",
    Level.DIVERGED: "The last state of the target is no state of the source.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionName:
    """GTID (else place) and place (file:offset)."""

    name: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFinding:
    """A differing row and both transactions."""

    table: str
    key: str
    column: str = ""
    """Empty for a missing row."""
    source_value: str = ""
    target_value: str = ""
    source: TransactionName | None = None
    target: TransactionName | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessFinding:
    """The state that refutes a level."""

    level: str
    text: str
    target: TransactionName | None = None
    target_number: int = 0
    """Number among judged transactions, from 1."""
    source: TransactionName | None = None
    rows: tuple[RowFinding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StretchFinding:
    """Consecutive target commits without a source state."""

    first: TransactionName
    last: TransactionName
    commits: int
    seconds: float
    healed: bool
    """A later source state exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFinding:
    """A target commit with several source transactions."""

    target: TransactionName
    first: TransactionName
    last: TransactionName
    transactions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFinding:
    """A target state in snapshot order.

    It shows the ``early`` transactions without the ``missing`` ones, which share no row with them
    and were logged before the last of them.
    """

    target: TransactionName
    missing: tuple[TransactionName, ...]
    early: tuple[TransactionName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFinding:
    """A finding on transactions of equal name."""

    rule: str
    text: str
    source: TransactionName | None = None
    target: TransactionName | None = None
    row: RowFinding | None = None


NO_FAULTS = ("inverted", "initial-copy")
"""Rules of findings by name that are no fault by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """An unknown, its reason and its remedy."""

    subject: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSummary:
    """One log."""

    files: tuple[str, ...]
    server: str
    transactions: int
    judged: int
    """Transactions with judged rows."""
    changes: int
    """Net row changes."""
    first: TransactionName | None
    last: TransactionName | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """A pair of tables."""

    source: str
    target: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class States:
    """How often source states appeared."""

    prefixes: int = 0
    commits: int = 0
    time_share: float | None = None
    """None without a time span."""
    longest: StretchFinding | None = None
    stretches: list[StretchFinding] = field(default_factory=list)
    stretch_count: int = 0
    torn: int = 0
    beyond_reach: int = 0
    before_the_source: int = 0
    """Commits of the target before the source's log begins, which are not judged."""
    snapshots: list[SnapshotFinding] = field(default_factory=list)
    snapshot_count: int = 0
    """Commits that show a snapshot of the source, but no prefix of its log."""
    only_snapshots: bool = False
    """Rising prefixes and snapshots explain all states."""
    batches: list[BatchFinding] = field(default_factory=list)
    batch_count: int = 0
    """Commits of several source transactions."""
    largest_batch: int = 0


@dataclass(slots=True, kw_only=True)
class Delivery:
    """Signs of repetition; logs cannot prove exactly-once delivery."""

    state_went_back: int = 0
    key_went_back: int = 0
    rewritten: int = 0
    unknown_versions: int = 0

    @property
    def nothing_seen_twice(self) -> bool:
        """Return whether no state, key or row recurred."""
        return not (self.state_went_back or self.key_went_back or self.rewritten)


@dataclass(slots=True, kw_only=True)
class Lag:
    """The target's lag at its commits."""

    transactions_max: int = 0
    transactions_last: int = 0
    seconds_median: float | None = None
    seconds_max: float | None = None


@dataclass(slots=True, kw_only=True)
class Names:
    """Findings by transaction name (GTID)."""

    matched: int = 0
    missing: int = 0
    filtered: int = 0
    lag: int = 0
    errant: int = 0
    errant_with_rows: int = 0
    twice: int = 0
    changed: int = 0
    descents: int = 0
    group_descents: int = 0
    session_descents: int = 0
    """Commits after a later one of their session, where logs have thread ids."""
    to_move: int = 0
    not_prefix: int = 0
    conflicting_inversions: int = 0
    initial_copy: int = 0
    """Target transactions of the initial copy of a subscription."""
    copied: int = 0
    """Source transactions before the end of the initial copy, which are not judged by name."""
    findings: list[NamedFinding] = field(default_factory=list)
    is_faultless: bool = True


@dataclass(slots=True, kw_only=True)
class ExceptedRows:
    """The level without the excepted rows."""

    level: Level
    rows: list[RowFinding]
    is_minimal: bool
    since: TransactionName | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What an audit of the target's own log says."""

    verdict: Verdict
    text: str
    decides: bool
    """Its verdict is graver than that of the two logs."""


MONITORED = ("P01", "P02", "P03", "P04", "P05", "P06", "P07", "P08", "P10", "P11", "P12", "P13",
             "P16", "P17", "P18", "P19", "P22", "P30", "P49", "P50", "P53", "P54", "P55",
             "P56")  # fmt: skip
"""Theorems of which a monitor says what two logs show, or why they do not decide."""


@dataclass(slots=True, kw_only=True)
class VerifyResult:
    """The whole result."""

    verdict: Verdict
    required: str
    level: Level
    mode: str
    source: SideSummary
    target: SideSummary
    tables: list[TableSummary]
    states: States
    end: End
    end_name: TransactionName | None
    """Source transaction that ends the last state's prefix."""
    is_drained: bool
    delivery: Delivery
    lag: Lag
    witnesses: list[WitnessFinding]
    except_rows: ExceptedRows | None
    differing: list[RowFinding]
    differing_count: int
    drifted: list[RowFinding]
    drifted_count: int
    names: Names | None
    unknown: list[Reason]
    notes: list[str]
    error_bound: float
    window: int
    reach: int
    timeline: list[tuple[int, int | None, int]]
    """Target commit, its prefix, furthest source commit."""
    metadata: Metadata | None = None
    """None if it was not audited."""
    monitors: list[MonitorFinding] = field(default_factory=list)
    decided_by: MonitorFinding | None = None
    """The first monitor whose verdict is graver than that of the two logs."""

    def add_monitors(self, found: list[MonitorFinding]) -> None:
        """Note what monitors say, and take the gravest verdict."""
        self.monitors = found
        worst = max(found, key=lambda one: one.verdict)
        if worst.verdict > self.verdict:
            self.verdict, self.decided_by = worst.verdict, worst

    def add_metadata(self, verdict: Verdict, text: str) -> None:
        """Note the audit of the target's log, and take the graver verdict."""
        self.metadata = Metadata(verdict=verdict, text=text, decides=verdict > self.verdict)
        self.verdict = combine((self.verdict, verdict))

    @property
    def evidence(self) -> Evidence:
        """Return how many of the target's states were compared with the source's."""
        states = self.states
        return Evidence(
            relevant=states.commits + states.before_the_source,
            decided=states.commits - states.beyond_reach,
            missing=self.unknown[0].reason if self.unknown else "",
        )

    @property
    def any_time(self) -> bool:
        """Return whether all target states are source states (WL#4648)."""
        return self.level >= Level.BATCHES

    @property
    def eventual(self) -> bool:
        """Return whether the last state is a source state (WL#4648)."""
        return self.end is not End.DIFFERENT and self.level is not Level.DIVERGED
