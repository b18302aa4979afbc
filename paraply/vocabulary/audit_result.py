"""What an audit of a log found: the one object that every form of the report is made from.

The compiled and the readable audit fill the same object, so they can be compared field by field;
terminal, JSON, JUnit and HTML only render it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionRef:
    """A transaction as a report names it; ``position`` is ``file:offset`` of its GTID event."""

    ordinal: int
    gtid: str
    file: str
    offset: int
    last_committed: int | None = None
    sequence_number: int | None = None
    commit_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a part of the verdict is unknown, and the way to find out."""

    property: str
    reason: str
    remedy: str
    subject: str = ""
    """The table, file or applier it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One thing wrong or odd with the metadata of the log."""

    rule: str
    """Stable name of the rule, e.g. ``sequence_number_increases``."""
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
    """Name of the property broken, e.g. ``conflicting_transactions_are_ordered``."""
    applier: str
    """Which applier would overlap them: ``logical-clock``, ``commit-group``, ..."""
    earlier: TransactionRef
    later: TransactionRef
    table: str
    index: str
    key: str
    """The shared key as a reader sees it, e.g. ``uk_email('a@b')``."""
    consequence: str
    """What would go wrong, in one sentence."""
    certain: bool = True
    """False where the shared key rests on an assumption; then it makes the verdict unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayFinding:
    """A row image that does not fit the state that the log itself built up."""

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
    """Rows that existed before the log began, adopted at first sight."""
    duplicate_keys: int = 0
    final_rows: int = 0
    rows_without_key: int = 0
    rows_forgotten: int = 0
    """Rows dropped from the bounded state; touched again, they count as never seen."""
    rows_in_doubt: int = 0
    """Images that did not fit a row which a foreign key's cascade may have changed unlogged."""
    findings_dropped: int = 0
    findings: list[ReplayFinding] = field(default_factory=list)
    tables: dict[str, int] = field(default_factory=dict)
    """Rows per table at the end of the log: of those it wrote, the ones it left, and that no
    later statement made unknown."""
    cascaded_tables: list[str] = field(default_factory=list)
    """Tables of which a foreign key's cascade may have deleted rows unlogged, so that the number
    in ``tables`` is the most there can be left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """How parallel one way of scheduling could run this log.

    Work is counted in steps; a transaction of ``n`` row changes is ``1 + n`` steps (begin/end and
    its rows). ``transactions_on_path`` and ``steps`` count transactions: the longest chain, and
    the rounds an unbounded number of workers needs when each round runs all that is ready.
    """

    model: str
    """``logical-clock``, ``commit-group``, ``row-conflicts``, ``by-table``, ``by-schema``,
    ``by-primary-key``."""
    safe: Verdict
    """Whether applying by this model keeps conflicting transactions in order on this log."""
    conflicting_pairs_apart: int
    """Conflicting pairs that this model leaves unordered."""
    work: int
    critical_path: int
    """Work on the longest chain of dependent transactions, in the same steps as ``work``."""
    transactions_on_path: int
    steps: int
    width_max: int
    width_mean: float
    ideal_speedup: float
    """``work / critical_path``: T1/T-infinity."""
    speedup: dict[int, float]
    """By number of workers, under list scheduling in log order."""
    knee: int
    """The number of workers beyond which another doubling buys less than 10 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """What the critical path of the log is made of: a hot key, a table, a DDL statement."""

    kind: str
    """``key``, ``table``, ``ddl``, ``statement`` or ``metadata``."""
    name: str
    transactions: int
    """Links of the critical path that are there because of it."""
    share: float
    """Part of the critical path, 0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """One table of the log and what is known of its keys."""

    name: str
    inserts: int
    updates: int
    deletes: int
    keys: tuple[str, ...]
    """Key names with their columns, e.g. ``PRIMARY(id)``."""
    keys_known: bool
    sources: tuple[str, ...]
    """Where the knowledge came from, in the words of SchemaSource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathLink:
    """One transaction on the critical path and why it had to wait for the one before."""

    transaction: TransactionRef
    waits_for: int
    """Ordinal of the transaction it waits for, 0 for the first."""
    because: str
    work: int


@dataclass(slots=True, kw_only=True)
class FileSummary:
    """One input file, how far it was read, and what was in it."""

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
    """Where and why reading stopped early, empty if the file was read to its end."""


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
    """How many commit groups have each size; a group is a run of one LC (MySQL) or commit id."""
    pairs_allowed_to_overlap: int = 0
    """Pairs of transactions that the metadata lets overlap, conflicting or not."""
    conflicting_pairs_ordered: int = 0
    """Conflicting neighbour pairs that the metadata keeps apart: evidence that the check ran."""
    may_wait: int = 0
    """Pairs that may overlap in either order with one result, while one waits for a row lock of
    the other (a child row beside another change of its parent row)."""
    lint: list[LintFinding] = field(default_factory=list)
    lint_dropped: int = 0
    """Findings past the limit of the list; they still count for the verdict."""
    violations: list[SafetyViolation] = field(default_factory=list)
    violations_dropped: int = 0
    replay: ReplayResult = field(default_factory=ReplayResult)
    parallelism: list[Parallelism] = field(default_factory=list)
    clock_distance: dict[int, int] = field(default_factory=dict)
    """Histogram of SN-LC by power of two: key 4 counts distances 4..7."""
    width_over_time: list[tuple[int, float]] = field(default_factory=list)
    """(first round, transactions per round) of at most 400 equal slices of the rounds that
    the log's metadata makes of it: a transaction is in round 1 if it waits for nothing, else one
    round after the latest it waits for. The last slice may have fewer rounds."""
    blockers: list[Blocker] = field(default_factory=list)
    critical_path: list[PathLink] = field(default_factory=list)
    """The longest chain under exact row conflicts, at most 200 links (first and last 100)."""
    assumptions: list[str] = field(default_factory=list)
    engine: str = "readable"
    """``readable`` or ``compiled``: which implementation produced it; the rest is identical."""
