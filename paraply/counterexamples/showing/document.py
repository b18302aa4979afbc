"""One history as the JSON values of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paraply.counterexamples.showing.alternatives import Alternative, Alternatives
from paraply.counterexamples.showing.dependencies import dependency_edges, stamps_by_member
from paraply.counterexamples.showing.sql_schedule import sql_schedule
from paraply.counterexamples.showing.states import state_differences
from paraply.properties.moments import first_breaking_event
from paraply.properties.registry import Property
from paraply.reporting.escape import visible
from paraply.reporting.event_words import event_words
from paraply.reporting.history_text import agreed, lane_names_of, lane_of
from paraply.vocabulary.history import History
from paraply.vocabulary.write_set import format_item, sorted_items

CONTINUATION_MAX = 60
"""Events of an alternative."""
BREACHES_MAX = 20
_NAMED = re.compile(r"\bT(\d+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A history and its annotations.

    Attributes:
        broken: properties, the headline's first.
        replay: replay command, or empty.
        test: replaying pytest function, or empty.
    """

    history: History
    broken: Sequence[Property] = ()
    alternatives: Alternatives | None = None
    replay: str = ""
    test: str = ""
    minimal: str = ""


def document_of(shown: Shown) -> dict[str, Any]:
    """Return the page's content."""
    history = shown.history
    names = lane_names_of(history)
    columns = {lane: place for place, lane in enumerate(names)}
    breaches = [_breach(history, prop) for prop in shown.broken]
    named = {
        int(number)
        for breach in breaches
        for sentence in breach["sentences"][:1]
        for number in _NAMED.findall(sentence)
    }
    return {
        "title": _title(history),
        "about": _about(history),
        "lanes": [visible(name) for name in names.values()],
        "members": [lane[0] for lane in names],
        "events": [
            [event.time, columns[lane_of(event)], event_words(event, history),
             event.transaction or 0, event.kind.value]
            for event in history.events
        ],
        "differences": [
            [[visible(text) if text is not None else None for text in one] for one in changed]
            for changed in state_differences(history)
        ],
        "transactions": _transactions(history),
        "edges": [
            {
                "from": edge.earlier,
                "to": edge.later,
                "kind": edge.kind,
                "premise": visible(edge.premise),
                "broken": visible(edge.broken),
            }
            for edge in dependency_edges(history, named)
        ],
        "breaches": breaches,
        "isComplete": history.is_complete,
        "alternatives": _alternatives(shown, columns),
        "choices": [] if shown.alternatives is None else list(shown.alternatives.choices),
        "replay": shown.replay,
        "test": shown.test,
        "sql": "\n".join(visible(line) for line in sql_schedule(history).split("\n")),
        "minimal": shown.minimal,
    }  # fmt: skip


def _title(history: History) -> str:
    header = history.header
    who = header.subject or "a recorded history"
    return visible(f"{who}, dialect {header.dialect}" if header.dialect else who)


def _about(history: History) -> list[list[str]]:
    header = history.header
    rows = [
        ("recorded by", header.recorded_by),
        ("evidence", header.tier.value.replace("_", " ")),
        ("seed", "" if header.seed is None else str(header.seed)),
        ("options", ", ".join(f"{name}={value}" for name, value in header.options.items())),
        ("program", header.program),
        ("transactions", f"{len(history.transactions):,}"),
        ("events", f"{len(history.events):,}"),
        ("complete", "yes" if history.is_complete else "no: it broke off"),
    ]
    return [[name, visible(text)] for name, text in rows if text]


def _transactions(history: History) -> list[dict[str, Any]]:
    stamps = stamps_by_member(history)
    found = []
    for one in history.transactions:
        given = stamps[one.id]
        found.append(
            {
                "id": one.id,
                "items": [visible(format_item(item)) for item in sorted_items(one.write_set)],
                "lc": agreed({m: str(s.last_committed) for m, s in given.items()}),
                "sn": agreed({m: str(s.sequence_number) for m, s in given.items()}),
                "kind": one.kind.value.replace("_", " "),
                "gtid": visible(one.gtid),
                "session": visible(one.session),
                "statement": visible(one.statement),
            }
        )
    return found


def _breach(history: History, prop: Property) -> dict[str, Any]:
    violations = prop.violations(history)
    sentences = [visible(str(one)) for one in violations[:BREACHES_MAX]]
    moment = first_breaking_event(history, prop)
    return {
        "property": prop.name,
        "meaning": visible(prop.meaning),
        "source": visible(prop.source),
        "sentences": sentences,
        "more": max(0, len(violations) - BREACHES_MAX),
        "moments": _moments(history, moment, sentences[0] if sentences else ""),
    }


def _moments(history: History, moment: int | None, sentence: str) -> list[int]:
    if moment is None:
        return []
    mine = history.events[moment].transaction
    named = {int(number) for number in _NAMED.findall(sentence)} - {mine}
    for place in range(moment - 1, -1, -1):
        if history.events[place].transaction in named:
            return [place, moment]
    return [moment]


def _alternatives(shown: Shown, columns: dict[Any, int]) -> list[dict[str, Any]]:
    if shown.alternatives is None:
        return []
    nearest = shown.alternatives.nearest_passing
    return [
        {
            "position": one.position,
            "label": visible(one.label),
            "taken": one.taken,
            "option": one.option,
            "first": one.first,
            "verdict": one.verdict.word,
            "isNearest": one is nearest,
            "words": _in_words(shown.history, one),
            "events": _continuation(one, columns),
            "more": max(0, len(one.history.events) - one.first - CONTINUATION_MAX),
        }
        for one in shown.alternatives.found
    ]


def _in_words(history: History, one: Alternative) -> str:
    """Return the first event that differs and the one that it replaces."""
    who, what = _said(one.history, one.first)
    whose, taken = _said(history, one.first)
    if what == taken:
        return f"{who} instead of {whose}: {what}"
    if who == whose:
        return f"{who}: {what} instead of {taken}"
    parts = ((who, what), (whose, taken))
    return " instead of ".join(": ".join(filter(None, part)) for part in parts)


def _said(history: History, place: int) -> tuple[str, str]:
    if place >= len(history.events):
        return "", "the run ends"
    event = history.events[place]
    return lane_names_of(history)[lane_of(event)], event_words(event, history)


def _continuation(one: Alternative, columns: dict[Any, int]) -> list[list[Any]]:
    history = one.history
    return [
        [event.time, columns.get(lane_of(event), -1), event_words(event, history)]
        for event in history.events[one.first : one.first + CONTINUATION_MAX]
    ]
