"""The result of a log audit, for every report."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionRef:
    """``position`` is ``file:offset`` of the GTID event."""

    ordinal: int
    gtid: str
    file: str
    offset: int
    last_committed: int | None = None
    sequence_number: int | None = None
    commit_id: int | None = None
    size_bytes: int = field(default=0, compare=False)
    """From ``offset``; 0 if unknown or across files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """An undecided part of the verdict, and the remedy."""

    property: str
    reason: str
    remedy: str
    subject: str = ""
    """Table, file or applier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """A metadata fault."""

    rule: str
    severity: str
    """``violation``, ``warning`` or ``note``; others keep the verdict."""
    message: str
    file: str
    offset: int
    transactions: tuple[TransactionRef, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyViolation:
    """Conflicting transactions that may overlap by metadata."""

    property: str
    applier: str
    earlier: TransactionRef
    later: TransactionRef
    table: str
    index: str
    key: str
    """Like ``uk_email('a@b')``."""
    consequence: str
    certain: bool = True
    """False if the key is assumed; the verdict is then unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayFinding:
    """A row image that contradicts the replayed state."""

    property: str
    """``before_images_match``, ``inserted_keys_are_free`` or ``rows_exist``."""
    transaction: TransactionRef
    table: str
    key: str
    offset: int
    message: str


@dataclass(slots=True, kw_only=True)
class ReplayResult:
    """Row images applied in log order."""

    before_images_found: int = 0
    before_images_missing: int = 0
    before_images_unknown: int = 0
    duplicate_keys: int = 0
    final_rows: int = 0
    rows_without_key: int = 0
    rows_forgotten: int = 0
    """Dropped from the bounded state."""
    rows_in_doubt: int = 0
    """Images that do not fit, which a cascade or another unlogged change may explain."""
    findings_dropped: int = 0
    findings: list[ReplayFinding] = field(default_factory=list)
    tables: dict[str, int] = field(default_factory=dict)
    """Row counts, unless a statement made them unknown."""
    cascaded_tables: list[str] = field(default_factory=list)
    """Unlogged cascades make ``tables`` an upper bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """One scheduling model's parallelism.

    ``n`` row changes are ``1 + n`` steps of work. ``transactions_on_path`` is the longest chain;
    ``steps`` counts rounds with unbounded workers.
    """

    model: str
    """Like ``logical-clock`` or ``row-conflicts``."""
    safe: Verdict
    conflicting_pairs_apart: int
    """Left unordered."""
    work: int
    critical_path: int
    """In steps of work."""
    transactions_on_path: int
    steps: int
    width_max: int
    width_mean: float
    ideal_speedup: float
    """``work / critical_path``: T1/T-infinity."""
    speedup: dict[int, float]
    """Under list scheduling in log order."""
    knee: int
    """Doubling more workers gains less than 10 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The simulated speed-up of one way to apply the log's beginning."""

    applier: str
    """As ``paraply compare`` names it."""
    setting: str
    safe: Verdict
    """HOLDS if each simulated run kept all conflicts; UNKNOWN if the times rest on unknown keys."""
    speedup: dict[int, float]
    """By workers; empty unless safe."""
    unknown_tables: tuple[str, ...] = ()

    @property
    def workers(self) -> int:
        """Return the fewest workers within a tenth of the best; 0 without a speed-up."""
        best = max(self.speedup.values(), default=0.0)
        return min((one for one, gain in self.speedup.items() if gain * 1.1 >= best), default=0)

    @property
    def gain(self) -> float:
        """Return the speed-up with :attr:`workers`; 0.0 without one."""
        return self.speedup.get(self.workers, 0.0)


Change = Literal["setting", "history", "delay", "row", "key", "table", "pieces"]
"""Of a :class:`Counterfactual`: a setting, a history size, delayed group commits, one row that
conflicts no longer, a key on a table without one, a table that conflicts no longer, or large
transactions in pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LagPoint:
    """The greatest lag, from commit to apply, of a slice of the log's time; all in seconds."""

    second: float
    """End of the slice, from the log's beginning."""
    now: float
    then: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePrice:
    """What a change costs the source.

    Attributes:
        throughput: its transactions per second, over those without the change.
        wait_us_now: median time from the write to the binary log to the engine commit.
        wait_us_then: the same with the change.
    """

    throughput: float
    wait_us_now: float
    wait_us_then: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterfactual:
    """A change that would make the log's beginning faster to apply."""

    kind: Change
    change: str
    """In the server's terms."""
    now_applier: str
    """The way to apply before the change, as ``paraply compare`` names it."""
    now_workers: int
    now: float
    """Speed-up over one worker without the change; likewise ``then``."""
    applier: str
    workers: int
    then: float
    lag: tuple[LagPoint, ...] = ()
    """If the log has times. A step takes as long as lets the replica keep up on average now."""
    price: SourcePrice | None = None
    """Of a delay."""

    @property
    def gain(self) -> float:
        """Return how many times as fast the change is."""
        return self.then / self.now

    @property
    def most_lag_now(self) -> float:
        """Return the greatest lag in seconds; 0 if it is not known."""
        return max((point.now for point in self.lag), default=0.0)

    @property
    def most_lag_then(self) -> float:
        """Return the same after the change."""
        return max((point.then for point in self.lag), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """A part of the critical path."""

    kind: str
    """``key``, ``table``, ``ddl``, ``statement`` or ``metadata``."""
    name: str
    transactions: int
    """Caused links."""
    share: float
    """0..1 of the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """A table and its keys."""

    name: str
    inserts: int
    updates: int
    deletes: int
    keys: tuple[str, ...]
    """Like ``PRIMARY(id)``."""
    keys_known: bool
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathLink:
    """A critical transaction and its reason."""

    transaction: TransactionRef
    waits_for: int
    """Ordinal, 0 for the first."""
    because: str
    work: int


@dataclass(slots=True, kw_only=True)
class FileSummary:
    """An input file."""

    name: str
    server: str = ""
    format: str = ""
    checksum: str = ""
    bytes_read: int = 0
    transactions: int = 0
    first_gtid: str = ""
    last_gtid: str = ""
    events: dict[str, int] = field(default_factory=dict)
    skipped_event_types: dict[str, int] = field(default_factory=dict)
    stopped: str = ""
    """Where and why, if early."""

    @property
    def version(self) -> tuple[int, ...]:
        """Return the writing server's version, or () if unknown."""
        found = re.match(r"(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)", self.server)
        return tuple(map(int, found.groups())) if found else ()

    @property
    def is_mariadb(self) -> bool:
        """Return whether MariaDB wrote it; of a text dump only the version says so."""
        return self.format == "mariadb" or "mariadb" in self.server.lower()


@dataclass(slots=True, kw_only=True)
class JudgedRange:
    """What of the input was judged, and how many transactions were only read."""

    start_gtid: str = ""
    """As asked for; likewise the next."""
    stop_gtid: str = ""
    domain: int | None = None
    first_gtid: str = ""
    """Judged; likewise the next."""
    last_gtid: str = ""
    before: int = 0
    after: int = 0
    other_domains: int = 0

    @property
    def left_out(self) -> int:
        """Return the transactions that were only read."""
        return self.before + self.after + self.other_domains


@dataclass(slots=True, kw_only=True)
class AuditResult:
    """The whole result."""

    verdict: Verdict = Verdict.UNKNOWN
    unknown_because: list[Reason] = field(default_factory=list)
    files: list[FileSummary] = field(default_factory=list)
    transactions: int = 0
    row_changes: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    tables: list[TableSummary] = field(default_factory=list)
    commit_group_sizes: dict[int, int] = field(default_factory=dict)
    """Counts by size; a group shares an LC (MySQL) or commit id."""
    pairs_allowed_to_overlap: int = 0
    pairs_in_doubt: int = 0
    """Of these, with an undecided part, at least."""
    conflicting_pairs_ordered: int = 0
    """Neighbours only: evidence of coverage."""
    may_wait: int = 0
    """Pairs with row lock waits (child and parent), but one result."""
    lint: list[LintFinding] = field(default_factory=list)
    lint_dropped: int = 0
    """Beyond the list's limit; they count for the verdict."""
    violations: list[SafetyViolation] = field(default_factory=list)
    violations_dropped: int = 0
    replay: ReplayResult = field(default_factory=ReplayResult)
    parallelism: list[Parallelism] = field(default_factory=list)
    """Limits by list scheduling: what the rules of a model allow."""
    predictions: list[Prediction] = field(default_factory=list)
    """What the servers' ways to apply would gain on the first transactions."""
    predicted_transactions: int = 0
    counterfactuals: list[Counterfactual] = field(default_factory=list)
    """Greatest gain first."""
    unpredicted_keys: list[str] = field(default_factory=list)
    """Tables without a key of which the log does not show which rows change."""
    unpredicted_delay: str = ""
    """Why no delay of group commits is predicted, if it may matter."""
    clock_distance: dict[int, int] = field(default_factory=dict)
    """SN-LC by power of two: key 4 counts 4..7."""
    width_over_time: list[tuple[int, float]] = field(default_factory=list)
    """(first round, transactions per round) of at most 400 slices. A transaction runs one round
    after the latest that it waits for."""
    blockers: list[Blocker] = field(default_factory=list)
    critical_path: list[PathLink] = field(default_factory=list)
    """Under exact row conflicts; first and last 100 links."""
    assumptions: list[str] = field(default_factory=list)
    statements_asked: list[str] = field(default_factory=list)
    """Of the server that gave the definitions, in order; empty without one."""
    engine: str = "readable"
    """``readable`` or ``compiled``, with equal results."""
    engine_because: str = ""
    """What the compiled engine found that it leaves to the readable one; empty if not tried."""
    left_rows: int = 0
    """Row changes that the readable code judged for the compiled engine."""
    left_tables: dict[str, str] = field(default_factory=dict)
    """Their tables, each with the reason."""
    range: JudgedRange | None = None
    """None if everything was judged."""

    @property
    def is_mariadb(self) -> bool:
        """Return whether MariaDB wrote a file of it."""
        return any(file.is_mariadb for file in self.files)

    @property
    def newest_version(self) -> tuple[int, ...]:
        """Return the newest version of a server that wrote it, or () if unknown."""
        return max((file.version for file in self.files), default=())
