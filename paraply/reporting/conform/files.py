"""A conformance result as JSON, JUnit XML and TAP."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from paraply.adapters.conformance.interleavings import Explored
from paraply.conforming.causes import CauseGroup, groups_by_cause
from paraply.conforming.suite import CaseResult, Result
from paraply.reporting.conform.report import SuiteReport
from paraply.reporting.counterexample_text import counterexample_lines
from paraply.reporting.escape import visible
from paraply.reporting.evidence import decidable, evidence_json
from paraply.reporting.explore_text import history_records
from paraply.reporting.json_document import json_document


def conform_json(report: SuiteReport) -> str:
    """Return the result as JSON."""
    applier, results = report.applier, report.results
    document = {
        "verdict": report.verdict.word,
        "applier": {"name": applier.name, "features": sorted(applier.features)},
        "precision": None if applier.precision is None else asdict(applier.precision),
        "schedules": report.schedules,
        "seed": report.seed,
        "counts": dict(Counter(result.result.value for result in results)),
        "remarks": list(report.remarks),
        "causes": [_cause_json(group) for group in groups_by_cause(results)],
        "cases": [_case_json(result, report) for result in results],
    }
    return json_document(document)


def _cause_json(group: CauseGroup) -> dict[str, Any]:
    return {
        "property": group.cause.prop or None,
        "kind": group.cause.kind,
        "smallest": group.smallest.case.id,
        "cases": list(group.ids),
    }


def _case_json(result: CaseResult, report: SuiteReport) -> dict[str, Any]:
    case, breach = result.case, result.breach
    known = report.expected.get(case.id)
    return {
        "id": case.id,
        "family": case.family,
        "fact": case.fact,
        "source": case.source,
        "decides": case.decides,
        "result": result.result.value,
        "reason": result.reason,
        "expected": None if known is None else {"reason": known.reason, "link": known.link},
        "runs": result.runs,
        "seconds": round(result.seconds, 3),
        "explored": _explored_json(result.explored),
        "situations": evidence_json(result.evidence),
        "stderr": list(result.stderr) if result.result is Result.FAIL else [],
        "notes": list(result.notes),
        "replay": report.command(result),
        "breach": None
        if breach is None
        else {
            "property": breach.prop.name,
            "violations": [str(violation) for violation in breach.violations],
            "replay": report.command(result),
            "broken": breach.broken,
            "repeats": breach.repeats,
            "history": history_records(breach.history),
        },
    }


def _explored_json(explored: Explored | None) -> dict[str, Any] | None:
    if explored is None:
        return None
    return {**asdict(explored), "is_exhaustive": explored.is_exhaustive}


def conform_junit(report: SuiteReport) -> str:
    """Return JUnit XML; unknown cases are skipped, unless the report is strict."""
    root = ElementTree.Element("testsuites", name="paraply conform")
    suite = ElementTree.SubElement(root, "testsuite", name="paraply conform")
    failures = skipped = 0
    for result in report.results:
        case = result.case
        element = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"paraply.conform.{case.family}",
            name=case.id,
            time=f"{result.seconds:.3f}",
        )
        problem = _problem(result, report)
        if problem:
            failures += 1
            failure = ElementTree.SubElement(
                element, "failure", type=result.result.value, message=visible(problem)
            )
            if result.breach is not None:
                lines = counterexample_lines(result.breach.prop, result.breach.history)
                failure.text = "\n".join(lines)
            elif result.notes:
                failure.text = "\n".join(map(visible, result.notes))
        elif result.result is not Result.PASS:
            skipped += 1
            reason = f"{result.result.value}: {result.reason}"
            ElementTree.SubElement(element, "skipped", message=visible(reason))
        if result.evidence.relevant:
            ElementTree.SubElement(element, "system-out").text = decidable(result.evidence)
    if report.remarks:
        ElementTree.SubElement(suite, "system-out").text = "\n".join(map(visible, report.remarks))
    for element in (root, suite):
        element.set("tests", str(len(report.results)))
        element.set("failures", str(failures))
        element.set("errors", "0")
        element.set("skipped", str(skipped))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def conform_tap(report: SuiteReport) -> str:
    """Return the result in TAP version 14."""
    results, expected = report.results, report.expected
    lines = ["TAP version 14", f"1..{len(results)}"]
    for number, result in enumerate(results, start=1):
        known = result.case.id in expected
        is_ok = result.result in (Result.PASS, Result.SLOW, Result.SKIP)
        line = f"{'ok' if is_ok else 'not ok'} {number} - {result.case.id} {result.case.fact}"
        line = line.replace("#", "\\#")
        if result.result is Result.SKIP:
            line += f" # SKIP {visible(result.reason)}"
        elif known or result.result is Result.UNKNOWN:
            # Known failures and undecided cases neither fail the run nor pass.
            reason = expected[result.case.id].reason if known else f"unknown: {result.reason}"
            line += f" # TODO {visible(reason)}"
        lines.append(line)
        if result.evidence.relevant:
            lines.append(f"# {decidable(result.evidence)}")
        if result.result is Result.FAIL:
            lines += ["  ---", f"  message: {visible(result.reason)!r}", "  ..."]
    lines += [f"# {visible(remark)}" for remark in report.remarks]
    return "\n".join([*lines, ""])


def _problem(result: CaseResult, report: SuiteReport) -> str:
    is_known = report.is_expected(result)
    if result.result is Result.FAIL:
        return "" if is_known else result.reason
    if not report.is_strict or result.result is Result.SLOW:
        return ""
    if result.result is Result.PASS:
        return "expected to fail, and passed" if is_known else ""
    return f"{result.result.value}: {result.reason}"
