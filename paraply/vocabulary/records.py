"""JSON form of records (dataclasses or named tuples), driven by the field types.

Default values are omitted. Malformed fields raise :class:`MalformedRecordError`. The JSON Schema
comes from the same types.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

from paraply.vocabulary.log import ABSENT
from paraply.vocabulary.timestamps import LogicalTimestamp

INTEGER_MIN, INTEGER_MAX, UNSIGNED_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
"""Items and column values may be unsigned."""


class MalformedRecordError(ValueError):
    """The text names the field and the reason."""


@dataclass(frozen=True, slots=True)
class Codec:
    """Encoder, decoder and schema of one type."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any, str], Any]
    """The text is the value's path."""
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordField:
    """One field."""

    name: str
    hint: Any
    codec: Codec
    is_required: bool
    default: Any

    def is_default(self, value: object) -> bool:
        """Return whether the field is omitted."""
        return not self.is_required and bool(value == self.default)


def encode_record(record: Any, *, with_defaults: bool = False) -> dict[str, Any]:
    """Return a JSON object without default fields.

    ``with_defaults`` keeps those of the outer record. Numbers over 64 bits and lone surrogates
    raise MalformedRecordError.
    """
    encoded = {}
    cls: Any = type(record)
    for entry in record_fields(cls):
        value = getattr(record, entry.name)
        if with_defaults or not entry.is_default(value):
            encoded[entry.name] = entry.codec.encode(value)
    return encoded


def decode_record(cls: Any, value: object, path: str = "") -> Any:
    """Return the record; else MalformedRecordError."""
    if not isinstance(value, dict):
        raise _fault(path, "an object", value)
    entries = {entry.name: entry for entry in record_fields(cls)}
    for name in value:
        if name not in entries:
            known = ", ".join(entries)
            raise MalformedRecordError(f"{_at(path)}unknown field '{name}' (known: {known})")
    decoded = {}
    for name, entry in entries.items():
        if name in value:
            decoded[name] = entry.codec.decode(value[name], f"{path}.{name}" if path else name)
        elif entry.is_required:
            raise MalformedRecordError(f"{_at(path)}field '{name}' is missing")
    # Keep faulty numbers for the properties to judge.
    build = LogicalTimestamp.as_recorded if cls is LogicalTimestamp else cls
    return build(**decoded)


@cache
def record_fields(cls: Any) -> tuple[RecordField, ...]:
    """Return the fields in order."""
    hints = get_type_hints(cls)
    if is_dataclass(cls):
        defaults = {
            entry.name: entry.default_factory()
            if entry.default_factory is not MISSING
            else entry.default
            for entry in fields(cls)
        }
    else:
        defaults = {name: cls._field_defaults.get(name, MISSING) for name in cls._fields}
    return tuple(
        RecordField(
            name=name,
            hint=hints[name],
            codec=codec_of(hints[name]),
            is_required=default is MISSING,
            default=default,
        )
        for name, default in defaults.items()
    )


@cache
def codec_of(hint: Any) -> Codec:
    """Return a type's codec; else ``TypeError``."""
    if isinstance(hint, NewType):
        return codec_of(hint.__supertype__)
    if hint in _SCALARS:
        return _SCALARS[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _union_codec(arguments)
    if origin is tuple and arguments[1:] == (...,):
        return _sequence_codec(arguments[0], tuple, list)
    if origin in (frozenset, set):
        return _sequence_codec(arguments[0], origin, _sorted)
    if origin is Mapping:
        return _mapping_codec(arguments[1])
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum_codec(hint)
    if isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields")):
        return Codec(
            encode=encode_record,
            decode=lambda value, path: decode_record(hint, value, path),
            schema={"$ref": f"#/$defs/{hint.__name__}"},
        )
    raise TypeError(f"no JSON form for {hint!r}")


def _at(path: str) -> str:
    return f"{path}: " if path else ""


def _fault(path: str, wanted: str, value: object) -> MalformedRecordError:
    shown = repr(value)
    shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
    return MalformedRecordError(f"{_at(path)}expected {wanted}, got {shown}")


def _encode_integer(value: Any) -> int:
    if not INTEGER_MIN <= value <= INTEGER_MAX:
        raise _fault("", "an integer of 64 bits", value)
    return int(value)


def _encode_text(value: Any) -> str:
    return _decode_text(value, "")


def _decode_integer(value: Any, path: str) -> int:
    if type(value) is not int or not INTEGER_MIN <= value <= INTEGER_MAX:
        raise _fault(path, "an integer of 64 bits", value)
    return value


def _decode_wide(value: Any, path: str) -> int:
    if type(value) is not int or not INTEGER_MIN <= value <= UNSIGNED_MAX:
        raise _fault(path, "an integer of 64 bits", value)
    return value


def _decode_text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise _fault(path, "a string", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _fault(path, "text without lone surrogates", value) from None
    return value


def _decode_bool(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise _fault(path, "true or false", value)
    return value


def _encode_sql_value(value: Any) -> Any:
    if value is ABSENT:
        return {}
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    # Mappings occur only in JSON, never as column values.
    return _decode_sql_value([] if isinstance(value, dict) else value, "")


def _decode_sql_value(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return _decode_text(value, path)
    if value is None or (isinstance(value, float) and isfinite(value)):
        return value
    if value == {}:
        return ABSENT
    if isinstance(value, dict) and list(value) == ["hex"]:
        digits = _decode_text(value["hex"], path)
        try:
            return bytes.fromhex(digits)
        except ValueError:
            raise _fault(path, "hexadecimal digits", digits) from None
    if type(value) is int:
        return _decode_wide(value, path)
    raise _fault(path, 'null, a number, text, {} or {"hex": ...}', value)


_INTEGER = {"type": "integer", "minimum": INTEGER_MIN, "maximum": INTEGER_MAX}

_WIDE = Codec(
    lambda value: _decode_wide(value, ""),
    _decode_wide,
    {"type": "integer", "minimum": INTEGER_MIN, "maximum": UNSIGNED_MAX},
)

_SCALARS: dict[Any, Codec] = {
    int: Codec(_encode_integer, _decode_integer, _INTEGER),
    str: Codec(_encode_text, _decode_text, {"type": "string"}),
    bool: Codec(bool, _decode_bool, {"type": "boolean"}),
    # A column's value: NULL, number, text, {"hex": ...} for bytes, {} for "not recorded".
    object: Codec(
        _encode_sql_value,
        _decode_sql_value,
        {
            "anyOf": [
                {"type": ["null", "integer", "number", "string"]},
                {
                    "type": "object",
                    "properties": {"hex": {"type": "string", "pattern": "^([0-9a-f]{2})*$"}},
                    "additionalProperties": False,
                },
            ]
        },
    ),
}


def _enum_codec(hint: type[Enum]) -> Codec:
    words = {member.value: member for member in hint}

    def decode(value: Any, path: str) -> Enum:
        if not isinstance(value, str) or value not in words:
            raise _fault(path, f"one of {', '.join(words)}", value)
        return words[value]

    return Codec(lambda member: member.value, decode, {"enum": list(words)})


def _sorted(values: Any) -> list[Any]:
    return sorted(values, key=lambda value: (isinstance(value, str), value))


def _sequence_codec(inner: Any, build: Callable[[Any], Any], order: Callable[[Any], Any]) -> Codec:
    one = codec_of(inner)

    def decode(value: Any, path: str) -> Any:
        if not isinstance(value, list):
            raise _fault(path, "an array", value)
        decoded = build(one.decode(each, f"{path}[{index}]") for index, each in enumerate(value))
        if len(decoded) < len(value):
            raise _fault(path, "an array without repetition", value)
        return decoded

    return Codec(
        lambda values: order([one.encode(each) for each in values]),
        decode,
        {"type": "array", "items": one.schema} | ({} if build is tuple else {"uniqueItems": True}),
    )


def _mapping_codec(inner: Any) -> Codec:
    one = codec_of(inner)

    def decode(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _fault(path, "an object", value)
        return {
            _decode_text(name, path): one.decode(each, f"{path}.{name}")
            for name, each in value.items()
        }

    return Codec(
        lambda values: {name: one.encode(each) for name, each in values.items()},
        decode,
        {"type": "object", "additionalProperties": one.schema},
    )


def _union_codec(arguments: tuple[Any, ...]) -> Codec:
    others = [argument for argument in arguments if argument is not type(None)]
    if len(others) == 1:
        one = codec_of(others[0])
        return Codec(
            lambda value: None if value is None else one.encode(value),
            lambda value, path: None if value is None else one.decode(value, path),
            {"anyOf": [one.schema, {"type": "null"}]},
        )
    codecs = {argument: _WIDE if argument is int else codec_of(argument) for argument in arguments}
    schema = {"anyOf": [codec.schema for codec in codecs.values()]}
    wanted = " or ".join(argument.__name__ for argument in arguments)

    def decode(value: Any, path: str) -> Any:
        if type(value) not in codecs:
            raise _fault(path, wanted, value)
        return codecs[type(value)].decode(value, path)

    return Codec(lambda value: decode(value, ""), decode, schema)
