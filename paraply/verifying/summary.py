"""Combines all judgements into one result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paraply.adapters.binlog.report import FileReport
from paraply.properties.two_logs.blame import Blame
from paraply.properties.two_logs.identity import IdentityJudgement
from paraply.properties.two_logs.judgement import End, Judgement, Level, Stretch
from paraply.verifying.mapping import Plan
from paraply.verifying.result import (
    REQUIREMENTS,
    BatchFinding,
    Delivery,
    ExceptedRows,
    Lag,
    Names,
    Reason,
    SideSummary,
    SnapshotFinding,
    States,
    StretchFinding,
    TableSummary,
    VerifyResult,
)
from paraply.verifying.showing import (
    ROWS_SHOWN,
    RowsShown,
    Side,
    blame_why,
    copy_finding,
    named_findings,
    witness_shown,
)
from paraply.verifying.statements import defined_in_one_log, replaced_apart
from paraply.verifying.timing import (
    Progress,
    seconds_behind,
    seconds_of,
    time_share,
    transactions_behind,
)
from paraply.vocabulary.counting import counted
from paraply.vocabulary.verdict import Verdict

if TYPE_CHECKING:
    from paraply.verifying.pipeline import VerifyRequest

NO_COMMON_BEGIN = "neither"
STRETCHES_SHOWN = 20
BATCHES_SHOWN = 20
SNAPSHOTS_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """The initial copy of a subscription: target transactions by number, and what they bring."""

    by_target: tuple[int, ...]
    source_transactions: int


@dataclass(slots=True, kw_only=True)
class Judged:
    """All judgements."""

    judgement: Judgement
    excepted: Blame | None
    names: IdentityJudgement | None
    copied: Copied | None
    may_show_snapshots: bool
    """The source may make transactions visible in another order than that of its log."""
    progress: Progress
    plan: Plan
    guessed_begin: str
    error_bound: float


def summed_up(
    judged: Judged, source: Side, target: Side, rows: RowsShown, request: VerifyRequest
) -> VerifyResult:
    """Return the result with its verdict."""
    judgement = judged.judgement
    times = source.times_us(), target.times_us()
    level = overall_level(judgement, is_drained=request.is_drained)
    required = request.required or ("final" if judged.names is None else "prefix")
    result = VerifyResult(
        verdict=Verdict.UNKNOWN,
        required=required,
        level=level,
        mode="other transactions" if judged.names is None else "same transactions",
        source=_side(source, request.source),
        target=_side(target, request.target),
        tables=_tables(judged.plan),
        states=_states(judged, source, target, times[1]),
        end=judgement.end,
        end_name=source.name(judgement.end_position) if judgement.end_position else None,
        is_drained=judgement.is_drained or request.is_drained,
        delivery=Delivery(
            state_went_back=judgement.state_went_back,
            key_went_back=judgement.key_went_back,
            rewritten=judgement.rewritten,
            unknown_versions=judgement.unknown_versions,
        ),
        lag=_lag(judged, times[0], times[1], source.judged),
        witnesses=[
            witness_shown(witness, source, target, rows)
            for witness in judgement.witnesses
            if witness.missed > level
        ],
        except_rows=_excepted(judged, target, rows),
        differing=[
            rows.row(key, why=blame_why(key, judgement))
            for key in list(judgement.differing | judgement.conceded)[:ROWS_SHOWN]
        ],
        differing_count=len(judgement.differing | judgement.conceded),
        drifted=[
            rows.row(key, until=number, why="found changed outside of the target's log")
            for key, number in list(judgement.found.items())[:ROWS_SHOWN]
        ],
        drifted_count=len(judgement.found),
        names=None if judged.names is None else _names(judged, judged.names, source, target, rows),
        unknown=_unknown(judged, source, target, request),
        notes=_notes(judged),
        error_bound=judged.error_bound,
        window=request.window,
        reach=request.reach,
        timeline=judged.progress.timeline(),
    )
    result.verdict = _verdict(result, judged)
    level_required = REQUIREMENTS[required]
    is_doubtful = (
        judged.guessed_begin == NO_COMMON_BEGIN
        or _hinges_on_unread(judged, level_required, source, target)
        or _hinges_on_hidden(judged, level_required, source, target)
        or bool(replaced_apart(judged, source, target))
    )
    if is_doubtful and result.verdict is Verdict.VIOLATED:
        result.verdict = Verdict.UNKNOWN
    return result


def _hinges_on_unread(judged: Judged, required: Level, source: Side, target: Side) -> bool:
    """Return whether a part of a log that was not read may explain the violation.

    A target that was read up to a place is judged up to it, but for its last state and what may
    still come. With equal transactions, any state may be one of the source after the target's first
    transaction that is not in what was read of the source. With others, only the level ``prefix``
    is missed for good (:attr:`Judgement.left_early`).
    """
    sources, targets = (side.recording.report.files for side in (source, target))
    is_source_read, is_target_read = (all(map(_is_read, files)) for files in (sources, targets))
    if is_source_read and is_target_read:
        return False
    judgement, names = judged.judgement, judged.names
    may_be_snapshots = (
        required is Level.BATCHES and judged.may_show_snapshots and judgement.is_snapshots
    )
    if required is Level.FINAL or may_be_snapshots or judged.guessed_begin:
        return True
    if not all(map(_is_read, targets[:-1])):
        return True
    first = math.inf
    if names is not None:
        if (
            names.twice_count
            or names.changed_count
            or (names.missing_count and is_target_read)
            or (names.errant_with_rows and is_source_read)
        ):
            return False
        if not is_source_read:
            first = min(names.errant, default=math.inf)
    elif not is_source_read:
        is_early = required is Level.PREFIX and judgement.left_early
        return not (is_early and all(map(_is_read, sources[:-1])))
    return not any(target.number(at) < first for at in _missed(judgement, required))


def _hinges_on_hidden(judged: Judged, required: Level, source: Side, target: Side) -> bool:
    """Return whether changes without rows in a log may explain the violation.

    They explain no transaction that is missing, errant or applied again, and none with rows that
    differ.
    """
    if not (source.recording.hides_rows or target.recording.hides_rows):
        return False
    names = judged.names
    if names is None or required is Level.FINAL:
        return True
    missed = _missed(judged.judgement, required)
    return names.is_faultless and not any(target.number(at) < names.first_hidden for at in missed)


def _missed(judgement: Judgement, required: Level) -> list[int]:
    """Return the places of the target's first states that miss a level up to the required one."""
    return [one.target for one in judgement.witnesses if Level.FINAL < one.missed <= required]


def _is_read(file: FileReport) -> bool:
    return file.read_to_end and not file.incomplete_transactions


def overall_level(judgement: Judgement, *, is_drained: bool) -> Level:
    """Return the level; conceded rows diverge, and late rows of a drained target."""
    is_late = judgement.end is End.DIFFERENT and is_drained
    return Level.DIVERGED if judgement.conceded or is_late else judgement.level


def _verdict(result: VerifyResult, judged: Judged) -> Verdict:
    """Append undecided points to ``result.unknown``; return the verdict.

    Snapshot order satisfies ``batches`` where sessions of the source may have seen it.
    """
    judgement = judged.judgement
    required = REQUIREMENTS[result.required]
    is_excused = (
        required is Level.BATCHES
        and result.level is Level.ATOMIC
        and judgement.is_snapshots
        and judged.may_show_snapshots
    )
    if result.level is Level.UNDECIDED and required is Level.FINAL:
        _doubt(result, "the target's log ends before it had applied everything")
    elif result.level < required and not is_excused:
        only_cut_off = judgement.torn and judgement.torn == judgement.beyond_reach
        if required is Level.ATOMIC and result.level < Level.ATOMIC and only_cut_off:
            result.unknown.append(
                Reason(
                    subject="reach",
                    reason=f"{judgement.torn:,} states may be whole transactions of further than "
                    f"{result.reach} source steps ahead",
                    remedy="raise --reach",
                )
            )
        else:
            return Verdict.VIOLATED
    elif required is Level.FINAL and result.end is not End.EQUAL:
        early = counted(result.lag.transactions_last, "transaction")
        _doubt(result, f"the target's log ends {early} before the source's")
    if result.names is not None and not result.names.is_faultless and required is not Level.FINAL:
        return Verdict.VIOLATED
    return Verdict.UNKNOWN if result.unknown else Verdict.HOLDS


def _doubt(result: VerifyResult, reason: str) -> None:
    remedy = "take the target's log later; with --drained, rows that are late count as lost"
    result.unknown.append(Reason(subject="end", reason=reason, remedy=remedy))


def _side(side: Side, files: tuple[str, ...]) -> SideSummary:
    servers = [file.server_version for file in side.recording.report.files if file.server_version]
    return SideSummary(
        files=files,
        server=servers[-1] if servers else "",
        transactions=side.recording.transactions,
        judged=side.judged,
        changes=side.log.changes,
        first=side.name(1) if side.judged else None,
        last=side.name(side.judged) if side.judged else None,
    )


def _tables(made: Plan) -> list[TableSummary]:
    return [
        TableSummary(
            source=pair.source,
            target=pair.target,
            columns=tuple(
                column.source if column.source == column.target
                else f"{column.source}={column.target}"
                for column in pair.columns
            ),
            key=tuple(pair.columns[at].source for at in pair.key),
        )
        for pair in made.pairs
    ]  # fmt: skip


def _states(judged: Judged, source: Side, target: Side, times_us: Sequence[int]) -> States:
    judgement, progress = judged.judgement, judged.progress

    def shown(stretch: Stretch) -> StretchFinding:
        return StretchFinding(
            first=target.name(stretch.first),
            last=target.name(stretch.last),
            commits=stretch.length,
            seconds=seconds_of(stretch, times_us),
            healed=stretch.last < target.judged,
        )

    stretches = judgement.stretches
    longest = max(stretches, key=lambda stretch: stretch.length, default=None)
    batches = progress.steps()
    return States(
        prefixes=judgement.prefixes,
        commits=judgement.target_commits,
        time_share=time_share(times_us, progress.positions),
        longest=None if longest is None else shown(longest),
        stretches=[shown(stretch) for stretch in stretches[:STRETCHES_SHOWN]],
        stretch_count=len(stretches),
        torn=judgement.torn,
        beyond_reach=judgement.beyond_reach,
        before_the_source=target.skipped if judged.guessed_begin == "source" else 0,
        snapshots=[
            SnapshotFinding(
                target=target.name(one.target),
                missing=tuple(map(source.name, one.missing)),
                early=tuple(map(source.name, one.early)),
            )
            for one in judgement.snapshots[:SNAPSHOTS_SHOWN]
        ],
        snapshot_count=judgement.snapshot_count,
        only_snapshots=judgement.is_snapshots,
        batches=[
            BatchFinding(
                target=target.name(number),
                first=source.name(first),
                last=source.name(last),
                transactions=last - first + 1,
            )
            for number, first, last in batches[:BATCHES_SHOWN]
        ],
        batch_count=len(batches),
        largest_batch=max((last - first + 1 for _, first, last in batches), default=0),
    )


def _lag(
    judged: Judged, source_us: Sequence[int], target_us: Sequence[int], source_commits: int
) -> Lag:
    positions = judged.progress.positions
    seconds = seconds_behind(source_us, target_us, positions)
    judgement = judged.judgement
    at = judgement.end_position if judgement.end_position is not None else None
    furthest = judged.progress.furthest[-1] if judged.progress.furthest else 0
    return Lag(
        transactions_max=transactions_behind(source_us, target_us, positions),
        transactions_last=source_commits - (furthest if at is None else at),
        seconds_median=seconds[len(seconds) // 2] if seconds else None,
        seconds_max=seconds[-1] if seconds else None,
    )


def _excepted(judged: Judged, target: Side, rows: RowsShown) -> ExceptedRows | None:
    excepted = judged.excepted
    if excepted is None:
        return None
    first = judged.judgement
    level = excepted.judgement.level
    start = next((w.target for w in first.witnesses if w.missed is level), 0)
    return ExceptedRows(
        level=excepted.judgement.level,
        rows=[rows.row(key, why=blame_why(key, first)) for key in excepted.keys[:ROWS_SHOWN]],
        is_minimal=excepted.is_minimal,
        since=target.name(start) if start else None,
    )


def _names(
    judged: Judged, names: IdentityJudgement, source: Side, target: Side, rows: RowsShown
) -> Names:
    copied = judged.copied
    return Names(
        initial_copy=len(copied.by_target) if copied else 0,
        copied=copied.source_transactions if copied else 0,
        matched=names.matched,
        missing=names.missing_count,
        filtered=names.filtered,
        lag=names.lag,
        errant=names.errant_count,
        errant_with_rows=names.errant_with_rows,
        twice=names.twice_count,
        changed=names.changed_count,
        descents=names.descents,
        group_descents=names.group_descents,
        session_descents=names.session_descents,
        to_move=names.to_move,
        not_prefix=names.not_prefix,
        conflicting_inversions=names.inversion_count,
        findings=[
            *(copy_finding(target.recorded(number)) for number in copied.by_target[:ROWS_SHOWN]),
            *named_findings(names, source, target, rows),
        ]
        if copied
        else named_findings(names, source, target, rows),
        is_faultless=names.is_faultless,
    )


def _unknown(judged: Judged, source: Side, target: Side, request: VerifyRequest) -> list[Reason]:
    found = [
        Reason(subject=subject, reason=reason, remedy=remedy)
        for subject, reason, remedy in judged.plan.unknown
    ]
    for side, name in ((source, "source"), (target, "target")):
        for note, place in side.recording.notes.items():
            found.append(
                Reason(
                    subject=f"{name} log, {place}",
                    reason=note,
                    remedy="judge logs without it (binlog_format=ROW, complete files)",
                )
            )
        for file in side.recording.report.files:
            found += [
                Reason(subject=file.file, reason=diagnostic.text, remedy=diagnostic.remedy)
                for diagnostic in file.diagnostics
            ]
    found += defined_in_one_log(judged, source, target, request)
    if judged.guessed_begin == NO_COMMON_BEGIN:
        found.append(
            Reason(
                subject="both logs",
                reason="most rows were other ones when the target's log first changed them than "
                "when the source's log did: the logs seem to be of different times",
                remedy="give logs that begin at one state of the tables",
            )
        )
    elif judged.guessed_begin:
        late, side = ("target", source) if judged.guessed_begin == "target" else ("source", target)
        found.append(
            Reason(
                subject=f"{late} log",
                reason=f"it seems to begin later, after {_last_skipped(side)} of the other log: "
                f"{side.skipped:,} transactions before cannot be judged",
                remedy="give the files before it, too",
            )
        )
    return found


def _last_skipped(side: Side) -> str:
    return side.recorded(side.log.numbers[side.skipped - 1]).name


def _notes(judged: Judged) -> list[str]:
    made, judgement = judged.plan, judged.judgement
    notes = list(made.notes)
    if made.bookkeeping:
        notes.append("tables that only the target has: " + ", ".join(made.bookkeeping))
    if made.filtered:
        notes.append("tables that the target filters, as confirmed: " + ", ".join(made.filtered))
    if judgement.beyond_window:
        notes.append("the source's log goes on for more than a window after the target's")
    if judgement.snapshot_count:
        notes.append(
            "two logs do not show who swapped transactions in snapshot order: the source, whose "
            "sessions may have seen them so, or the applier"
        )
    notes.append(
        "dependencies through reads are in no log and are not judged; dependencies are changes of "
        "a common row"
    )
    return notes
