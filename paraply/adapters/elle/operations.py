"""Jepsen's operations: an invocation and a completion."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple, NoReturn

from paraply.adapters.elle.edn import read_edn
from paraply.vocabulary.errors import ParaplyError, register

MALFORMED_OPERATION = register(
    "P512",
    "this is not an operation of a history: {reason}",
    "docs/isolation.md shows the operations that are read",
)
MALFORMED_JSON = register(
    "P513",
    "this is not JSON: {reason}",
    "give one operation a line, or one array of them",
)


class OperationType(Enum):
    """Types of recorded operations."""

    INVOKE = "invoke"
    OK = "ok"
    FAIL = "fail"
    INFO = "info"


class Operation(NamedTuple):
    """One line of a recording."""

    type: OperationType
    function: str
    """``txn``, ``read``, ``transfer`` or ``add``; empty if unnamed."""
    process: str | None
    value: Any
    line: int
    node: str = ""


def plain_word(word: Any) -> Any:
    """Return a keyword without EDN's colon."""
    return word[1:] if isinstance(word, str) and word[:1] == ":" else word


def read_operations(text: str, *, is_json: bool, name: str = "") -> Iterator[Operation]:
    """Yield a recording's client operations, without the nemesis.

    Raises:
        ParaplyError: with file and line, P511 or P513 for invalid text, P512 for an invalid
            operation.
    """
    forms = read_json(text, name=name) if is_json else read_edn(text, name=name)
    for line, form in forms:
        where = f"{name}:{line}"
        if not isinstance(form, dict):
            raise ParaplyError(MALFORMED_OPERATION, where=where, reason=f"{form!r:.60} is no map")
        fields = {plain_word(key): value for key, value in form.items()}
        process = fields.get("process")
        if process is not None and not isinstance(process, int):
            # The nemesis and its kind; only clients have numbers.
            continue
        kind = plain_word(fields.get("type"))
        try:
            operation_type = OperationType(kind)
        except ValueError:
            reason = f"its type is {kind!r}, not invoke, ok, fail or info"
            raise ParaplyError(MALFORMED_OPERATION, where=where, reason=reason) from None
        yield Operation(
            operation_type, str(plain_word(fields.get("f") or "")),
            None if process is None else str(process), fields.get("value"), line,
            str(plain_word(fields.get("node") or "")),
        )  # fmt: skip


def read_json(text: str, *, name: str = "") -> Iterator[tuple[int, Any]]:
    """Yield (line, value) of a JSON array or sequence."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    at, line = 0, 1

    def skip(characters: str) -> None:
        nonlocal at, line
        while at < len(text) and text[at] in characters:
            line += text[at] == "\n"
            at += 1

    def refuse(reason: str) -> NoReturn:
        raise ParaplyError(MALFORMED_JSON, where=f"{name}:{line}", reason=reason)

    skip(" \t\r\n\ufeff")
    in_array = text[at : at + 1] == "["
    at += in_array
    while True:
        skip(" \t\r\n")
        if in_array and text[at : at + 1] == "]":
            at += 1
            skip(" \t\r\n")
            if at < len(text):
                refuse("something stands behind the array")
            return
        if at >= len(text):
            if in_array:
                refuse("the array is never closed")
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as fault:
            refuse(str(fault))
        yield line, value
        line += text.count("\n", at, end)
        at = end
        if in_array:
            skip(" \t\r\n")
            if text[at : at + 1] == ",":
                at += 1
            elif text[at : at + 1] != "]":
                refuse("two operations have no comma between them")


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")
