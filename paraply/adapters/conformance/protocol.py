"""The protocol between harness and applier: one JSON object a line, both ways.

Checks, page and JSON Schema derive from these tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

PROTOCOL_VERSION = "1"
LINE_BYTES_MAX = 1 << 20

Message = Mapping[str, object]


class Speaker(Enum):
    """The sender of a message."""

    HARNESS = "harness"
    APPLIER = "applier"


class Role(Enum):
    """The tested program's role."""

    APPLIER = "applier"
    """It applies transactions through the harness' database."""
    TRACKER = "tracker"
    """It answers every transaction with its timestamp or its dependencies."""


@dataclass(frozen=True, slots=True)
class Field:
    """A message field; ``type_name`` joins JSON types by ``|``."""

    name: str
    type_name: str
    meaning: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class MessageSpec:
    """A message type; ``feature`` must be offered."""

    type: str
    speaker: Speaker
    meaning: str
    fields: tuple[Field, ...] = ()
    answers: bool = False
    """Whether it has ``in_reply_to``."""
    asks: bool = False
    """Whether it has ``msg_id`` and requires an answer."""
    feature: str = ""


FEATURES: dict[str, str] = {
    "lc_sn": "schedules by last_committed and sequence_number",
    "commit_id": "schedules by MariaDB's group commit id and domain",
    "writeset": "schedules by the keys that a transaction wrote, given or computed",
    "timestamps": "as a tracker: answers each transaction with a `timestamp`",
    "depends": "as a tracker: answers each transaction with what it `depends` on",
    "ddl": "applies schema changes (`execute`)",
    "commit_order": "can commit in the order of the log, where the option asks for it",
    "retry": "tries a transaction again after errors 1205 and 1213",
    "crash": "goes on after it was killed, from what `init` says of its position",
    "position": "sends `checkpoint`",
    "sync": "answers `sync`, so that the harness need not guess when it is idle",
    "net_rows": "may apply fewer or other rows of the same net effect (a compactor, no-op updates "
    "left out)",
    "reset": "takes a second `init` and begins anew, so that one process serves many runs",
}

_WORKER = Field("worker", "integer", "worker thread, from 1; one request of each at a time")
_TXN = Field("txn", "integer", "`id` of the transaction")
_TXNS = Field(
    "txns", "array", "ids of several transactions applied as one, in place of `txn`", required=False
)

MESSAGES: tuple[MessageSpec, ...] = (
    MessageSpec(
        "init",
        Speaker.HARNESS,
        "The first message of a run: begin with nothing applied, or go on after a crash.",
        (
            Field("protocol", "string", f'version of the protocol, "{PROTOCOL_VERSION}"'),
            Field("role", "string", "`applier` or `tracker`"),
            Field("workers", "integer", "how many workers to use, from 1"),
            Field("seed", "integer", "for random choices of the applier's own"),
            Field(
                "schema",
                "array",
                "the tables: `name`; `columns` with `name`, `type`, `collation` (empty if it is no "
                "text) and `nullable`; `keys`, PRIMARY first, with `name`, `columns` (positions "
                "from 0) and `prefixes` (characters per column, 0 for all); "
                "`foreign_keys` with `columns` and `parent_columns` by name",
            ),
            Field(
                "options",
                "object",
                "`commit_order`: whether commits must follow the log; `retries`: how many errors "
                "1205 and 1213 in a row a transaction must survive",
            ),
            Field(
                "resume",
                "object|null",
                "after a crash: `upto`, the last checkpoint, and `executed`, the ids committed in "
                "the database; the log is sent again from the checkpoint on",
            ),
        ),
        asks=True,
    ),
    MessageSpec(
        "txn",
        Speaker.HARNESS,
        "The next transaction of the log. An applier begins it in time and does not answer; a "
        "tracker answers at once.",
        (
            Field("id", "integer", "number of the transaction, from 1 in the order of the log"),
            Field("gtid", "string", "its GTID"),
            Field("position", "string", "`file:offset` in the source's log"),
            Field("lc", "integer|null", "last_committed; null to a tracker"),
            Field("sn", "integer|null", "sequence_number; null to a tracker"),
            Field("commit_id", "integer|null", "MariaDB's group commit id; null to a tracker"),
            Field("domain", "integer|null", "MariaDB's replication domain"),
            Field("session", "string", "client session on the source, empty if unknown"),
            Field("kind", "string", "`rows` or `ddl`"),
            Field(
                "keys",
                "array",
                "keys written, one text each, such as `d.t.PRIMARY(1)`: opaque, compared as a "
                "whole; spellings that the target's collation makes equal have one text. Empty for "
                "a schema change, which must run alone; a table without a key has one text for all "
                "its rows",
            ),
            Field("reads", "array", "keys of parent rows that must stay, as text"),
            Field("rows", "array", "row changes: `op` (I, U, D), `table`, `before`, `after`"),
            Field("statement", "string", "the statement of a `ddl`, else empty"),
            Field("schema", "array|null", "for a `ddl`: all tables as they are after it"),
        ),
    ),
    MessageSpec(
        "rotate",
        Speaker.HARNESS,
        "The source's log continues in a new file: sequence numbers start again, at 1 or (where "
        "the first were filtered out) above. After a crash, rotations before the checkpoint are "
        "not sent again.",
        (Field("file", "string", "the new file"),),
    ),
    MessageSpec(
        "drain",
        Speaker.HARNESS,
        "Finish every transaction received so far, then answer; none is sent before.",
        asks=True,
    ),
    MessageSpec(
        "end",
        Speaker.HARNESS,
        "There is no more: finish everything, then answer.",
        asks=True,
    ),
    MessageSpec(
        "sync",
        Speaker.HARNESS,
        "Answer as soon as every message received was acted upon and no worker will send "
        "anything before it hears from the harness.",
        asks=True,
        feature="sync",
    ),
    MessageSpec(
        "ok",
        Speaker.HARNESS,
        "The request was carried out.",
        (Field("affected", "integer", "rows changed, for `row`: 0 or 1", required=False),),
        answers=True,
    ),
    MessageSpec(
        "error",
        Speaker.HARNESS,
        "The request failed. After 1205 and 1213 the transaction is rolled back already.",
        (
            Field("errno", "integer", "as MySQL numbers it: 1062, 1146, 1205, 1213, 1452"),
            Field("message", "string", "what is wrong"),
        ),
        answers=True,
    ),
    MessageSpec(
        "init_ok",
        Speaker.APPLIER,
        "Ready.",
        (
            Field("name", "string", "of the applier"),
            Field("version", "string", "of the applier", required=False),
            Field("features", "array", "what it can do; cases that need more are skipped"),
        ),
        answers=True,
    ),
    MessageSpec("begin", Speaker.APPLIER, "Open a transaction.", (_WORKER, _TXN, _TXNS), asks=True),
    MessageSpec(
        "row",
        Speaker.APPLIER,
        "Change one row: the one with index `i` of the transaction, or `change` as it stands.",
        (
            _WORKER,
            _TXN,
            Field("i", "integer", "index among the transaction's rows, from 0", required=False),
            Field("change", "object", "`op`, `table`, `before`, `after`", required=False),
        ),
        asks=True,
    ),
    MessageSpec(
        "execute",
        Speaker.APPLIER,
        "Run the statement of a `ddl` transaction.",
        (_WORKER, _TXN),
        asks=True,
        feature="ddl",
    ),
    MessageSpec("commit", Speaker.APPLIER, "Commit.", (_WORKER, _TXN), asks=True),
    MessageSpec("rollback", Speaker.APPLIER, "Roll back.", (_WORKER, _TXN), asks=True),
    MessageSpec(
        "skip",
        Speaker.APPLIER,
        "The transaction is not applied, because it was before the crash.",
        (_TXN,),
    ),
    MessageSpec(
        "checkpoint",
        Speaker.APPLIER,
        "Everything up to and including `upto` need never be sent again. It must not fall; it may "
        "lag, as what `init` lists as executed is not applied twice.",
        (Field("upto", "integer", "id of a transaction, 0 for none"),),
        feature="position",
    ),
    MessageSpec(
        "fail",
        Speaker.APPLIER,
        "The applier gives up.",
        (_TXN, Field("reason", "string", "why")),
    ),
    MessageSpec("sync_ok", Speaker.APPLIER, "Nothing is left to do.", answers=True),
    MessageSpec("drain_ok", Speaker.APPLIER, "Everything received is applied.", answers=True),
    MessageSpec("end_ok", Speaker.APPLIER, "Everything is applied.", answers=True),
    MessageSpec(
        "timestamp",
        Speaker.APPLIER,
        "Tracker: the transaction's timestamp.",
        (_TXN, Field("lc", "integer", "last_committed"), Field("sn", "integer", "sequence_number")),
    ),
    MessageSpec(
        "depends",
        Speaker.APPLIER,
        "Tracker: the transactions that must have committed before this one begins.",
        (_TXN, Field("on", "array", "ids of earlier transactions")),
    ),
)

SPECS: dict[str, MessageSpec] = {spec.type: spec for spec in MESSAGES}

_TYPES: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
    "boolean": (bool,),
    "null": (type(None),),
}


def _fields_of(spec: MessageSpec) -> Iterator[tuple[str, bool, tuple[type, ...], str]]:
    numbers = [("msg_id", spec.asks), ("in_reply_to", spec.answers)]
    added = [Field(name, "integer", "") for name, is_there in numbers if is_there]
    for field in (*spec.fields, *added):
        allowed = tuple(t for name in field.type_name.split("|") for t in _TYPES[name])
        yield field.name, field.required, allowed, field.type_name


_FIELDS = {spec.type: tuple(_fields_of(spec)) for spec in MESSAGES}
"""Name, whether it is required, types and their names."""


class ProtocolError(Exception):
    """The applier violated the protocol."""


def encode(message: Message) -> bytes:
    """Return a message as one line."""
    return _ENCODER.encode(message).encode() + b"\n"


def decode(line: bytes) -> Message:
    """Return a line's message, or raise ``ProtocolError``."""
    if len(line) > LINE_BYTES_MAX:
        raise ProtocolError(f"a line is longer than {LINE_BYTES_MAX:,} bytes")
    try:
        message = json.loads(line.decode())
    except ValueError as error:
        raise ProtocolError(f"not JSON ({error}): {_shown(line)}") from None
    except RecursionError:
        raise ProtocolError(f"JSON nested too deeply: {_shown(line)}") from None
    if not isinstance(message, dict):
        raise ProtocolError(f"not a JSON object: {_shown(line)}")
    return checked(message)


def checked(message: Message) -> Message:
    """Return the valid message, or raise ``ProtocolError``."""
    spec = SPECS.get(str(message.get("type")))
    if spec is None or spec.speaker is not Speaker.APPLIER:
        raise ProtocolError(f"no message of an applier has type {message.get('type')!r}")
    for name, is_required, allowed, type_name in _FIELDS[spec.type]:
        if name not in message:
            if is_required and not (name == "txn" and "txns" in message):
                raise ProtocolError(f"'{spec.type}' has no '{name}'")
            continue
        value = message[name]
        # A bool is an int to Python, not to JSON.
        if not isinstance(value, allowed) or (value.__class__ is bool and bool not in allowed):
            raise ProtocolError(f"'{name}' of '{spec.type}' is {value!r}, no {type_name}")
    return message


def _shown(line: bytes) -> str:
    text = line[:200].decode(errors="replace").rstrip("\n")
    return repr(text + ("…" if len(line) > 200 else ""))


def _encode_value(value: object) -> object:
    if isinstance(value, bytes | bytearray):
        return {"hex": bytes(value).hex()}
    return str(value)


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_encode_value)
