"""Judge a run from the case's log and the target's own log.

Final tables are no judge: a later transaction overwrites a lost one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from paraply.properties.two_logs.judgement import Level
from paraply.properties.two_logs.versions import (
    TransactionTorn,
    VersionFault,
    VersionLost,
    VersionReordered,
    VersionRepeated,
    versions_are_the_sources,
)
from paraply.verifying.errors import NO_COMMON_TABLE, NO_ROWS
from paraply.verifying.inputs import open_log
from paraply.verifying.mapping import Rules, plan
from paraply.verifying.normalising import NormalisedLog, Normaliser, new_secret, shown_value
from paraply.verifying.pipeline import NO_RULES, VerifyRequest, verify
from paraply.verifying.recording import record
from paraply.verifying.result import REQUIREMENTS
from paraply.verifying.showing import Side
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict

FINDINGS_MAX = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class LogVerdict:
    """The verdict of both judges on one run.

    ``kind`` is of a violation whose first finding does not begin with it.
    """

    verdict: Verdict
    level: str = ""
    kind: str = ""
    findings: tuple[str, ...] = ()


def judge_logs(
    source: Sequence[Path],
    target: Sequence[Path],
    *,
    required: str,
    compacts: bool,
    rules: Rules = NO_RULES,
) -> LogVerdict:
    """Compare versions of rows, unless the program ``compacts``, then the level of states.

    The program had received the whole log, so that late rows are lost rows. With ``rules`` both
    logs may be one.
    """
    names = tuple(map(str, source)), tuple(map(str, target))
    try:
        findings = () if compacts else _version_findings(*names, rules, required)
        result = verify(
            VerifyRequest(
                source=names[0],
                target=names[1],
                rules=rules,
                required=required,
                by_content=True,
                is_drained=True,
            )
        )
    except ParaplyError as error:
        if error.error not in (NO_ROWS, NO_COMMON_TABLE):
            raise
        return LogVerdict(
            verdict=Verdict.VIOLATED, findings=("lost: the target's log contains no row",)
        )
    level = result.level.word
    if findings:
        return LogVerdict(verdict=Verdict.VIOLATED, level=level, findings=findings)
    if result.verdict is Verdict.VIOLATED:
        words = [witness.text for witness in result.witnesses]
        words.append(f"the target's log reaches the level {level}, not {required}")
        return LogVerdict(
            verdict=Verdict.VIOLATED, level=level, kind=words[-1], findings=tuple(words)
        )
    reasons = tuple(f"{one.subject}: {one.reason}" for one in result.unknown)
    return LogVerdict(verdict=result.verdict, level=level, findings=reasons)


def _version_findings(
    source: tuple[str, ...], target: tuple[str, ...], rules: Rules, required: str
) -> tuple[str, ...]:
    with ExitStack() as stack:
        recordings = []
        for names, is_target in ((source, False), (target, True)):
            recording = record(open_log(names), None, is_target=is_target)
            stack.callback(recording.close)
            recordings.append(recording)
        if not recordings[1].changes:
            raise ParaplyError(NO_ROWS, where=", ".join(target), side="target")
        made = plan(recordings[0], recordings[1], rules, same_log=source == target)
        secret = new_secret()
        sides = []
        for recording, is_target in zip(recordings, (False, True), strict=True):
            normaliser = Normaliser(recording, made, secret, is_target=is_target)
            log = NormalisedLog(
                (at, normaliser.commit(rows))
                for at, rows in enumerate(recording.all_rows(), start=1)
            )
            stack.callback(log.close)
            sides.append(Side(recording, normaliser, log))
        faults = versions_are_the_sources(sides[0].commits(), sides[1].commits())
        if REQUIREMENTS[required] < Level.ATOMIC:
            faults = tuple(one for one in faults if not isinstance(one, TransactionTorn))
        return tuple(_sentence(fault, *sides) for fault in faults[:FINDINGS_MAX])


def _sentence(fault: VersionFault, source: Side, target: Side) -> str:
    mine = _name(source, fault.source)
    row = _row(fault, source, target)
    written = _name(target, fault.target)
    if isinstance(fault, TransactionTorn):
        second = _name(target, fault.after)
        return f"torn: {mine} is in two target transactions, {written} and {second} ({row})"
    if isinstance(fault, VersionReordered):
        later = _name(source, fault.after)
        return f"reordered: {written} of the target applies {later} before {mine} ({row})"
    if isinstance(fault, VersionLost):
        return f"lost: the target's log never contains the change of {mine} ({row})"
    if isinstance(fault, VersionRepeated):
        return f"repeated: {written} of the target applies {mine} again ({row})"
    return (
        f"unknown version: {written} of the target writes a row that the source never had ({row})"
    )


def _name(side: Side, number: int) -> str:
    if not number:
        return "nothing"
    name = side.name(number)
    place = name.place.rpartition("/")[2]
    return place if name.name == name.place else f"{name.name} at {place}"


def _row(fault: VersionFault, source: Side, target: Side) -> str:
    side, number = (source, fault.source) if fault.source else (target, fault.target)
    stored = side.recording.rows_of(side.log.numbers[number - 1])
    change = dict(side.rows(stored)).get(fault.key)
    if change is None:
        return "row unknown"
    key = change.key if isinstance(change.key, tuple) else (change.key,)
    return f"{change.table} row {', '.join(map(shown_value, key))}"
