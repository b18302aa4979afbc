"""``paraply list``: subjects, properties and mutants."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from paraply.adapters.conformance.cases import suite
from paraply.adapters.conformance.cases.case import FAMILIES
from paraply.adapters.conformance.protocol import Role
from paraply.counterexamples.workload_arguments import option_text
from paraply.file_arguments import JsonFile
from paraply.properties.two_sides import other_side, twins_of
from paraply.registries import registered_mutants, registered_properties, registered_subjects
from paraply.reporting.files import STANDARD_OUTPUT, write_report
from paraply.reporting.json_document import json_document
from paraply.reporting.plain_table import entries, plain_table

_EXAMPLE = """\
examples:
  paraply list subjects
  paraply list properties --json - | jq -r '.properties[].name'
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "List subjects, their dialects, properties, mutants, or cases of the conformance suite."
    )
    parser.epilog = _EXAMPLE
    parser.add_argument("what", choices=sorted(_LISTS))
    parser.add_argument("--json", type=JsonFile, metavar="F", help="write JSON; - is stdout")


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    records, lines = _LISTS[arguments.what]()
    if arguments.json is not None:
        write_report(arguments.json, json_document({arguments.what: records}))
    if arguments.json != STANDARD_OUTPUT:
        sys.stdout.write("\n".join([*lines, ""]))
    return 0


_Listing = tuple[list[dict[str, Any]], list[str]]


def _subjects() -> _Listing:
    records: list[dict[str, Any]] = []
    lines: list[str] = []
    for subject in registered_subjects():
        records.append(
            {
                "name": subject.name,
                "meaning": subject.meaning,
                "source": subject.source,
                "dialects": list(subject.dialects),
                "options": [
                    {"name": one.name, "default": one.default, "meaning": one.meaning}
                    for one in subject.options
                ],
                "breaks_where": [
                    {
                        "options": one.where,
                        "dialects": [
                            name
                            for name in subject.dialects
                            if not one.dialects or name in one.dialects
                        ],
                        "breaks": sorted(one.breaks),
                        "because": one.because,
                        "cause": one.cause.meaning,
                    }
                    for one in subject.breaks_where
                ],
                "unreachable": {
                    dialect: sorted(subject.unreachable_in(dialect)) for dialect in subject.dialects
                },
            }
        )
        rows = [
            ("source", subject.source),
            ("dialects", ", ".join(subject.dialects)),
            *((f"{one.name}={option_text(one.default)}", one.meaning) for one in subject.options),
            *((f"breaks with {one.where}", one.because) for one in subject.breaks_where),
            *(
                (f"never reached{f' in {dialect}' if dialect else ''}", ", ".join(sorted(names)))
                for dialect, names in subject.unreachable.items()
            ),
        ]
        lines += ["", *plain_table((subject.name, subject.meaning), rows)]
    return records, lines[1:]


def _dialects() -> _Listing:
    records = [
        {
            "subject": subject.name,
            "dialect": dialect,
            "is_default": dialect == subject.dialects[0],
            "breaks": sorted(subject.breaks.get(dialect, ())),
        }
        for subject in registered_subjects()
        for dialect in subject.dialects
    ]
    rows = [
        (
            subject.name,
            dialect,
            dialect == subject.dialects[0],
            ", ".join(sorted(subject.breaks.get(dialect, ()))) or "nothing",
        )
        for subject in registered_subjects()
        for dialect in subject.dialects
    ]
    return records, plain_table(("subject", "dialect", "default", "is known to break"), rows)


def _properties() -> _Listing:
    records: list[dict[str, Any]] = [
        {
            "name": prop.name,
            "area": prop.area,
            "expectation": prop.expectation.value,
            "is_safety": prop.is_safety,
            "meaning": prop.meaning,
            "source": prop.source,
            "twins": list(twins_of(prop.name)),
            "other_side": other_side(prop),
        }
        for prop in registered_properties()
    ]
    return records, entries(
        (
            prop.area,
            f"{prop.name} ({prop.expectation.value}{'' if prop.is_safety else ', precision'})",
            [prop.meaning, *filter(None, [other_side(prop)]), f"Source: {prop.source}"],
        )
        for prop in registered_properties()
    )


def _mutants() -> _Listing:
    records = [
        {
            "name": mutant.name,
            "family": mutant.family,
            "subject": mutant.subject.name,
            "caught_by": mutant.caught_by,
            "survives_because": mutant.survives_because,
            "fault": mutant.fault,
            "source": mutant.source,
        }
        for mutant in registered_mutants()
    ]
    return records, entries(
        (
            mutant.family,
            mutant.name,
            [
                mutant.fault,
                f"Caught by: {mutant.caught_by or 'none, it is equivalent'}",
                f"Source: {mutant.source}",
            ],
        )
        for mutant in registered_mutants()
    )


def _cases() -> _Listing:
    records: list[dict[str, Any]] = [
        {
            "id": case.id,
            "family": case.family,
            "fact": case.fact,
            "source": case.source,
            "decides": case.decides,
            "needs": sorted(case.features),
            "roles": [role.value for role in Role if role is Role.APPLIER or case.is_for_trackers],
        }
        for case in suite()
    ]
    return records, entries(
        (
            f"{case.family} {FAMILIES[case.family]}",
            case.id,
            [
                case.fact,
                f"Decides: {case.decides}"
                + (f"; needs: {', '.join(sorted(case.features))}" if case.features else ""),
                f"Source: {case.source}",
            ],
        )
        for case in suite()
    )


_LISTS = {
    "cases": _cases,
    "dialects": _dialects,
    "mutants": _mutants,
    "properties": _properties,
    "subjects": _subjects,
}
