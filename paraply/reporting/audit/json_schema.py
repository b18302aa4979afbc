"""JSON Schema from typed dictionaries.

A field is ``Annotated[type, "meaning"]``, of ``str``, ``int``, ``float``, ``bool``, string
``Literal``, ``list[...]``, ``dict[str, ...]``, a typed dictionary, or these ``| None``.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any

_PLAIN: dict[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(document: type, *, identifier: str) -> dict[str, Any]:
    """Return a typed dictionary's JSON Schema with ``$defs``."""
    definitions = {part.__name__: _object(part) for part in parts_of(document)}
    root = definitions.pop(document.__name__)
    return {"$schema": DIALECT, "$id": identifier, **root, "$defs": definitions}


def parts_of(document: type) -> list[type]:
    """Return typed dictionaries in order of use."""
    found: list[type] = []

    def visit(annotation: Any) -> None:
        if typing.is_typeddict(annotation):
            if annotation not in found:
                found.append(annotation)
                for _, inner, _ in fields_of(annotation):
                    visit(inner)
            return
        for argument in typing.get_args(annotation):
            visit(argument)

    visit(document)
    return found


def fields_of(part: type) -> Iterator[tuple[str, Any, str]]:
    """Yield name, type and meaning; ``TypeError`` without meaning."""
    for name, annotation in typing.get_type_hints(part, include_extras=True).items():
        if typing.get_origin(annotation) is not typing.Annotated:
            raise TypeError(f"{part.__name__}.{name} does not say what it means")
        inner, meaning = typing.get_args(annotation)
        yield name, inner, meaning


def _object(part: type) -> dict[str, Any]:
    fields = list(fields_of(part))
    return {
        "title": heading_of(part),
        "description": inspect.cleandoc(part.__doc__ or ""),
        "type": "object",
        "properties": {
            name: {**_schema(inner), "description": meaning} for name, inner, meaning in fields
        },
        "required": [name for name, _, _ in fields],
        "additionalProperties": False,
    }


def _schema(annotation: Any) -> dict[str, Any]:
    if annotation in _PLAIN:
        return {"type": _PLAIN[annotation]}
    if typing.is_typeddict(annotation):
        return {"$ref": f"#/$defs/{annotation.__name__}"}
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list:
        return {"type": "array", "items": _schema(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (types.UnionType, typing.Union) and type(None) in arguments:
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return {"anyOf": [_schema(inner), {"type": "null"}]}
    raise TypeError(f"no JSON form for {annotation!r}")


def heading_of(part: type) -> str:
    """Return a title: ``CommitGroupsPart`` is "Commit groups"."""
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in part.__name__).split()
    return " ".join(word for word in words if word != "part").capitalize()


def type_words(annotation: Any) -> str:
    """Return an annotation's JSON type as Markdown."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if typing.is_typeddict(annotation):
        heading = heading_of(annotation)
        return f"[{heading.lower()}](#{heading.lower().replace(' ', '-')})"
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list:
        return f"list of {type_words(arguments[0])}"
    if origin is dict:
        return f"object of {type_words(arguments[1])}"
    if origin is typing.Literal:
        return " or ".join(f'`"{argument}"`' for argument in arguments)
    inner = next(argument for argument in arguments if argument is not type(None))
    return f"{type_words(inner)} or null"
