"""Pages of judged histories."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraply.counterexamples.hunt import properties_of
from paraply.counterexamples.showing.alternatives import Alternatives, alternatives_of
from paraply.counterexamples.showing.document import Shown
from paraply.judging.live_histories import live_properties_of
from paraply.properties.registry import Expectation, Property, verdict_of
from paraply.reference_impl.subject import Subject, Workload, workload_of_header
from paraply.registries import mutant_named, property_named, registered_properties, subject_named
from paraply.reporting.files import write_reports
from paraply.reporting.show_html import show_html
from paraply.reporting.table_page import index_html
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import History
from paraply.vocabulary.programs import decode_program, parse_program
from paraply.vocabulary.verdict import Verdict, combine

INDEX = "index.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A history's page and index entry."""

    name: str
    html: str
    verdict: Verdict
    broken: Sequence[Property]
    history: History


def page_of(
    name: str,
    file: str,
    history: History,
    *,
    mutant: str = "",
    properties: Sequence[str] = (),
    with_alternatives: bool = True,
) -> Page:
    """Judge a history and return its page.

    Args:
        name: without ending.
        file: for the replay command.
        properties: by default the subject's.
        with_alternatives: run untaken choices if possible.
    """
    subject = _subject(history, mutant)
    judges = _properties(history, subject, properties)
    broken = [prop for prop in judges if prop.violations(history)]
    again = subject is not None and bool(history.header.program)
    alternatives: Alternatives | None = None
    if subject is not None and again and broken and with_alternatives:
        workload = workload_of_header(history.header)
        choices = decode_program(parse_program(history.header.program))
        runner = subject.run
        alternatives = alternatives_of(
            lambda schedule: runner(schedule, workload), broken[0], choices
        )
    words = ["paraply", "replay", file, *(["--mutant", mutant] if mutant else [])]
    shown = Shown(
        history=history,
        broken=broken,
        alternatives=alternatives,
        replay=shlex.join(words) if again else "",
        test=_test(history, mutant, broken[0]) if again and broken else "",
    )
    verdict = combine(verdict_of(history, prop) for prop in judges)
    html = show_html(shown, verdict=verdict)
    return Page(name=name, html=html, verdict=verdict, broken=broken, history=history)


def write_pages(folder: Path, pages: Sequence[Page]) -> Path:
    """Write pages and index; return the index."""
    rows = []
    for page in pages:
        rows.append(
            {
                "href": f"{page.name}.html",
                "name": page.name,
                "verdict": page.verdict.word,
                "cells": {
                    "subject": page.history.header.subject,
                    "broken": ", ".join(prop.name for prop in page.broken),
                    "transactions": len(page.history.transactions),
                    "events": len(page.history.events),
                },
            }
        )
    verdict = combine(page.verdict for page in pages)
    headline = f"{sum(bool(page.broken) for page in pages):,} of {len(pages):,} break something."
    index = folder / INDEX
    files = {f"{page.name}.html": page.html for page in pages}
    files[index.name] = index_html("Histories", headline, verdict, rows)
    write_reports(str(folder), files)
    return index


def _subject(history: History, mutant: str) -> Subject | None:
    if mutant:
        return mutant_named(mutant).subject
    try:
        return subject_named(history.header.subject)
    except ParaplyError:
        return None


def _properties(history: History, subject: Subject | None, names: Sequence[str]) -> list[Property]:
    if names:
        return [property_named(name) for name in names]
    live = live_properties_of(history)
    if live is not None:
        return live
    if subject is not None:
        return [
            prop for prop in properties_of(subject, []) if prop.expectation is Expectation.ALWAYS
        ]
    return [
        prop
        for prop in registered_properties()
        if prop.expectation is Expectation.ALWAYS and prop.is_safety
    ]


def _test(history: History, mutant: str, prop: Property) -> str:
    workload: Workload = workload_of_header(history.header)
    getter = (
        f'mutant_named("{mutant}").subject'
        if mutant
        else f'subject_named("{history.header.subject}")'
    )
    imported = "mutant_named" if mutant else "subject_named"
    return f'''\
from paraply.registries import {imported}, property_named
from paraply.counterexamples.replaying import replay
from paraply.reference_impl.subject import Workload


def test_{prop.name}():
    workload = {workload!r}
    history = replay({getter}, workload, "{history.header.program}").history
    assert property_named("{prop.name}").violations(history) == ()
'''
