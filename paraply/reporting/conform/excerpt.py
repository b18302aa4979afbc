"""One failure in a few lines: the events that lead to the breach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from paraply.conforming.causes import CauseGroup
from paraply.conforming.suite import CaseResult
from paraply.properties.moments import first_breaking_event
from paraply.properties.registry import Property
from paraply.reporting.conform.lines import cut_ids, height, wrapped
from paraply.reporting.conform.report import SuiteReport
from paraply.reporting.conform.text import failure_lines, share_lines, stderr_lines
from paraply.reporting.escape import visible
from paraply.reporting.event_words import event_words
from paraply.reporting.history_text import lane_names_of, lane_of, transaction_table
from paraply.reporting.page import page
from paraply.vocabulary.history import History

_SENTENCE_LINES_MAX = 2
_TRANSACTIONS_MAX = 4
_TURNS_BESIDE_TABLE = 2
_EVENTS_OF_A_TURN_MAX = 7


class _Spare(NamedTuple):
    """Lines at most for parts of a failure, and at least for its story."""

    stderr: int
    command: int
    ids: int
    story: int


_SPARING = (
    _Spare(stderr=2, command=4, ids=2, story=3),
    _Spare(stderr=0, command=3, ids=1, story=2),
    _Spare(stderr=0, command=1, ids=1, story=0),
)


def group_lines(group: CauseGroup, report: SuiteReport, lines_max: int) -> list[str]:
    """Return the smallest failure of a cause, whole if it fits, and the ids of the others."""
    result = group.smallest
    others = [one for one in group.ids if one != result.case.id]
    same = _same_cause(others, lines_max)
    whole = [*failure_lines(result, report.command(result), report.expected), *same]
    if height(whole) <= lines_max:
        return whole
    breach = result.breach
    reason = result.reason if breach is None else f"{breach.prop.name}: {result.reason}"
    begins = [
        f"FAIL {result.case.id}: {result.case.fact}",
        *_cut(wrapped(visible(reason), "  ", "  ")),
    ]
    for spare in _SPARING:
        ends = [
            *share_lines(result),
            *stderr_lines(result, spare.stderr),
            *_command_lines(result, report.command(result), spare.command),
        ]
        room = lines_max - height([*begins, *ends])
        least = height(_same_cause(others, spare.ids))
        if room - least >= spare.story:
            break
    story = _story(result, room - least)
    return [*begins, *story, *ends, *_same_cause(others, max(spare.ids, room - height(story)))]


def _same_cause(ids: Sequence[str], lines_max: int) -> list[str]:
    if not ids:
        return []
    cases = "case" if len(ids) == 1 else "cases"
    return cut_ids(f"{len(ids)} other {cases} with this cause:", ids, "  ", lines_max)


def _command_lines(result: CaseResult, command: str, lines_max: int) -> list[str]:
    line = f"  again: {command}"
    if command and height([line]) > lines_max:
        line = f"  again: its command has {len(command):,} characters: see --show {result.case.id}"
    return [line] if command else []


def _story(result: CaseResult, lines_max: int) -> list[str]:
    if result.breach is not None:
        return steps_to_breach(result.breach.prop, result.breach.history, lines_max)
    notes = [f"  {visible(line)}" for line in result.notes]
    if height(notes) <= lines_max:
        return notes
    # The first line is the next finding or the injected faults; the last steps are before the end.
    last: list[str] = []
    for line in reversed(notes[1:]):
        if height([notes[0], "…", *last, line]) > lines_max:
            break
        last.insert(0, line)
    left = len(notes) - len(last) - 1
    return [notes[0], f"  … {left:,} lines left out …", *last] if last else []


@dataclass(frozen=True, slots=True)
class _Steps:
    """Consecutive events of one lane."""

    first: int
    last: int
    who: str
    words: tuple[str, ...]
    events: tuple[int, ...]

    def lines(self, width: int, *, is_breach: bool) -> list[str]:
        steps = str(self.first) if self.first == self.last else f"{self.first}-{self.last}"
        is_long = len(self.words) > _EVENTS_OF_A_TURN_MAX
        shown = ("…", *self.words[-_EVENTS_OF_A_TURN_MAX:]) if is_long else self.words
        what = "; ".join(shown)
        if page().is_plain:
            here = " This breaks it." if is_breach else ""
            return wrapped(f"Step {steps}, {self.who}: {what}.{here}", "  ", "  ")
        lead = f"{'>>>' if is_breach else '':>5} {steps:>7}  {self.who:<{width}}  "
        lines = wrapped(f"{lead}{what}", "", " " * len(lead))
        return [page().alarm(line) for line in lines] if is_breach else lines


def steps_to_breach(prop: Property, history: History, lines_max: int) -> list[str]:
    """Return the transactions and the last events up to the breach, a line per turn of a worker.

    The transactions are left out if they leave no room for two turns.
    """
    moment = first_breaking_event(history, prop)
    if moment is None:
        return []
    turns = _turns(history, moment + 1)
    width = max(len(turn.who) for turn in turns)
    drawn = [turn.lines(width, is_breach=turn is turns[-1]) for turn in turns]
    for with_table in (True, False):
        for first in range(max(0, len(turns) - lines_max), len(turns)):
            table = _transactions(history, turns[first:]) if with_table else []
            lines = [*table, *chain.from_iterable(drawn[first:])]
            is_enough = first == 0 or len(turns) - first >= _TURNS_BESIDE_TABLE or not with_table
            if is_enough and height(lines) <= lines_max:
                return lines
    return []


def _turns(history: History, end: int) -> list[_Steps]:
    names = lane_names_of(history)
    turns: list[_Steps] = []
    for index, event in enumerate(history.events[:end]):
        who, words = names[lane_of(event)], event_words(event, history)
        if turns and turns[-1].who == who:
            turns[-1] = replace(
                turns[-1],
                last=event.time,
                words=(*turns[-1].words, words),
                events=(*turns[-1].events, index),
            )
        else:
            turns.append(_Steps(event.time, event.time, who, (words,), (index,)))
    return turns


def _transactions(history: History, turns: Sequence[_Steps]) -> list[str]:
    """Return a table of the transactions of the turns, the latest ones if there are many."""
    indices = [index for turn in reversed(turns) for index in reversed(turn.events)]
    latest = list(dict.fromkeys(history.events[index].transaction for index in indices))
    known = [one for one in latest if one is not None]
    left = len(known) - _TRANSACTIONS_MAX
    named = known if left <= 0 else known[: _TRANSACTIONS_MAX - 1]
    chosen = tuple(one for one in history.transactions if one.id in named)
    if not chosen:
        return []
    table = transaction_table(replace(history, transactions=chosen, events=()))
    more = [f"… and {left + 1} more transactions"] if left > 0 else []
    return [f"  {line}" for line in [*table, *more] if set(line) != {"-"}]


def _cut(lines: list[str]) -> list[str]:
    if len(lines) <= _SENTENCE_LINES_MAX:
        return lines
    return [*lines[: _SENTENCE_LINES_MAX - 1], f"{lines[_SENTENCE_LINES_MAX - 1][:-2]} …"]
