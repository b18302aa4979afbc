"""An audit's JSON form: these types are documentation and schema."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

VerdictWord = Literal["holds", "unknown", "violated"]


class TransactionPart(TypedDict):
    """A transaction and the position of its GTID event."""

    ordinal: Annotated[int, "Position in the stream of all files, from 1."]
    gtid: Annotated[str, "GTID as the log gives it; empty for an anonymous transaction."]
    file: Annotated[str, "File as named on the command line."]
    offset: Annotated[int, "Byte offset from the start of the file."]
    last_committed: Annotated[int | None, "MySQL's last_committed (LC), null where there is none."]
    sequence_number: Annotated[int | None, "MySQL's sequence_number (SN), null likewise."]
    commit_id: Annotated[int | None, "MariaDB's commit id (cid), null for a group of one."]


class ReasonPart(TypedDict):
    """Why a part of the verdict is unknown."""

    property: Annotated[str, "The property that could not be decided."]
    subject: Annotated[str, "Table, file or applier it is about; empty if it is about all."]
    reason: Annotated[str, "What is missing."]
    remedy: Annotated[str, "How to find out."]


class FilePart(TypedDict):
    """One input file."""

    name: Annotated[str, "File as named on the command line."]
    server: Annotated[str, "Version of the server that wrote it, as the file says."]
    format: Annotated[str, "`mysql`, `mariadb` or `text`; empty if it could not be told."]
    checksum: Annotated[str, "Checksum algorithm of its events; empty if none or not known."]
    bytes_read: Annotated[int, "Bytes read of it."]
    transactions: Annotated[int, "Transactions that begin in it."]
    first_gtid: Annotated[str, "GTID of the first of them."]
    last_gtid: Annotated[str, "GTID of the last of them."]
    events: Annotated[dict[str, int], "Events by type."]
    skipped_event_types: Annotated[dict[str, int], "Events skipped because their type is unknown."]
    stopped: Annotated[str, "Where and why reading stopped early; empty if read to its end."]


class TablePart(TypedDict):
    """One table that the log changes."""

    name: Annotated[str, "`schema.table` as the log spells it."]
    inserts: Annotated[int, "Rows inserted."]
    updates: Annotated[int, "Rows updated."]
    deletes: Annotated[int, "Rows deleted."]
    keys: Annotated[list[str], "Known keys with their columns, as `PRIMARY(id)`."]
    keys_known: Annotated[bool, "Whether conflicts in this table can be decided."]
    sources: Annotated[list[str], "Where the knowledge of its keys comes from."]


class CommitGroupsPart(TypedDict):
    """Runs of transactions with one last_committed (MySQL) or one commit id (MariaDB)."""

    count: Annotated[int, "Number of groups."]
    sizes: Annotated[dict[str, int], "Number of groups by size."]


class LintPart(TypedDict):
    """One fault or oddity of the metadata."""

    rule: Annotated[str, "Stable name of the rule."]
    severity: Annotated[
        Literal["violation", "warning", "note"], "Only a violation changes the verdict."
    ]
    message: Annotated[str, "What was found."]
    file: Annotated[str, "File it was found in."]
    offset: Annotated[int, "Byte offset it was found at."]
    transactions: Annotated[list[TransactionPart], "The transactions it is about."]


class ViolationPart(TypedDict):
    """Two conflicting transactions that the metadata allows to overlap."""

    property: Annotated[str, "Name of the property that is broken."]
    applier: Annotated[str, "The applier that would let them overlap."]
    earlier: Annotated[TransactionPart, "The one that the source committed first."]
    later: Annotated[TransactionPart, "The one that the source committed second."]
    table: Annotated[str, "Table of the shared key."]
    index: Annotated[str, "Index of the shared key."]
    key: Annotated[str, "The shared key with its values."]
    consequence: Annotated[str, "What would go wrong."]
    certain: Annotated[bool, "False where the key rests on an assumption: then it is `unknown`."]


class ReplayFindingPart(TypedDict):
    """A row image that contradicts earlier rows of the log."""

    property: Annotated[str, "Name of the property that is broken."]
    transaction: Annotated[TransactionPart, "The transaction that holds the row image."]
    table: Annotated[str, "Table of the row."]
    key: Annotated[str, "Key of the row."]
    offset: Annotated[int, "Byte offset of the rows event."]
    message: Annotated[str, "What was found."]


class ReplayPart(TypedDict):
    """All row images, applied to keyed rows in log order."""

    before_images_found: Annotated[int, "Before images equal to the row as the log left it."]
    before_images_missing: Annotated[int, "Before images of rows the log had removed or changed."]
    before_images_unknown: Annotated[
        int,
        "Before images of rows not known before, as they are older than the log or than DDL of "
        "their table: adopted.",
    ]
    duplicate_keys: Annotated[int, "Rows written to a key that another row holds."]
    rows_without_key: Annotated[int, "Row changes not followed because no key is known."]
    rows_in_doubt: Annotated[int, "Images that do not fit, which unlogged changes may explain."]
    rows_forgotten: Annotated[int, "Rows the bounded state dropped; then they count as unseen."]
    final_rows: Annotated[
        int,
        "Rows the log wrote and left, of tables with a key, that no later DDL or statement made "
        "unknown.",
    ]
    tables: Annotated[dict[str, int], "The same by table."]
    cascaded_tables: Annotated[
        list[str],
        "Tables of which a cascade may have deleted rows unlogged: their number is a most.",
    ]
    findings: Annotated[list[ReplayFindingPart], "The first findings."]


class ParallelismPart(TypedDict):
    """The log's parallelism under one scheduling model."""

    safe: Annotated[VerdictWord, "Whether it keeps the conflicts of this log in order."]
    conflicting_pairs_apart: Annotated[int, "Conflicting pairs it leaves unordered."]
    work: Annotated[int, "Steps in all: one per transaction and one per row change."]
    critical_path: Annotated[int, "Steps on the longest chain of transactions that must wait."]
    transactions_on_path: Annotated[int, "Transactions on that chain."]
    steps: Annotated[int, "Rounds under an unbounded number of workers, in transactions."]
    width_max: Annotated[int, "Most transactions in one round."]
    width_mean: Annotated[float, "Transactions per round."]
    ideal_speedup: Annotated[float, "work / critical_path."]
    speedup: Annotated[dict[str, float], "Limit by number of workers, from list scheduling."]
    knee: Annotated[int, "Workers beyond which another doubling buys less than 10 %."]


class PredictionPart(TypedDict):
    """The simulated speed-up of one way to apply the first transactions."""

    setting: Annotated[str, "The way to apply in the server's terms."]
    safe: Annotated[VerdictWord, "`unknown` if the times rest on unknown keys."]
    speedup: Annotated[dict[str, float], "Speed-up by number of workers; empty unless safe."]
    workers: Annotated[int, "The fewest workers within a tenth of the best; 0 without a speed-up."]
    unknown_tables: Annotated[list[str], "Tables whose unknown keys the times rest on."]


class LagPart(TypedDict):
    """The greatest lag, from commit to apply, of one of 20 slices of the log's time."""

    second: Annotated[float, "End of the slice, in seconds from the first transaction."]
    now: Annotated[float, "Seconds, without the change."]
    then: Annotated[float, "Seconds, with it."]


class PricePart(TypedDict):
    """What a delay of group commits costs the source."""

    throughput: Annotated[float, "Transactions per second, over those without it."]
    wait_us_now: Annotated[
        float, "Median microseconds from the write to the binary log to the engine commit, at most."
    ]
    wait_us_then: Annotated[float, "The same, with it."]


class CounterfactualPart(TypedDict):
    """A change that would make the first transactions faster to apply.

    Lag needs a step's length. It is such that the replica keeps up on average without the change.
    """

    kind: Annotated[
        Literal["setting", "history", "delay", "row", "key", "table", "pieces"],
        "A setting, a history size of WRITESET, a delay of group commits, one row or table that "
        "conflicts with nothing, a key on a table without one, or large transactions cut into "
        "pieces.",
    ]
    change: Annotated[str, "What is different, in the server's terms."]
    now_applier: Annotated[
        str,
        "The way to apply without the change: the best one, but for a "
        "setting or delay that by the metadata alone.",
    ]
    now_workers: Annotated[int, "Its number of workers."]
    now: Annotated[float, "Its speed-up."]
    applier: Annotated[str, "The way to apply with the change."]
    workers: Annotated[int, "Its number of workers."]
    then: Annotated[float, "Its speed-up over one worker that applies the log as it is."]
    gain: Annotated[float, "then / now."]
    lag: Annotated[
        list[LagPart], "Empty below a gain of 1.2, and if fewer than 20 commit times differ."
    ]
    price: Annotated[PricePart | None, "Of a delay."]


class BlockerPart(TypedDict):
    """The links of the critical path."""

    kind: Annotated[str, "`key`, `table`, `ddl`, `statement` or `metadata`."]
    name: Annotated[str, "Which one."]
    transactions: Annotated[int, "Links of the critical path that are there because of it."]
    share: Annotated[float, "Part of the critical path, from 0 to 1."]


class PathLinkPart(TypedDict):
    """One transaction of the critical path."""

    transaction: Annotated[TransactionPart, "The transaction."]
    waits_for: Annotated[int, "Ordinal of the one it waits for; 0 for the first."]
    because: Annotated[str, "Why it waits."]
    work: Annotated[int, "Its own steps."]


class WidthPart(TypedDict):
    """Mean width of one slice of rounds.

    A transaction's round is 1 without waits, else one more than the latest it waits for. All slices
    but the last have equal length.
    """

    first_round: Annotated[int, "First round of the slice, from 1."]
    width: Annotated[float, "Transactions per round: so many may run at once, on average."]


class RangePart(TypedDict):
    """The judged part of the input; the rest was only read."""

    start_gtid: Annotated[str, "`--start-gtid` as given; empty for the beginning."]
    stop_gtid: Annotated[str, "`--stop-gtid` as given; empty for the end."]
    domain: Annotated[int | None, "`--domain` as given; null for all."]
    first_gtid: Annotated[str, "GTID of the first judged transaction."]
    last_gtid: Annotated[str, "GTID of the last judged transaction."]
    before: Annotated[int, "Transactions left out before the range."]
    after: Annotated[int, "Transactions left out after it."]
    other_domains: Annotated[int, "Transactions left out because of `--domain`."]


class SituationsPart(TypedDict):
    """Pairs that may overlap, and whether the log decides them."""

    relevant: Annotated[int, "Pairs that may overlap."]
    decided: Annotated[int, "Of them, without an undecided part, at most."]
    missing: Annotated[str, "What the undecided lack: the first reason; empty if none is."]


class AuditDocument(TypedDict):
    """One audit: inputs, findings and assumptions."""

    format: Annotated[Literal["paraply-audit"], "Tells this document from others."]
    format_version: Annotated[int, "Raised when a field changes its meaning or goes away."]
    paraply_version: Annotated[str, "Version of the program that wrote it."]
    engine: Annotated[str, "`readable` or `compiled`: which implementation audited."]
    left_rows: Annotated[int, "Row changes that the compiled one left to the readable code."]
    left_tables: Annotated[dict[str, str], "Their tables, each with the reason."]
    verdict: Annotated[VerdictWord, "The gravest of all parts; `unknown` is never `holds`."]
    reason: Annotated[str, "The verdict's reason in a sentence."]
    unknown_because: Annotated[list[ReasonPart], "What kept parts of it undecided."]
    files: Annotated[list[FilePart], "The input, in the order it was read."]
    range: Annotated[RangePart | None, "The judged part; null if everything was judged."]
    transactions: Annotated[int, "Transactions audited."]
    row_changes: Annotated[int, "Row changes in them."]
    kinds: Annotated[dict[str, int], "Transactions by kind: rows, ddl, statement, xa, empty, ..."]
    tables: Annotated[list[TablePart], "The tables that were changed."]
    commit_groups: Annotated[CommitGroupsPart, "How the source committed them together."]
    pairs_that_may_wait: Annotated[
        int, "Pairs that give one result in either order, where one waits for a row lock."
    ]
    pairs_allowed_to_overlap: Annotated[int, "Pairs of transactions the metadata lets overlap."]
    situations: Annotated[SituationsPart, "How many of these pairs are decidable."]
    conflicting_pairs_ordered: Annotated[int, "Conflicting pairs that it keeps apart."]
    lint: Annotated[list[LintPart], "What is wrong or odd with the metadata."]
    lint_dropped: Annotated[int, "Findings past the end of that list."]
    violations: Annotated[list[ViolationPart], "Conflicting pairs that may overlap."]
    violations_dropped: Annotated[int, "Violations past the end of that list."]
    replay: Annotated[ReplayPart, "What applying the row images in order showed."]
    parallelism: Annotated[dict[str, ParallelismPart], "Limits, by model of scheduling."]
    predictions: Annotated[dict[str, PredictionPart], "By applier, as `paraply compare` names it."]
    predicted_transactions: Annotated[int, "How many transactions the predictions are about."]
    counterfactuals: Annotated[list[CounterfactualPart], "What would be faster, most gain first."]
    unpredicted_keys: Annotated[
        list[str],
        "Tables without a key where none is predicted: which rows change is not known.",
    ]
    unpredicted_delay: Annotated[
        str, "Why no delay of group commits is predicted, if it may matter; else empty."
    ]
    clock_distance: Annotated[
        dict[str, int], "Histogram of SN-LC by power of two: `4` counts 4 to 7."
    ]
    width_over_time: Annotated[list[WidthPart], "Width under the metadata, slice by slice."]
    blockers: Annotated[list[BlockerPart], "What the critical path is made of, largest first."]
    critical_path: Annotated[list[PathLinkPart], "The longest chain of row conflicts, cut inside."]
    assumptions: Annotated[list[str], "What had to be assumed."]
    statements_asked: Annotated[list[str], "What `--dsn` asked the server, in order."]
    next_steps: Annotated[list[str], "What to do about it, most useful first."]
