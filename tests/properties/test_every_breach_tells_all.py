"""Every breach tells each of its fields."""

from __future__ import annotations

import importlib
import pkgutil
import typing
from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from types import UnionType
from typing import Any

import pytest

import paraply.properties
from paraply.properties.registry import Violation
from paraply.vocabulary.timestamps import LogicalTimestamp

for module in pkgutil.walk_packages(paraply.properties.__path__, "paraply.properties."):
    if "compiled" not in module.name:
        importlib.import_module(module.name)


def below(kind: type[Violation]) -> Iterator[type[Violation]]:
    for one in kind.__subclasses__():
        yield one
        yield from below(one)


KINDS = sorted(
    {
        kind
        for kind in below(Violation)
        if kind.__module__.startswith("paraply.properties.") and kind.__str__ is not object.__str__
    },
    key=lambda kind: (kind.__module__, kind.__name__),
)


def values_of(wanted: Any, number: int) -> list[Any]:
    """Return two values of a field's type that only this field of a breach has."""
    if typing.get_origin(wanted) in (typing.Union, UnionType):
        inner = [one for one in typing.get_args(wanted) if one is not type(None)]
        return values_of(inner[0], number)
    if typing.get_origin(wanted) is tuple:
        inside = typing.get_args(wanted)
        if inside[-1] is ...:
            return [(one,) for one in values_of(inside[0], number)]
        numbered = [values_of(one, 10 * number + at) for at, one in enumerate(inside)]
        return list(zip(*numbered, strict=True))
    if wanted is bool:
        return [False, True]
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return list(wanted)[number : number + 2]
    if wanted is LogicalTimestamp:
        return [wanted.as_recorded(number, 1000 + number), wanted.as_recorded(2 + number, 1100)]
    if wanted is int:
        return [1000 + 10 * number, 1001 + 10 * number]
    return [f"w{number}", f"v{number}"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_breaches_that_differ_read_differently(kind: type[Violation]) -> None:
    hints = typing.get_type_hints(kind)
    values = {
        field.name: values_of(hints[field.name], number)
        for number, field in enumerate(fields(kind))
    }
    first = {name: both[0] for name, both in values.items()}
    told = str(kind(**first))
    for name, (_, other) in values.items():
        assert str(kind(**{**first, name: other})) != told, name
