"""Every case of the suite, selected by id."""

from __future__ import annotations

from collections.abc import Iterable

from paraply.adapters.conformance.cases import (
    barriers,
    foreign_keys,
    keys,
    progress,
    random_logs,
    rows,
    scaled,
    timestamps,
)
from paraply.adapters.conformance.cases.case import Case
from paraply.adapters.conformance.protocol import Role
from paraply.vocabulary.errors import ParaplyError, register

UNKNOWN_CASE = register(
    "P632",
    "there is no case '{name}' for role {role}",
    "give an id, a family's letter or the beginning of ids: `paraply list cases` has them",
)


def suite() -> tuple[Case, ...]:
    """Return every case, by id."""
    modules = (timestamps, keys, foreign_keys, rows, barriers, progress, random_logs)
    fixed = [case for one in modules for case in one.CASES]
    at_scale = [scaled.scaled_case(scale) for scale in scaled.DEFAULT]
    return tuple(sorted([*fixed, *at_scale], key=lambda one: one.id))


def cases_named(names: Iterable[str], role: Role = Role.APPLIER) -> tuple[Case, ...]:
    """Return the role's cases by id prefix; P632 for unmatched names."""
    wanted = tuple(names)
    generated = [case for name in wanted if (case := scaled.case_of_id(name)) is not None]
    known = {case.id: case for case in (*suite(), *generated)}
    cases = tuple(case for case in known.values() if role is Role.APPLIER or case.is_for_trackers)
    for name in wanted:
        if not any(case.id.startswith(name) for case in cases):
            raise ParaplyError(UNKNOWN_CASE, name=name, role=role.value)
    return tuple(case for case in cases if not wanted or case.id.startswith(wanted))
