"""The audit of one recorded pair in each state of knowledge, held against the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from difflib import unified_diff
from pathlib import Path
from pprint import pformat

from paraply.auditing.dump_age import DumpMoment
from paraply.auditing.engines import COMPILED, READABLE
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.properties.logs.row_replay import BEFORE_IMAGES_MATCH
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.errors import ParaplyError
from tests.oracle.recorder import RecordedPair, forge


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the audit is given besides the rows."""

    name: str
    from_creation: bool
    full: bool
    dump: str = ""
    """Of ``before`` the pairs, of ``after`` them, or of ``later``, after more schema statements."""
    moment: DumpMoment = DumpMoment.UNKNOWN
    """What the audit is told of the dump's age."""


KNOWLEDGE = (
    Knowledge("created", True, False),
    Knowledge("created, full", True, True),
    Knowledge("dump of begin", False, False, "before", DumpMoment.BEGIN),
    Knowledge("dump of end", False, True, "after", DumpMoment.END),
    Knowledge("dump before", False, False, "before"),
    Knowledge("dump after", False, True, "after"),
    Knowledge("created, dump after", True, False, "after"),
    Knowledge("dump later", False, False, "later"),
    Knowledge("late, full", False, True),
    Knowledge("late", False, False),
)
"""States of knowledge; the first three tell all that the audit needs."""
COMPLETE = frozenset({"created", "created, full", "dump of begin"})
BOTH_ENGINES = frozenset({"created"})
"""States in which the compiled engine is asked, too."""

_OWN_FIELDS = {"engine", "engine_because", "left_rows", "left_tables"}
"""Fields about the engine, which differ between engines."""

_LINES_SHOWN = 12

_NO_EVIDENCE = ("nothing shows that conflicts", "never put to the test")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the audit said of a pair, and whether the server disagrees."""

    knowledge: str
    word: str
    """``holds``, ``may wait``, ``unknown``, ``violated`` or ``refused``."""
    reasons: tuple[str, ...] = ()
    disagreement: str = ""
    """``unsound``, ``false alarm``, ``replay`` or ``engines``; empty where there is none."""
    compiled: str = ""
    """How the compiled engine judged: ``whole``, ``left`` tables to the other, or ``refused``."""


def judge(pair: RecordedPair, folder: Path, *, is_mariadb: bool) -> list[Answer]:
    """Return one answer per state of knowledge."""
    log = folder / "oracle.000001"
    applier = "commit-group" if is_mariadb else "logical-clock"
    asked: dict[tuple[bytes, str, DumpMoment], AuditResult | ParaplyError] = {}
    found = []
    for knowledge in KNOWLEDGE:
        data = forge(
            pair,
            from_creation=knowledge.from_creation,
            full=knowledge.full,
            is_mariadb=is_mariadb,
            later=knowledge.dump == "later",
        )
        text = getattr(pair, f"dump_{knowledge.dump}") if knowledge.dump else ""
        # Where no schema statement lies between, dumps of before and later are the same question.
        question = (data, text, knowledge.moment)
        result = asked.get(question)
        if result is None:
            log.write_bytes(data)
            schema = folder / "schema.sql"
            schema.write_text(text)
            request = AuditRequest(
                files=(str(log),),
                schema=str(schema) if text else None,
                schema_at=knowledge.moment,
                engine=READABLE,
                workers=(),
                appliers=(applier,),
            )
            asked[question] = result = _audited(request)
        if isinstance(result, ParaplyError):
            found.append(Answer(knowledge.name, "refused", (result.text,)))
            continue
        answer = _answer(knowledge.name, result, pair)
        if knowledge.name in BOTH_ENGINES:
            answer = by_both(answer, result, _audited(replace(request, engine=COMPILED)))
        found.append(answer)
    return found


def by_both(answer: Answer, readable: AuditResult, compiled: AuditResult | ParaplyError) -> Answer:
    """Return the answer with how the compiled engine judged, and where it differs."""
    if isinstance(compiled, ParaplyError):
        return replace(answer, compiled="refused")
    how = "left" if compiled.left_rows else "whole"
    differences = tuple(engine_differences(readable, compiled))
    if not differences or answer.disagreement:
        return replace(answer, compiled=how)
    return replace(answer, compiled=how, disagreement="engines", reasons=differences)


def engine_differences(readable: AuditResult, compiled: AuditResult) -> Iterator[str]:
    """Yield the fields in which two engines' results differ, with both values."""
    # It prints mappings in the order of their keys: engines meet tables in other orders.
    for name in (each.name for each in fields(AuditResult)):
        ours, theirs = getattr(readable, name), getattr(compiled, name)
        if name not in _OWN_FIELDS and (lines := _differing(pformat(ours), pformat(theirs))):
            yield f"{name}: " + " / ".join(lines)


def _differing(ours: str, theirs: str) -> list[str]:
    """Return the lines in which the two engines differ, the readable one's marked by ``-``."""
    lines = unified_diff(ours.splitlines(), theirs.splitlines(), "readable", "compiled", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))][:_LINES_SHOWN]


def _audited(request: AuditRequest) -> AuditResult | ParaplyError:
    try:
        return audit(request)
    except ParaplyError as fault:
        return fault


def _answer(name: str, result: AuditResult, pair: RecordedPair) -> Answer:
    # The server says whether a pair conflicts, and nothing of rows that cannot be followed.
    reasons = tuple(
        reason.reason
        for reason in result.unknown_because
        if reason.property != BEFORE_IMAGES_MATCH
        and not any(text in reason.reason for text in _NO_EVIDENCE)
    )
    if any(violation.certain for violation in result.violations):
        word = "violated"
    elif reasons:
        word = "unknown"
    else:
        word = "may wait" if result.may_wait else "holds"
    disagreement = ""
    if result.replay.findings:
        disagreement = "replay"
        reasons = tuple(finding.message for finding in result.replay.findings)
    elif pair.truth.answer == "conflict" and word in ("holds", "may wait"):
        disagreement = "unsound"
    elif (
        pair.truth.answer == "commute"
        and word == "violated"
        and not (pair.truth.one_row or _is_one_row(result))
    ):
        disagreement = "false alarm"
        reasons = tuple(f"{v.table} {v.index}" for v in result.violations)
    return Answer(name, word, reasons, disagreement)


def _is_one_row(result: AuditResult) -> bool:
    """Return whether the audit names the key of one row, which partial images do not show."""
    return all(
        violation.index in ("PRIMARY", "SEQUENCE") and "child row" not in violation.consequence
        for violation in result.violations
    )
