"""The result of a log audit: the input of every report, filled by both engines."""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionRef:
    """A transaction; ``position`` is ``file:offset`` of its GTID event."""

    ordinal: int
    gtid: str
    file: str
    offset: int
    last_committed: int | None = None
    sequence_number: int | None = None
    commit_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a part of the verdict is unknown, and the remedy."""

    property: str
    reason: str
    remedy: str
    subject: str = ""
    """Table, file or applier concerned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """A fault or oddity of the metadata."""

    rule: str
    """Stable name, e.g. ``sequence_number_increases``."""
    severity: str
    """``violation``, ``warning`` or ``note``; only a violation changes the verdict."""
    message: str
    file: str
    offset: int
    transactions: tuple[TransactionRef, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyViolation:
    """Two conflicting transactions that the metadata allows to overlap."""

    property: str
    """Broken property, e.g. ``conflicting_transactions_are_ordered``."""
    applier: str
    """Applier that overlaps them: ``logical-clock``, ``commit-group``, ..."""
    earlier: TransactionRef
    later: TransactionRef
    table: str
    index: str
    key: str
    """Shared key for display, e.g. ``uk_email('a@b')``."""
    consequence: str
    """Consequence in one sentence."""
    certain: bool = True
    """False if the key rests on an assumption; the verdict is then unknown."""


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
    """Row images applied in log order to a keyed state."""

    before_images_found: int = 0
    before_images_missing: int = 0
    before_images_unknown: int = 0
    """Rows older than the log, adopted at first sight."""
    duplicate_keys: int = 0
    final_rows: int = 0
    rows_without_key: int = 0
    rows_forgotten: int = 0
    """Rows dropped from the bounded state; a later touch counts as never seen."""
    rows_in_doubt: int = 0
    """Mismatches on rows that an unlogged foreign key cascade may have changed."""
    findings_dropped: int = 0
    findings: list[ReplayFinding] = field(default_factory=list)
    tables: dict[str, int] = field(default_factory=dict)
    """Rows per table at the end, unless a statement made them unknown."""
    cascaded_tables: list[str] = field(default_factory=list)
    """Tables with possible unlogged cascades: ``tables`` is an upper bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """How parallel a scheduling model runs this log.

    A transaction of ``n`` row changes has ``1 + n`` steps of work. ``transactions_on_path`` is the
    longest chain; ``steps`` counts rounds with unbounded workers.
    """

    model: str
    """``logical-clock``, ``commit-group``, ``row-conflicts``, ``by-table``, ``by-schema``,
    ``by-primary-key``."""
    safe: Verdict
    """Whether the model keeps this log's conflicts in order."""
    conflicting_pairs_apart: int
    """Conflicting pairs that this model leaves unordered."""
    work: int
    critical_path: int
    """Work on the longest dependency chain, in steps."""
    transactions_on_path: int
    steps: int
    width_max: int
    width_mean: float
    ideal_speedup: float
    """``work / critical_path``: T1/T-infinity."""
    speedup: dict[int, float]
    """By number of workers, under list scheduling in log order."""
    knee: int
    """Workers beyond which doubling gains less than 10 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """A part of the critical path: a hot key, a table, a DDL statement."""

    kind: str
    """``key``, ``table``, ``ddl``, ``statement`` or ``metadata``."""
    name: str
    transactions: int
    """Links of the critical path that it causes."""
    share: float
    """Part of the critical path, 0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """One table of the log and its known keys."""

    name: str
    inserts: int
    updates: int
    deletes: int
    keys: tuple[str, ...]
    """Keys with columns, e.g. ``PRIMARY(id)``."""
    keys_known: bool
    sources: tuple[str, ...]
    """Words of :class:`SchemaSource`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathLink:
    """A transaction on the critical path and its reason to wait."""

    transaction: TransactionRef
    waits_for: int
    """Ordinal of the previous transaction, 0 for the first."""
    because: str
    work: int


@dataclass(slots=True, kw_only=True)
class FileSummary:
    """One input file and the extent read."""

    name: str
    server: str = ""
    format: str = ""
    """``mysql``, ``mariadb`` or ``text``."""
    checksum: str = ""
    bytes_read: int = 0
    transactions: int = 0
    first_gtid: str = ""
    last_gtid: str = ""
    events: dict[str, int] = field(default_factory=dict)
    skipped_event_types: dict[str, int] = field(default_factory=dict)
    stopped: str = ""
    """Where and why reading stopped early; else empty."""


@dataclass(slots=True, kw_only=True)
class AuditResult:
    """Everything one audit found."""

    verdict: Verdict = Verdict.UNKNOWN
    unknown_because: list[Reason] = field(default_factory=list)
    files: list[FileSummary] = field(default_factory=list)
    transactions: int = 0
    row_changes: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    tables: list[TableSummary] = field(default_factory=list)
    commit_group_sizes: dict[int, int] = field(default_factory=dict)
    """Number of commit groups by size; a group shares an LC (MySQL) or a commit id."""
    pairs_allowed_to_overlap: int = 0
    """Pairs that the metadata lets overlap, conflicting or not."""
    conflicting_pairs_ordered: int = 0
    """Conflicting neighbour pairs in order: evidence of coverage."""
    may_wait: int = 0
    """Pairs that may overlap with one result in either order, but wait for a row lock (a child row
    beside another change of its parent)."""
    lint: list[LintFinding] = field(default_factory=list)
    lint_dropped: int = 0
    """Findings beyond the list's limit; they count for the verdict."""
    violations: list[SafetyViolation] = field(default_factory=list)
    violations_dropped: int = 0
    replay: ReplayResult = field(default_factory=ReplayResult)
    parallelism: list[Parallelism] = field(default_factory=list)
    clock_distance: dict[int, int] = field(default_factory=dict)
    """Histogram of SN-LC by power of two: key 4 counts distances 4..7."""
    width_over_time: list[tuple[int, float]] = field(default_factory=list)
    """(first round, transactions per round) of at most 400 equal slices, the last perhaps shorter.
    A transaction runs one round after the latest that it waits for."""
    blockers: list[Blocker] = field(default_factory=list)
    critical_path: list[PathLink] = field(default_factory=list)
    """Longest chain under exact row conflicts, at most the first and last 100 links."""
    assumptions: list[str] = field(default_factory=list)
    engine: str = "readable"
    """``readable`` or ``compiled``; all else is identical."""
