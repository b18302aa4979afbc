"""Runs all steps of ``paraply verify``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec

from paraply.adapters.binlog.compiled_gains import gains_by_kernels
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.source import STANDARD_INPUT
from paraply.adapters.postgresql.pgoutput import lsn_number
from paraply.errors import NOTHING_READ
from paraply.mining.workers import Map
from paraply.properties.two_logs.alignment import begin_within
from paraply.properties.two_logs.blame import Blame, blame
from paraply.properties.two_logs.commits import Commit, Key
from paraply.properties.two_logs.fingerprints import error_bound
from paraply.properties.two_logs.identity import IdentityJudgement, Named, judge_identity
from paraply.properties.two_logs.judgement import Judgement
from paraply.properties.two_logs.streaming import REACH, WINDOW, judge_streaming
from paraply.verifying.errors import NO_ROWS
from paraply.verifying.inputs import InputKind, LogInput, is_same_log, open_log
from paraply.verifying.mapping import Plan, Rules, plan
from paraply.verifying.normalising import NormalisedLog, Normaliser, new_secret
from paraply.verifying.previous_gtids import had_before
from paraply.verifying.recording import Header, Recording, record
from paraply.verifying.result import VerifyResult
from paraply.verifying.showing import RowsShown, Side, keys_to_show
from paraply.verifying.summary import NO_COMMON_BEGIN, Copied, Judged, summed_up
from paraply.verifying.timing import Progress
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.not_compilable import NotCompilable

SAME_SHARE_MIN = 0.5
"""Share of common names in the shorter log."""
ENGINES = ("auto", READABLE := "readable")
PART_BYTES = 1 << 30
"""Of a part that a task of Spark reads, in some ten seconds."""


NO_RULES = Rules()
NO_CHANGES = Commit()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest:
    """What to verify, and how.

    ``required`` is a key of ``REQUIREMENTS``; None means prefix for equal transactions, else final.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    rules: Rules = NO_RULES
    schema: str | None = None
    target_schema: str | None = None
    required: str | None = None
    by_content: bool = False
    """Ignore transaction names."""
    is_drained: bool = False
    """Late rows are lost rows."""
    window: int = WINDOW
    reach: int = REACH
    engine: str = "auto"
    """``readable`` uses no compiled engine, whose result is the same."""


@dataclass(slots=True, kw_only=True)
class InParts:
    """How to read two logs in parts, and what became of it."""

    parts: int
    """Of each log, at most."""
    map_parts: Map
    folder: str | None = None
    """For the parts' files; workers must reach it (None: local)."""
    read: int = 0
    """Parts of both logs."""
    again: int = 0
    """Parts that were read again."""
    in_one_piece: str = ""
    """Why both logs were read in one piece, or empty."""


Advance = Callable[[float], None]


def verify(
    request: VerifyRequest, advance: Advance = lambda _: None, in_parts: InParts | None = None
) -> VerifyResult:
    """Return the result; ``advance`` gets bytes read.

    ``in_parts`` reads logs that the compiled engine decides in parts, and receives why others are
    read in one piece. Raises ``ParaplyError`` for unusable inputs. Partly readable logs yield
    UNKNOWN at best.
    """
    source_log, target_log = open_log(request.source), open_log(request.target)
    same_log = is_same_log(source_log, target_log) and bool(request.rules.tables)
    with ExitStack() as stack:
        refused = (
            "only binary logs are cut"
            if not source_log.kind is target_log.kind is InputKind.BINARY
            else _not_compiled(request, is_large=in_parts is not None)
        )
        if not refused:
            try:
                return _decided(request, source_log, target_log, advance, stack, in_parts)
            except NotCompilable as reason:
                refused = str(reason)  # The readable engine decides, and explains.
        if in_parts is not None:
            in_parts.in_one_piece = refused
        source = _recorded(source_log, request.schema, advance, stack, is_target=False)
        done = source.bytes_read
        target = _recorded(
            target_log, request.target_schema, lambda n: advance(done + n), stack, is_target=True
        )
        made = plan(source, target, request.rules, same_log=same_log)
        secret = new_secret()
        sides = []
        for recording, is_target in ((source, False), (target, True)):
            normaliser = Normaliser(recording, made, secret, is_target=is_target)
            log = NormalisedLog(
                (at, normaliser.commit(rows))
                for at, rows in enumerate(recording.all_rows(), start=1)
            )
            stack.callback(log.close)
            sides.append(Side(recording, normaliser, log))
        return _judged(
            request,
            sides[0],
            sides[1],
            made,
            same_log=same_log,
            may_show_snapshots=source_log.kind is InputKind.POSTGRESQL,
        )


def may_compile(request: VerifyRequest) -> bool:
    """Return whether the compiled engine may decide, by the sizes of the files alone."""
    return not _not_compiled(request)


def _not_compiled(request: VerifyRequest, *, is_large: bool = False) -> str:
    """Return why the compiled engine is not asked, or empty."""
    if request.engine == READABLE:
        return "the readable engine is required"
    sizes = [_size(name) for name in (*request.source, *request.target)]
    if None in sizes:
        return "only regular files are cut"
    if not is_large and not gains_by_kernels(sum(filter(None, sizes)), "two_logs"):
        return "the logs are small"
    return "" if find_spec("numba") is not None else "the library numba is not installed"


def parts_of(names: Sequence[str]) -> int:
    """Return how many parts a log has at the usual size."""
    return 1 + sum(_size(name) or 0 for name in names) // PART_BYTES


def load_engine(sample: str) -> None:
    """Load the compiled engine, and compile what is not stored, by judging a small log."""
    log = open_log([sample])
    with ExitStack() as stack:
        _decided(VerifyRequest(source=(sample,), target=(sample,)), log, log, lambda _: None, stack)


def _size(name: str) -> int | None:
    """None for what can be read once."""
    return os.stat(name).st_size if name != STANDARD_INPUT and os.path.isfile(name) else None


def _decided(
    request: VerifyRequest,
    source: LogInput,
    target: LogInput,
    advance: Advance,
    stack: ExitStack,
    in_parts: InParts | None = None,
) -> VerifyResult:
    """Return the result for healthy logs; raises ``NotCompilable``."""
    from paraply.verifying.compiled.engine import healthy

    found = healthy(request, source, target, advance, stack, in_parts)
    sides = [
        Side(recording, None, commits, skipped)
        for recording, commits, skipped in zip(
            found.recordings, found.commits, found.skipped, strict=True
        )
    ]
    judged = Judged(
        judgement=found.judged.judgement,
        excepted=None,
        names=found.names,
        copied=None,
        may_show_snapshots=False,
        progress=found.progress,
        plan=found.plan,
        guessed_begin="",
        error_bound=_error_bound(sides[0], sides[1]),
    )
    rows = RowsShown(sides[0], sides[1], found.plan, ())
    return summed_up(judged, sides[0], sides[1], rows, request)


def _error_bound(source: Side, target: Side) -> float:
    copies = max(source.log.copies_max, target.log.copies_max)
    return error_bound(source.judged, target.judged, copies)


def _recorded(
    log: LogInput, schema: str | None, advance: Advance, stack: ExitStack, *, is_target: bool
) -> Recording:
    recording = record(log, schema, advance, is_target=is_target)
    stack.callback(recording.close)
    _require_rows(log, recording, "target" if is_target else "source")
    return recording


def _require_rows(log: LogInput, recording: Recording, side: str) -> None:
    report: LogReport = recording.report
    if not recording.transactions and not any(file.read_to_end for file in report.files):
        first = next(report.diagnostics())
        raise ParaplyError(NOTHING_READ, reason=first.text, remedy=first.remedy)
    if not recording.changes:
        raise ParaplyError(NO_ROWS, where=", ".join(log.names), side=side)


def _judged(
    request: VerifyRequest,
    source: Side,
    target: Side,
    made: Plan,
    *,
    same_log: bool,
    may_show_snapshots: bool,
) -> VerifyResult:
    names, copied = None, None
    if not (same_log or request.by_content):
        names, copied = _names(source, target)
    guessed = _align(source, target, by_name=names is not None)
    progress = Progress()

    def judge_without(keys: frozenset[Key]) -> Judgement:
        return judge_streaming(
            source.commits(),
            target.commits(),
            window=request.window,
            reach=request.reach,
            excluded=keys,
        )

    first = judge_streaming(
        source.commits(),
        target.commits(),
        window=request.window,
        reach=request.reach,
        on_state=progress.note,
    )
    excepted: Blame | None = blame(judge_without, first)
    blamed = () if excepted is None else excepted.keys
    rows = RowsShown(source, target, made, keys_to_show(first, blamed, names))
    judged = Judged(
        judgement=first,
        excepted=excepted,
        names=names,
        copied=copied,
        may_show_snapshots=may_show_snapshots,
        progress=progress,
        plan=made,
        guessed_begin=guessed,
        error_bound=_error_bound(source, target),
    )
    return summed_up(judged, source, target, rows, request)


def _names(source: Side, target: Side) -> tuple[IdentityJudgement | None, Copied | None]:
    had = [had_before(side.recording.report) for side in (source, target)]
    copies, copied_to = _initial_copy(target.recording)
    skipped = [0, 0]

    def is_copied(header: Header) -> bool:
        at = lsn_number(header.name) if copies else None
        return header.is_initial_copy or (at is not None and at <= copied_to)

    def named(side: Side, had_by_other: Callable[[str], bool]) -> Iterator[Named]:
        judged = zip(side.log.numbers, side.log, strict=True)
        at, commit = next(judged, (0, NO_CHANGES))
        for number, header in enumerate(side.recording.headers(), start=1):
            changes = commit if at == number else NO_CHANGES
            if at == number:
                at, commit = next(judged, (0, NO_CHANGES))
            if is_copied(header):
                skipped[side is target] += 1
            elif not had_by_other(header.name):
                yield Named(
                    name=header.name,
                    number=number,
                    commit=changes,
                    group=header.domain,
                    session=header.session,
                    hides_rows=header.hides_rows,
                )

    if not (source.recording.has_gtids and target.recording.has_gtids):
        return None, None
    result = judge_identity(named(source, had[1]), named(target, had[0]))
    judged = (len(side.recording) - skipped[side is target] for side in (source, target))
    if not result.matched or result.matched < SAME_SHARE_MIN * min(judged):
        return None, None
    copied = Copied(by_target=copies, source_transactions=skipped[0])
    return result, copied if copies else None


def _initial_copy(recording: Recording) -> tuple[tuple[int, ...], int]:
    """Return the transactions of the initial copy, and the source position at which it ended.

    A copied table is ready with its first change in another transaction. Until all of them are,
    transactions arrive without the rows of the tables that are not.
    """
    if not any(header.is_initial_copy for header in recording.headers()):
        return (), 0
    copies: list[int] = []
    copied: set[str] = set()
    ready: dict[str, int] = {}
    ended_at = 0
    headers = zip(recording.headers(), recording.all_rows(), strict=True)
    for number, (header, rows) in enumerate(headers, start=1):
        tables = {recording.layouts[at].table for at, _, _ in rows}
        position = lsn_number(header.name.rpartition(" ")[2]) or 0
        if header.is_initial_copy:
            copies.append(number)
            copied |= tables
            ended_at = max(ended_at, position)
        else:
            for table in tables & copied:
                ready.setdefault(table, position)
    return tuple(copies), max([ended_at, *(position - 1 for position in ready.values())])


def _align(source: Side, target: Side, *, by_name: bool) -> str:
    """Skip commits so that both logs begin together.

    Returns the later side, ``neither`` without common begin, or an empty text.
    """
    if by_name:
        for side, other in ((source, target), (target, source)):
            had = had_before(other.recording.report)
            numbers = side.log.numbers
            while side.skipped < len(numbers) and had(
                side.recording.header(numbers[side.skipped]).name
            ):
                side.skipped += 1
        return ""
    begins = [
        begin_within(one.commits(), other.commits())
        for one, other in ((source, target), (target, source))
    ]
    if not any(begin.is_common for begin in begins):
        return NO_COMMON_BEGIN
    later = begins[0] if begins[0].after or not begins[1].after else begins[1]
    if later is begins[0]:
        source.skipped = later.after
        return "target" if later.after else ""
    target.skipped = later.after
    return "source"
