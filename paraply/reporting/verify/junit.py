"""``paraply verify`` as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from paraply.reporting.escape import visible
from paraply.reporting.verify import words
from paraply.verifying.result import NO_FAULTS, REQUIREMENTS, VerifyResult
from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True, slots=True)
class _Case:
    group: str
    name: str
    verdict: Verdict
    message: str = ""
    said: str = ""
    """Shown whatever the verdict is."""


def verify_junit(result: VerifyResult) -> str:
    """Return the XML; levels above the required never fail."""
    cases = list(_cases(result))
    root = ElementTree.Element("testsuites", name="paraply verify")
    suite = ElementTree.SubElement(root, "testsuite", name="paraply verify")
    for case in cases:
        element = ElementTree.SubElement(
            suite, "testcase", classname=f"paraply.verify.{case.group}", name=visible(case.name)
        )
        if case.verdict is Verdict.VIOLATED:
            ElementTree.SubElement(element, "failure", message=visible(case.message))
        elif case.verdict is Verdict.UNKNOWN:
            ElementTree.SubElement(element, "skipped", message=visible(case.message))
        if case.said:
            ElementTree.SubElement(element, "system-out").text = visible(case.said)
    for element in (root, suite):
        element.set("tests", str(len(cases)))
        element.set("failures", str(sum(c.verdict is Verdict.VIOLATED for c in cases)))
        element.set("errors", "0")
        element.set("skipped", str(sum(c.verdict is Verdict.UNKNOWN for c in cases)))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _cases(result: VerifyResult) -> Iterator[_Case]:
    # The verdict is always there, even without judged rows.
    yield _Case(
        "verdict",
        f"{result.required} holds",
        result.verdict,
        words.headline(result),
        words.decidable_text(result),
    )
    reasons = {witness.level: witness.text for witness in result.witnesses}
    for name, level in REQUIREMENTS.items():
        if level <= REQUIREMENTS[result.required]:
            missed = result.level < level
            verdict = result.verdict if missed else Verdict.HOLDS
            yield _Case("level", name, verdict, reasons.get(name, words.headline(result)))
    if result.names is not None:
        for finding in result.names.findings:
            if finding.rule not in NO_FAULTS:
                verdict = min(result.verdict, Verdict.VIOLATED)
                yield _Case("transactions", f"{finding.rule} {finding.text}", verdict, finding.text)
    for found in result.monitors:
        name = f"{found.prop}: {found.theorem}"
        yield _Case("monitor", name, found.verdict, found.claim, words.monitor_text(found))
    for reason in result.unknown:
        message = f"{reason.reason}; to find out: {reason.remedy}"
        yield _Case("unknown", reason.subject, Verdict.UNKNOWN, message)
