"""Every case of the suite, and how they are chosen by id."""

from __future__ import annotations

from collections.abc import Iterable

from adapters.conformance.cases import (
    barriers,
    foreign_keys,
    keys,
    progress,
    random_logs,
    rows,
    timestamps,
)
from adapters.conformance.cases.case import Case
from vocabulary.errors import ParaplyError, register

UNKNOWN_CASE = register(
    "P632",
    "there is no case '{name}'",
    "give an id, a family's letter or the beginning of ids: `paraply list cases` has them",
)


def suite() -> tuple[Case, ...]:
    """Return every case, by id."""
    modules = (timestamps, keys, foreign_keys, rows, barriers, progress, random_logs)
    return tuple(sorted((case for one in modules for case in one.CASES), key=lambda one: one.id))


def cases_named(names: Iterable[str]) -> tuple[Case, ...]:
    """Return the cases that the names begin; all for none. P632 for a name without a case."""
    wanted = tuple(names)
    cases = suite()
    for name in wanted:
        if not any(case.id.startswith(name) for case in cases):
            raise ParaplyError(UNKNOWN_CASE, name=name)
    return tuple(case for case in cases if not wanted or case.id.startswith(wanted))
