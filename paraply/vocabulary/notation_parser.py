"""Parse the notation of ``paraply.vocabulary.notation``."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.notation import BARE, NUMBER, ROW_SIGNS, WORKER
from paraply.vocabulary.records import MalformedRecordError, decode_record, record_fields
from paraply.vocabulary.transactions import Transaction

MALFORMED_NOTATION = register(
    "P507",
    "at character {position} ({near!r}): {reason}",
    "paraply/vocabulary/notation.py shows the notation with an example",
)

_TRANSACTION = re.compile(r"T(0|[1-9][0-9]{0,18})")
_KIND = re.compile(r":([a-z_]+)")
_TIMESTAMP = re.compile(r"(-?[0-9]{1,19})<(-?[0-9]{1,19})")
_ATTRIBUTE = re.compile(r"([a-z_]+)=")
_ROW = re.compile(r"([+~-])(?=[A-Za-z0-9_.\"])")
_TABLE = re.compile(r"[A-Za-z0-9_.]+")
_PLACE_NAME = re.compile(r"[A-Za-z0-9_.:+*-]+")
_ATTEMPT = re.compile(r"#([1-9][0-9]{0,18})")
_WORD = re.compile(r"[a-z_]+")
_LIST = re.compile(rf"{BARE.pattern}(?:,{BARE.pattern})*")
_OUTCOMES = {outcome.value for outcome in Outcome}
_KINDS = {kind.value for kind in EventKind}
_OPERATIONS = {sign: operation for operation, sign in ROW_SIGNS.items()}


def parse_history(text: str) -> History:
    """Parse a history.

    Raises ParaplyError P507 for a syntax error, P504 for inconsistent parts.

    >>> parse_history("T1{a} 1<0 | begun T1@w2").transaction(1).timestamp
    LogicalTimestamp(last_committed=0, sequence_number=1)
    """
    return _Parser(text).history().check()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._decoder = json.JSONDecoder(parse_constant=self._refuse_constant)

    def history(self) -> History:
        header: dict[str, Any] = {}
        transactions: list[Transaction] = []
        self._skip_blanks()
        if self._sees(_ATTRIBUTE):
            header = self._header()
            self._take_separator("|")
        while self._sees(_TRANSACTION):
            transactions.append(self._transaction())
            self._take_separator("|")
        events = self._events()
        if self._at < len(self._text):
            self._refuse("expected the end, since the events come last")
        is_complete = header.pop("complete", True)
        if not isinstance(is_complete, bool):
            self._refuse("complete is true or false")
        return History(
            header=self._record(HistoryHeader, header),
            transactions=tuple(transactions),
            events=events,
            is_complete=is_complete,
        )

    def _header(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        while not self._at_separator():
            if not self._sees(_ATTRIBUTE):
                self._refuse("expected name=value")
            self._attribute(HistoryHeader, fields)
        return fields

    def _transaction(self) -> Transaction:
        fields: dict[str, Any] = {"id": int(self._take(_TRANSACTION)[1])}
        if self._sees(_KIND):
            fields["kind"] = self._take(_KIND)[1]
        rows: list[dict[str, Any]] = []
        self._skip_blanks()
        while not self._at_separator():
            if self._next() == "{":
                self._set(fields, "write_set", self._items())
            elif self._sees(_TIMESTAMP):
                self._set(fields, "timestamp", self._timestamp())
            elif self._sees(_ROW):
                rows.append(self._row())
            elif self._sees(_ATTRIBUTE):
                self._attribute(Transaction, fields)
            else:
                self._refuse("expected {items}, a timestamp, a row or name=value")
            self._skip_blanks()
        if rows:
            self._set(fields, "rows", rows)
        transaction: Transaction = self._record(Transaction, fields)
        return transaction

    def _events(self) -> tuple[Event, ...]:
        events: list[Event] = []
        time = 0
        while self._at < len(self._text):
            event = self._event(time + 1)
            time = event.time
            events.append(event)
            if self._next() != ";":
                break
            self._take_separator(";")
        return tuple(events)

    def _event(self, time: int) -> Event:
        if not self._sees(_WORD):
            self._refuse("expected an event, a transaction (T1) or name=value")
        start = self._at
        kind = self._take(_WORD)[0]
        if kind not in _KINDS:
            self._at = start
            self._refuse(f"'{kind}' is no event (known: {', '.join(sorted(_KINDS))})")
        fields: dict[str, Any] = {"kind": kind}
        self._skip_blanks()
        while not self._at_separator():
            self._event_word(fields)
            self._skip_blanks()
        event: Event = self._record(Event, {"time": time, **fields})
        return event

    def _event_word(self, fields: dict[str, Any]) -> None:
        if self._next() == "{":
            self._set(fields, "items", self._items())
        elif self._next() == "[":
            self._set(fields, "observed", self._observed())
        elif self._next() == "@":
            self._place(fields)
        elif self._sees(_ATTEMPT):
            self._set(fields, "attempt", int(self._take(_ATTEMPT)[1]))
        elif self._sees(_TRANSACTION):
            self._set(fields, "transaction", int(self._take(_TRANSACTION)[1]))
        elif self._sees(_TIMESTAMP):
            self._set(fields, "timestamp", self._timestamp())
        elif self._sees(_ATTRIBUTE):
            self._attribute(Event, fields)
        elif self._sees(_WORD) and self._peek(_WORD) in _OUTCOMES:
            self._set(fields, "outcome", self._take(_WORD)[0])
        else:
            self._refuse("expected a transaction, @member, an outcome or name=value")

    def _place(self, fields: dict[str, Any]) -> None:
        self._at += 1
        if self._next() == '"':
            self._set(fields, "member", self._json())
        else:
            name = self._take(_PLACE_NAME)[0]
            worker = WORKER.fullmatch(name)
            if worker:
                self._set(fields, "worker", int(worker[1]))
                return
            self._set(fields, "member", name)
        if self._next() == "/":
            self._at += 1
            self._set(fields, "worker", int(self._take(WORKER)[1]))

    def _items(self) -> list[str | int]:
        self._at += 1
        items: list[str | int] = []
        self._skip_blanks()
        while self._next() != "}":
            items.append(self._item())
            self._skip_blanks()
        self._at += 1
        return items

    def _item(self) -> Any:
        if self._next() == '"':
            return self._json()
        word = self._take(BARE)[0]
        return int(word) if NUMBER.fullmatch(word) else word

    def _observed(self) -> list[dict[str, Any]]:
        self._at += 1
        seen = []
        self._skip_blanks()
        while self._next() != "]":
            item = self._item()
            if self._next() != "=":
                self._refuse("expected item=T1")
            self._at += 1
            seen.append({"item": item, "writer": int(self._take(_TRANSACTION)[1])})
            self._skip_blanks()
        self._at += 1
        return seen

    def _timestamp(self) -> dict[str, int]:
        match = self._take(_TIMESTAMP)
        return {"last_committed": int(match[2]), "sequence_number": int(match[1])}

    def _row(self) -> dict[str, Any]:
        operation = _OPERATIONS[self._take(_ROW)[1]]
        row = {"operation": operation}
        row["table"] = self._json() if self._next() == '"' else self._take(_TABLE)[0]
        for image in ("before", "after"):
            if (image, operation) not in (("before", "insert"), ("after", "delete")):
                if self._next() != "[":
                    self._refuse(f"expected the {image} image as a JSON array")
                row[image] = self._json()
        return row

    def _attribute(self, cls: Any, fields: dict[str, Any]) -> None:
        name = self._take(_ATTRIBUTE)[1]
        self._set(fields, name, self._value(cls, name))
        self._skip_blanks()

    def _value(self, cls: Any, name: str) -> Any:
        if self._next() in ('"', "[", "{"):
            return self._json()
        kinds = {entry.name: _json_types(entry.codec.schema) for entry in record_fields(cls)}
        kind = kinds.get(name, {"boolean"})
        word = self._take(_LIST)[0]
        if "array" in kind:
            return [int(each) if NUMBER.fullmatch(each) else each for each in word.split(",")]
        if "string" in kind:
            return word
        if NUMBER.fullmatch(word):
            return int(word)
        return {"true": True, "false": False}.get(word, word)

    def _json(self) -> Any:
        try:
            value, self._at = self._decoder.raw_decode(self._text, self._at)
        except (ValueError, RecursionError) as fault:
            self._refuse(f"not JSON ({fault})")
        return value

    def _record(self, cls: Any, fields: dict[str, Any]) -> Any:
        try:
            return decode_record(cls, fields)
        except MalformedRecordError as fault:
            self._refuse(str(fault))

    def _set(self, fields: dict[str, Any], name: str, value: Any) -> None:
        if name in fields:
            self._refuse(f"{name} is given twice")
        fields[name] = value

    def _skip_blanks(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _at_separator(self) -> bool:
        return self._next() in ("", "|", ";")

    def _take_separator(self, separator: str) -> None:
        if self._next() == separator:
            self._at += 1
            self._skip_blanks()

    def _sees(self, pattern: re.Pattern[str]) -> bool:
        return pattern.match(self._text, self._at) is not None

    def _peek(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        return match[0] if match else ""

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self._text, self._at)
        if match is None:
            self._refuse("expected something else here")
        self._at = match.end()
        return match

    def _refuse_constant(self, word: str) -> NoReturn:
        raise ValueError(f"{word} is no number")

    def _refuse(self, reason: str) -> NoReturn:
        raise ParaplyError(
            MALFORMED_NOTATION,
            position=self._at + 1,
            near=self._text[self._at : self._at + 20],
            reason=reason,
        )


def _json_types(schema: Any) -> set[str]:
    if "anyOf" in schema:
        return set().union(*(_json_types(each) for each in schema["anyOf"]))
    return {"string"} if "enum" in schema else {schema.get("type", "object")}
