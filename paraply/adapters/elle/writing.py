"""Write operations as EDN and JSON, as Jepsen and Elle read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from paraply.adapters.elle.operations import OperationType


class Text(str):
    """A string that EDN writes in quotes, not as a keyword."""


class Writable(Protocol):
    """One operation with its circumstances."""

    @property
    def type(self) -> OperationType:
        """Return the type."""

    @property
    def function(self) -> str:
        """Return ``txn``, ``read`` or ``transfer``."""

    @property
    def process(self) -> int | str:
        """Return the client, or the word ``nemesis``."""

    @property
    def value(self) -> Any:
        """Return micro-operations, or a map."""

    @property
    def time_ns(self) -> int:
        """Return nanoseconds since the start."""

    @property
    def server(self) -> str:
        """Return the server's name."""

    @property
    def error(self) -> str:
        """Return why it failed, or empty."""


def edn_lines(operations: Iterable[Writable]) -> Iterator[str]:
    """Yield one EDN map per operation."""
    for index, one in enumerate(operations):
        fields = [
            f":index {index}", f":time {one.time_ns}", f":type :{one.type.value}",
            f":process {_edn(one.process)}", f":f :{one.function}", f":value {_edn(one.value)}",
            f":node {_text(one.server)}",
        ]  # fmt: skip
        if one.error:
            fields.append(f":error {_text(one.error)}")
        yield f"{{{', '.join(fields)}}}"


def json_lines(operations: Iterable[Writable]) -> Iterator[str]:
    """Yield one JSON object per operation."""
    for index, one in enumerate(operations):
        fields: dict[str, Any] = {
            "index": index, "time": one.time_ns, "type": one.type.value, "process": one.process,
            "f": one.function, "value": one.value, "node": one.server,
        }  # fmt: skip
        if one.error:
            fields["error"] = one.error
        yield json.dumps(fields)


def _edn(value: Any) -> str:
    if value is None:
        return "nil"
    if isinstance(value, Mapping):
        pairs = (f"{_edn_key(key)} {_edn(one)}" for key, one in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, tuple | list):
        return f"[{' '.join(map(_edn, value))}]"
    if isinstance(value, Text):
        return _text(value)
    if isinstance(value, str):
        return f":{value}"
    return str(value)


def _edn_key(key: Any) -> str:
    return f":{key}" if isinstance(key, str) else str(key)


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + " ".join(escaped.split()) + '"'
