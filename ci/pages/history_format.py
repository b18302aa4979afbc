"""The tables of ``docs/history-format.md``, and its schema."""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NewType, Union, get_args, get_origin

from ci.pages.writing import filled, pages_main, table
from paraply.vocabulary import notation
from paraply.vocabulary.events import OUTCOMES, REQUIRED_FIELDS, Event, EventKind, Outcome
from paraply.vocabulary.history import FORMAT_VERSION, Clock, EvidenceTier, HistoryHeader
from paraply.vocabulary.records import RecordField, record_fields
from paraply.vocabulary.transactions import Transaction, TransactionKind

PAGE = "docs/history-format.md"
SCHEMA = "docs/history.schema.json"

LINES: dict[str, tuple[Any, str]] = {
    "history": (HistoryHeader, "Begins a history: its origin, and how to repeat it."),
    "transaction": (Transaction, "One transaction of the workload, in the order of the log."),
    "event": (Event, "One event at one member, in time order."),
}
"""Class and purpose by word."""

ENUMS: tuple[type[Enum], ...] = (TransactionKind, Outcome, Clock, EvidenceTier)


@cache
def attribute_docs(cls: Any) -> dict[str, str]:
    """Return attribute docstrings as single lines."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    docs: dict[str, str] = {}
    name = ""
    for statement in body.body:
        match statement:
            case (
                ast.AnnAssign(target=ast.Name(id=found)) | ast.Assign(targets=[ast.Name(id=found)])
            ):
                name = found
            case ast.Expr(value=ast.Constant(value=str(text))) if name:
                docs[name] = " ".join(text.split())
                name = ""
            case _:
                name = ""
    return docs


def json_schema() -> dict[str, Any]:
    """Return a history line's JSON Schema (2020-12)."""
    definitions: dict[str, Any] = {}
    lines = [_line_schema(word, cls, definitions) for word, (cls, _) in LINES.items()]
    counts = {"transactions": {"type": "integer"}, "events": {"type": "integer"}}
    lines.append(_object_schema({"record": {"const": "end"}, **counts}, ["record", *counts]))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"One line of a history, format version {FORMAT_VERSION}",
        "oneOf": lines,
        "$defs": dict(sorted(definitions.items())),
    }


def _line_schema(word: str, cls: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    schema = _record_schema(cls, definitions)
    properties = {"record": {"const": word}, **schema["properties"]}
    return _object_schema(properties, ["record", *schema["required"]])


def _record_schema(cls: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    docs = attribute_docs(cls)
    properties: dict[str, Any] = {}
    for entry in record_fields(cls):
        properties[entry.name] = dict(entry.codec.schema)
        if entry.name in docs:
            properties[entry.name]["description"] = docs[entry.name]
        for nested in _records_in(entry.hint):
            if nested.__name__ not in definitions:
                definitions[nested.__name__] = {}
                definitions[nested.__name__] = _record_schema(nested, definitions)
    required = [entry.name for entry in record_fields(cls) if entry.is_required]
    return _object_schema(properties, required)


def _object_schema(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _records_in(hint: Any) -> Iterator[Any]:
    if isinstance(hint, type) and not get_args(hint):
        if hasattr(hint, "__dataclass_fields__") or hasattr(hint, "_fields"):
            yield hint
        return
    for argument in get_args(hint):
        yield from _records_in(argument)


def page() -> str:
    """Return docs/history-format.md."""
    version = f"This is format version {FORMAT_VERSION}."
    notes = (notation.__doc__ or "").strip().splitlines()
    blocks = {
        "version": [version],
        "records": _records(),
        "nested": _nested(),
        "events": _events(),
        "words": _words(),
        "notation": ["```text", *notes, "```"],
    }
    return filled(PAGE, blocks)


def _records() -> list[str]:
    lines = []
    for word, (cls, purpose) in LINES.items():
        lines += [f"## `{word}`", "", purpose, "", *_field_table(cls), ""]
    return lines[:-1]


def _nested() -> list[str]:
    waiting = [cls for cls, _ in LINES.values()]
    found: list[Any] = []
    while waiting:
        for entry in record_fields(waiting.pop(0)):
            new = [each for each in _records_in(entry.hint) if each not in found]
            found += new
            waiting += new
    lines = []
    for cls in found:
        summary = (inspect.getdoc(cls) or "").splitlines()
        lines += [f"### {cls.__name__}", "", *summary, "", *_field_table(cls), ""]
    return lines[:-1]


def _events() -> list[str]:
    rows = [
        (
            f"`{kind.value}`",
            attribute_docs(EventKind)[kind.name],
            ", ".join(f"`{name}`" for name in REQUIRED_FIELDS[kind]),
            ", ".join(f"`{o.value}`" for o in Outcome if o in OUTCOMES.get(kind, ())),
        )
        for kind in EventKind
    ]
    return table(["kind", "meaning", "needs", "outcomes"], rows)


def _words() -> list[str]:
    lines = []
    for enum in ENUMS:
        rows = [(f"`{member.value}`", attribute_docs(enum)[member.name]) for member in enum]
        summary = (inspect.getdoc(enum) or "").splitlines()[0]
        lines += [f"### {enum.__name__}", "", summary, "", *table(["word", "meaning"], rows), ""]
    return lines[:-1]


def _field_table(cls: Any) -> list[str]:
    docs = attribute_docs(cls)
    rows = [
        (
            f"`{entry.name}`",
            _type_words(entry.hint),
            "required" if entry.is_required else f"`{_default(entry)}`",
            docs.get(entry.name, ""),
        )
        for entry in record_fields(cls)
    ]
    return table(["field", "type", "default", "meaning"], rows)


def _default(entry: RecordField) -> str:
    return json.dumps(entry.codec.encode(entry.default))


def _type_words(hint: Any) -> str:
    if isinstance(hint, NewType):
        return _type_words(hint.__supertype__)
    if hint in _WORDS:
        return _WORDS[hint]
    arguments = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(_type_words(each) for each in arguments)
    if isinstance(hint, type) and not arguments:
        return f"word of {hint.__name__}" if issubclass(hint, Enum) else hint.__name__
    if len(arguments) == 2 and arguments[1] is not ...:
        return f"object of {_type_words(arguments[1])}"
    inner = _type_words(arguments[0])
    return f"array of ({inner})" if " or " in inner else f"array of {inner}"


_WORDS: dict[Any, str] = {
    int: "integer",
    str: "string",
    bool: "boolean",
    NoneType: "null",
    object: "column value",
}


def pages() -> dict[str, str]:
    """Return page and schema by path."""
    return {PAGE: page(), SCHEMA: json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"}


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.history_format", pages()))
