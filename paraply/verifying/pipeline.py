"""The work of ``paraply verify``: record both logs, pair tables, judge, blame, sum up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from paraply.adapters.binlog.report import LogReport
from paraply.errors import NOTHING_READ
from paraply.properties.two_logs.alignment import begin_within
from paraply.properties.two_logs.blame import Blame, blame
from paraply.properties.two_logs.commits import Key
from paraply.properties.two_logs.fingerprints import error_bound
from paraply.properties.two_logs.identity import IdentityJudgement, Named, judge_identity
from paraply.properties.two_logs.judgement import Judgement
from paraply.properties.two_logs.streaming import REACH, WINDOW, judge_streaming
from paraply.verifying.errors import NO_ROWS
from paraply.verifying.inputs import LogInput, is_same_log, open_log
from paraply.verifying.mapping import Plan, Rules, plan
from paraply.verifying.normalising import NormalisedLog, Normaliser, new_secret
from paraply.verifying.previous_gtids import had_before
from paraply.verifying.recording import Recording, record
from paraply.verifying.result import VerifyResult
from paraply.verifying.showing import RowsShown, Side, keys_to_show
from paraply.verifying.summary import Judged, summed_up
from paraply.verifying.timing import Progress
from paraply.vocabulary.errors import ParaplyError

SAME_SHARE_MIN = 0.5
"""Of the shorter log's transactions, how many must have a name of the other log."""


NO_RULES = Rules()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest:
    """What to verify, and how. ``required`` is a key of ``REQUIREMENTS``, None for the default:
    prefix where both logs have the same transactions, final elsewhere."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    rules: Rules = NO_RULES
    schema: str | None = None
    target_schema: str | None = None
    required: str | None = None
    by_content: bool = False
    """Do not match transactions by name."""
    is_drained: bool = False
    """The target had applied everything: what is late at its end is lost."""
    window: int = WINDOW
    reach: int = REACH


Advance = Callable[[float], None]


def verify(request: VerifyRequest, advance: Advance = lambda _: None) -> VerifyResult:
    """Return what the two logs show; ``advance`` gets the bytes read so far.

    Raises ``ParaplyError`` for files, schemas or mappings of no use. Logs that can be read in part
    are judged in part, and the verdict is at best unknown.
    """
    source_log, target_log = open_log(request.source), open_log(request.target)
    same_log = is_same_log(source_log, target_log) and bool(request.rules.tables)
    with ExitStack() as stack:
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
                (at, normaliser.commit(stored)) for at, stored in enumerate(recording, start=1)
            )
            stack.callback(log.close)
            sides.append(Side(recording, normaliser, log))
        return _judged(request, sides[0], sides[1], made, same_log=same_log)


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
    if not recording.rows:
        raise ParaplyError(NO_ROWS, where=", ".join(log.names), side=side)


def _judged(
    request: VerifyRequest, source: Side, target: Side, made: Plan, *, same_log: bool
) -> VerifyResult:
    names = None
    if not (same_log or request.by_content):
        names = _names(source, target)
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
    blamed = () if excepted is None else sorted(excepted.keys)
    rows = RowsShown(source, target, made, keys_to_show(first, blamed, names))
    judged = Judged(
        judgement=first,
        excepted=excepted,
        names=names,
        progress=progress,
        plan=made,
        guessed_begin=guessed,
        error_bound=error_bound(
            source.judged, target.judged, max(source.log.copies_max, target.log.copies_max)
        ),
    )
    return summed_up(judged, source, target, rows, request)


def _names(source: Side, target: Side) -> IdentityJudgement | None:
    """Return what names show, None where the logs do not have the same transactions."""
    had = [had_before(side.recording.report) for side in (source, target)]

    def named(side: Side, had_by_other: Callable[[str], bool]) -> Iterator[Named]:
        for number, stored in enumerate(side.recording, start=1):
            if not had_by_other(stored.name):
                yield Named(
                    name=stored.name,
                    number=number,
                    commit=side.normaliser.commit(stored),
                    group=stored.domain,
                )

    if not (source.recording.has_gtids and target.recording.has_gtids):
        return None
    result = judge_identity(named(source, had[1]), named(target, had[0]))
    shorter = min(len(source.recording), len(target.recording))
    return result if result.matched and result.matched >= SAME_SHARE_MIN * shorter else None


def _align(source: Side, target: Side, *, by_name: bool) -> str:
    """Let the judged parts of both logs begin together; return which side was guessed to begin
    later, empty where none was."""
    if by_name:
        for side, other in ((source, target), (target, source)):
            had = had_before(other.recording.report)
            numbers = side.log.numbers
            while side.skipped < len(numbers) and had(
                side.recording.commit(numbers[side.skipped]).name
            ):
                side.skipped += 1
        return ""
    source.skipped = begin_within(source.commits(), target.commits())
    if source.skipped:
        return "target"
    target.skipped = begin_within(target.commits(), source.commits())
    return "source" if target.skipped else ""
