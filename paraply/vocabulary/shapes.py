"""Shapes of stored JSON: which types its values must have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Shape = type | tuple[type, ...] | list[Any] | Mapping[Any, Any]
"""A type or several; ``[shape]`` for lists; ``{name: shape}`` for objects with at least these
names; ``{str: shape}`` for objects with any names."""


def require_shape(value: Any, shape: Shape, where: str = "it") -> None:
    """Raise ``ValueError`` with the first place of another type.

    >>> require_shape({"seed": 3, "names": ["a"]}, {"seed": int, "names": [str]})
    >>> require_shape({"seed": 3, "names": [None]}, {"seed": int, "names": [str]})
    Traceback (most recent call last):
    ValueError: it.names[0] is of another type
    """
    if isinstance(shape, list):
        _require(isinstance(value, list), where)
        for place, each in enumerate(value):
            require_shape(each, shape[0], f"{where}[{place}]")
    elif isinstance(shape, Mapping):
        _require(isinstance(value, dict), where)
        named: Mapping[Any, Any] = shape
        if str in shape:
            named = dict.fromkeys(value, shape[str])
        for name, inner in named.items():
            if name not in value:
                raise ValueError(f"{where} has no {name}")
            require_shape(value[name], inner, f"{where}.{str(name)[:40]}")
    else:
        types = shape if isinstance(shape, tuple) else (shape,)
        # JSON's true is no number, though Python's is.
        _require(isinstance(value, types) and (bool in types or not isinstance(value, bool)), where)


def require_range(value: int, least: int, most: int, where: str) -> None:
    """Raise ``ValueError`` outside of ``[least, most]``."""
    if not least <= value <= most:
        raise ValueError(f"{where} is not between {least:,} and {most:,}")


def _require(is_so: bool, where: str) -> None:
    if not is_so:
        raise ValueError(f"{where} is of another type")
