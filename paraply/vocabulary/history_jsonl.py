"""Histories as JSON Lines (docs/history-format.md).

A header, transactions, events, and their counts. Without the counts ``is_complete`` is False.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, TextIO

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.events import Event
from paraply.vocabulary.history import FORMAT_VERSION, History, HistoryHeader
from paraply.vocabulary.records import MalformedRecordError, decode_record, encode_record
from paraply.vocabulary.transactions import Transaction

MALFORMED_HISTORY = register(
    "P505",
    "this is not a history: {reason}",
    "docs/history-format.md describes each line, docs/history.schema.json is its JSON Schema",
)
UNKNOWN_HISTORY_VERSION = register(
    "P506",
    "the history has format version {version}, and this program reads up to {known}",
    "install a newer version, or record the history again",
)

LINE_CHARACTERS_MAX = 64 * 1024 * 1024
"""Far above a transaction of a million rows."""

RECORDS = {"history": HistoryHeader, "transaction": Transaction, "event": Event}
"""By the line's ``record`` word."""


def write_history(history: History) -> Iterator[str]:
    """Yield lines without ends."""
    header = {"format_version": history.header.format_version, **encode_record(history.header)}
    yield _line("history", header)
    for transaction in history.transactions:
        yield _line("transaction", encode_record(transaction))
    for event in history.events:
        yield _line("event", encode_record(event))
    if history.is_complete:
        counts = {"transactions": len(history.transactions), "events": len(history.events)}
        yield _line("end", counts)


def _line(record: str, value: dict[str, Any]) -> str:
    return json.dumps(
        {"record": record, **value}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def bounded_lines(stream: TextIO) -> Iterator[str]:
    """Yield lines, longer ones in pieces of LINE_CHARACTERS_MAX, which the reader rejects.

    So a file without line ends cannot fill the memory.
    """
    while line := stream.readline(LINE_CHARACTERS_MAX + 1):
        yield line


def read_histories(lines: Iterable[str], *, name: str = "") -> Iterator[History]:
    """Yield the histories of :func:`bounded_lines`.

    ``name`` is the file in messages. Raises ParaplyError P505 for an invalid record, P506 for a
    later format, P504 for inconsistent parts.
    """
    reader = _HistoryReader(name)
    for number, line in enumerate(lines, start=1):
        if line and not line.isspace():
            finished = reader.take(number, line)
            if finished is not None:
                yield finished
    broken_off = reader.finish(is_complete=False)
    if broken_off is not None:
        yield broken_off


class _HistoryReader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 0
        self._header: HistoryHeader | None = None
        self._header_line = 0
        self._transactions: list[Transaction] = []
        self._events: list[Event] = []

    def take(self, number: int, line: str) -> History | None:
        self._line = number
        value = self._parse(line)
        record = value.pop("record", None)
        if record == "end":
            return self._take_end(value)
        if not isinstance(record, str) or record not in RECORDS:
            self._refuse(f"a line's record is history, transaction, event or end, not {record!r}")
        if record != "history" and self._header is None:
            self._refuse(f"a {record} before any history")
        if record == "history":
            self._check_version(value)
        try:
            decoded = decode_record(RECORDS[record], value)
        except MalformedRecordError as fault:
            self._refuse(f"{record}: {fault}")
        if isinstance(decoded, HistoryHeader):
            finished = self.finish(is_complete=False)
            self._header, self._header_line = decoded, number
            return finished
        if isinstance(decoded, Transaction):
            if self._events:
                self._refuse("a transaction after an event")
            self._transactions.append(decoded)
        else:
            self._events.append(decoded)
        return None

    def finish(self, *, is_complete: bool) -> History | None:
        if self._header is None:
            return None
        history = History(
            header=self._header,
            transactions=tuple(self._transactions),
            events=tuple(self._events),
            is_complete=is_complete,
        )
        self._header, self._transactions, self._events = None, [], []
        return history.check(where=f"{self._name}:{self._header_line}")

    def _take_end(self, value: dict[str, Any]) -> History:
        counted = {"transactions": len(self._transactions), "events": len(self._events)}
        # true equals 1 in Python, and is no number.
        if value != counted or bool in map(type, value.values()):
            self._refuse(f"the end counts {value}, but there are {counted}")
        history = self.finish(is_complete=True)
        if history is None:
            self._refuse("an end before any history")
        return history

    def _check_version(self, value: dict[str, Any]) -> None:
        version = value.get("format_version", FORMAT_VERSION)
        if isinstance(version, int) and version > FORMAT_VERSION:
            raise ParaplyError(
                UNKNOWN_HISTORY_VERSION,
                where=self._where,
                version=version,
                known=FORMAT_VERSION,
            )

    def _parse(self, line: str) -> dict[str, Any]:
        if len(line) > LINE_CHARACTERS_MAX:
            self._refuse(f"a line of {len(line)} characters")
        try:
            value = json.loads(line, parse_constant=self._refuse_constant)
        except (ValueError, RecursionError) as fault:
            self._refuse(f"not JSON ({fault})")
        if not isinstance(value, dict):
            self._refuse("a line that is no JSON object")
        return value

    def _refuse_constant(self, word: str) -> NoReturn:
        raise ValueError(f"{word} is no number")

    @property
    def _where(self) -> str:
        return f"{self._name}:{self._line}"

    def _refuse(self, reason: str) -> NoReturn:
        raise ParaplyError(MALFORMED_HISTORY, where=self._where, reason=reason)
