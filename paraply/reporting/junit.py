"""The audit as JUnit XML, a test case per property and subject.

``unknown`` is skipped with its reason; ``--strict`` fails unknown and warnings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from paraply.reporting.escape import visible
from paraply.reporting.evidence import decidable_pairs
from paraply.reporting.words import (
    headline,
    judged_range,
    metadata_model,
    name_of,
    place_of,
    place_of_finding,
    timestamp,
)
from paraply.vocabulary.audit_result import AuditResult, TransactionRef
from paraply.vocabulary.verdict import Verdict

_REPLAY_PROPERTIES = ("before_images_match", "inserted_keys_are_free", "rows_exist")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    group: str
    name: str
    verdict: Verdict
    message: str = ""
    details: str = ""
    is_warning: bool = False
    said: str = ""
    """Shown whatever the verdict is."""


def render_junit(result: AuditResult, *, strict: bool = False) -> str:
    """Return the JUnit XML of one audit."""
    cases = list(_cases(result))
    root = ElementTree.Element("testsuites", name="paraply audit")
    suite = ElementTree.SubElement(root, "testsuite", name="paraply audit")
    if result.range is not None:
        properties = ElementTree.SubElement(suite, "properties")
        judged = visible(judged_range(result))
        ElementTree.SubElement(properties, "property", name="judged", value=judged)
    failures = skipped = 0
    for case in cases:
        element = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"paraply.audit.{case.group}",
            name=visible(case.name),
        )
        doubted = case.verdict is Verdict.UNKNOWN or case.is_warning
        if case.verdict is Verdict.VIOLATED or (strict and doubted):
            failures += 1
            kind = "warning" if case.is_warning else case.verdict.word
            failure = ElementTree.SubElement(
                element, "failure", type=kind, message=visible(case.message)
            )
            failure.text = _lines_visible(case.details)
        elif case.verdict is Verdict.UNKNOWN:
            skipped += 1
            ElementTree.SubElement(element, "skipped", message=visible(case.message))
        elif case.is_warning:
            ElementTree.SubElement(element, "system-out").text = _lines_visible(case.details)
        if case.said:
            ElementTree.SubElement(element, "system-out").text = visible(case.said)
    for element in (root, suite):
        element.set("tests", str(len(cases)))
        element.set("failures", str(failures))
        element.set("errors", "0")
        element.set("skipped", str(skipped))
    ElementTree.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        + ElementTree.tostring(root, encoding="unicode")
        + "\n"
    )


def _cases(result: AuditResult) -> Iterator[_Case]:
    # The overall verdict exists even when nothing could be judged.
    yield _Case(
        group="verdict",
        name="the log is safe to apply in parallel",
        verdict=result.verdict,
        message=headline(result),
        details=headline(result),
        said=decidable_pairs(result),
    )
    yield from _safety(result)
    yield from _lint(result)
    yield from _replay(result)
    for file in result.files:
        yield _Case(
            group="files",
            name=f"file_is_read_to_its_end {file.name}",
            verdict=Verdict.UNKNOWN if file.stopped else Verdict.HOLDS,
            message=file.stopped,
            details=file.stopped,
        )
    stopped = {file.name for file in result.files if file.stopped}
    for reason in result.unknown_because:
        if reason.subject not in stopped:
            yield _Case(
                group="unknown",
                name=f"{reason.property} {reason.subject}".strip(),
                verdict=Verdict.UNKNOWN,
                message=f"{reason.reason}; to find out: {reason.remedy}",
                details=f"{reason.reason}\nto find out: {reason.remedy}",
            )


def _safety(result: AuditResult) -> Iterator[_Case]:
    by_applier = defaultdict(list)
    for violation in result.violations:
        by_applier[violation.property, violation.applier].append(violation)
    for (property_name, applier), violations in by_applier.items():
        pairs = [
            f"{violation.table} {violation.key}: {_described(violation.earlier)} and "
            f"{_described(violation.later)}\n  {violation.consequence}"
            for violation in violations
        ]
        if result.violations_dropped:
            pairs.append(f"and {result.violations_dropped} more in all")
        yield _Case(
            group="safety",
            name=f"{property_name} [{applier}]",
            verdict=Verdict.VIOLATED
            if any(violation.certain for violation in violations)
            else Verdict.UNKNOWN,
            message=pairs[0].partition("\n")[0],
            details="\n".join(pairs),
        )
    model = metadata_model(result)
    if model is not None and model.model not in {applier for _, applier in by_applier}:
        yield _Case(
            group="safety",
            name=f"conflicting_transactions_are_ordered [{model.model}]",
            verdict=model.safe,
            message="not decided; see the reasons",
        )


def _lint(result: AuditResult) -> Iterator[_Case]:
    by_rule = defaultdict(list)
    for finding in result.lint:
        if finding.severity != "note":
            by_rule[finding.rule, finding.file].append(finding)
    for (rule, file), findings in by_rule.items():
        broken = any(finding.severity == "violation" for finding in findings)
        details = [
            ": ".join(part for part in (place_of_finding(finding), finding.message) if part)
            for finding in findings
        ]
        yield _Case(
            group="lint",
            name=f"{rule} {file}".rstrip(),
            verdict=Verdict.VIOLATED if broken else Verdict.HOLDS,
            is_warning=not broken,
            message=details[0],
            details="\n".join(details),
        )
    if not by_rule:
        yield _Case(group="lint", name="metadata_is_well_formed", verdict=Verdict.HOLDS)


def _replay(result: AuditResult) -> Iterator[_Case]:
    for name in _REPLAY_PROPERTIES:
        details = [
            f"{finding.table} {finding.key} in {_described(finding.transaction)}: {finding.message}"
            for finding in result.replay.findings
            if finding.property == name
        ]
        yield _Case(
            group="replay",
            name=name,
            verdict=Verdict.VIOLATED
            if details
            else Verdict.HOLDS
            if result.row_changes
            else Verdict.UNKNOWN,
            message=details[0] if details else "the log changes no row",
            details="\n".join(details),
        )


def _described(reference: TransactionRef) -> str:
    return f"{name_of(reference)} at {place_of(reference)} {timestamp(reference)}".rstrip()


def _lines_visible(text: str) -> str:
    return "\n".join(visible(line) for line in text.split("\n"))
