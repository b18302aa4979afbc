"""The message tables of ``docs/protocol.md``, and their schema."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from ci.pages.writing import filled, pages_main, table
from paraply.adapters.conformance.cases.case import empty_log
from paraply.adapters.conformance.database import ERRNO
from paraply.adapters.conformance.inline import InlineApplier
from paraply.adapters.conformance.protocol import (
    FEATURES,
    LINE_BYTES_MAX,
    MESSAGES,
    PROTOCOL_VERSION,
    Field,
    Message,
    MessageSpec,
    Speaker,
    encode,
)
from paraply.adapters.conformance.rules.correct import LogicalClock
from paraply.adapters.conformance.session import RunOptions, Session
from paraply.adapters.conformance.source import SourceLog, insert, update
from paraply.vocabulary.events import Outcome
from paraply.vocabulary.schedule import SeededSchedule

PAGE = "docs/protocol.md"
SCHEMA = "docs/protocol.schema.json"
_EXAMPLE_SEED = 3
_SHOWN_MAX = 160


class _InProcess(InlineApplier):
    def __init__(self) -> None:
        super().__init__(LogicalClock)
        self.conversation: list[tuple[Speaker, bytes]] = []

    def send(self, message: Message) -> None:
        self.conversation.append((Speaker.HARNESS, encode(message)))
        super().send(message)

    def receive(self, timeout: float | None = None) -> Message:
        message = super().receive(timeout)
        self.conversation.append((Speaker.APPLIER, json.dumps(message).encode()))
        return message


class _OneProcess:
    def __init__(self) -> None:
        self.process = _InProcess()

    def start(self) -> _InProcess:
        return self.process

    def discard(self, process: _InProcess, *, can_reset: bool = False) -> None:
        """Keep it."""


def example_log() -> SourceLog:
    """Return independent transactions and a dependent third."""
    log = empty_log("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
    log.transaction(insert("d.t", 1, 10))
    log.transaction(insert("d.other", 1, 20))
    log.transaction(update("d.t", {"id": 1}, v=11))
    return log


def example_conversation() -> list[tuple[Speaker, Message]]:
    """Return the messages of the example."""
    launcher = _OneProcess()
    schedule = SeededSchedule(_EXAMPLE_SEED)
    run = Session(launcher, example_log(), schedule, RunOptions(workers=2)).run()
    assert not run.fault
    assert not run.has_stalled
    return [(speaker, json.loads(line)) for speaker, line in launcher.process.conversation]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"One line of the conformance protocol, version {PROTOCOL_VERSION}",
        "oneOf": [{"$ref": f"#/$defs/{spec.type}"} for spec in MESSAGES],
        "$defs": {spec.type: _message_schema(spec) for spec in MESSAGES},
    }


def _message_schema(spec: MessageSpec) -> dict[str, Any]:
    fields = [*spec.fields]
    if spec.asks:
        fields.insert(0, Field("msg_id", "integer", "number of the request"))
    if spec.answers:
        fields.insert(0, Field("in_reply_to", "integer", "`msg_id` of the request"))
    properties: dict[str, Any] = {"type": {"const": spec.type}}
    for field in fields:
        names = field.type_name.split("|")
        properties[field.name] = {
            "type": names[0] if len(names) == 1 else names,
            "description": field.meaning,
        }
    required = [field.name for field in fields if field.required]
    schema: dict[str, Any] = {
        "type": "object",
        "description": spec.meaning,
        "properties": properties,
        "required": ["type", *required],
    }
    if "txns" in properties:
        schema["required"].remove("txn")
        schema["anyOf"] = [{"required": ["txn"]}, {"required": ["txns"]}]
    return schema


def protocol_page() -> str:
    """Return docs/protocol.md."""
    errors = sorted((str(ERRNO[outcome]), when) for outcome, when in _WHEN.items())
    version = f"Protocol version {PROTOCOL_VERSION}. A line has at most {LINE_BYTES_MAX:,} bytes."
    features = [(f"`{name}`", meaning) for name, meaning in FEATURES.items()]
    blocks = {
        "version": [version],
        "features": table(("feature", "an applier with it"), features),
        "example": list(_example()),
        "harness": _messages(Speaker.HARNESS),
        "applier": _messages(Speaker.APPLIER),
        "errors": table(("errno", "when"), errors),
    }
    return filled(PAGE, blocks)


def _messages(speaker: Speaker) -> list[str]:
    lines = [
        line for spec in MESSAGES if spec.speaker is speaker for line in (*_spec_lines(spec), "")
    ]
    return lines[:-1]


_WHEN = {
    Outcome.DUPLICATE_KEY: "a PRIMARY or UNIQUE key is taken",
    Outcome.MISSING_PARENT: "a FOREIGN KEY finds no parent row, or a parent row has children",
    Outcome.LOCK_WAIT: "lock wait time-out; rolled back, may be retried",
    Outcome.DEADLOCK: "deadlock victim; rolled back, may be retried",
    Outcome.ERROR: "a table does not exist, or a statement cannot be run",
}


def _example() -> Iterator[str]:
    yield "```text"
    for speaker, message in example_conversation():
        if message["type"] in ("sync", "sync_ok"):
            continue
        text = json.dumps(message)
        mark = ">" if speaker is Speaker.HARNESS else "<"
        yield f"{mark} {text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + '…'}"
    yield "```"
    yield f"\nThis is the schedule of seed {_EXAMPLE_SEED}."


def _spec_lines(spec: MessageSpec) -> Iterator[str]:
    yield f"### `{spec.type}`"
    yield ""
    words = [spec.meaning]
    if spec.asks:
        words.append("Has `msg_id` and requires an answer.")
    if spec.answers:
        words.append("Has `in_reply_to`.")
    if spec.feature:
        words.append(f"Feature: `{spec.feature}`.")
    yield from textwrap.wrap(" ".join(words), 100)
    if spec.fields:
        yield ""
        yield from table(("field", "type", "meaning"), _field_rows(spec.fields))


def _field_rows(fields: Iterable[Field]) -> list[tuple[str, str, str]]:
    return [
        (
            f"`{field.name}`",
            field.type_name.replace("|", " or ") + ("" if field.required else ", optional"),
            field.meaning,
        )
        for field in fields
    ]


def pages() -> dict[str, str]:
    """Return both files by path."""
    return {PAGE: protocol_page(), SCHEMA: json.dumps(json_schema(), indent=2) + "\n"}


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.protocol", pages()))
