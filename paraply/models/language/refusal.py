"""Errors with the specification's file and line."""

from __future__ import annotations

import sys
from pathlib import Path

from paraply.vocabulary.errors import ParaplyError, register

ILL_FORMED = register(
    "P712",
    "ill-formed specification: {reason}",
    "correct the term or declaration at this place",
)

_HERE = str(Path(__file__).parent)


class IllFormedError(ParaplyError):
    """An ill-formed term, statement, action or system."""

    def __init__(self, reason: str) -> None:
        super().__init__(ILL_FORMED, where=_place(), reason=reason)


def _place() -> str:
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_HERE, "<")):
            break
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
