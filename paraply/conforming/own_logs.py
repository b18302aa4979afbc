"""Cases of a user's own logs and counterexamples, in place of the suite's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraply.adapters.binlog.input_files import STANDARD_INPUT, open_inputs
from paraply.adapters.conformance.cases import Case
from paraply.adapters.conformance.own_logs.cases import (
    SLICE_TRANSACTIONS,
    UNKNOWN_OWN_CASE,
    OwnCases,
    own_cases,
    size_of_id,
)
from paraply.adapters.conformance.own_logs.reading import OwnLogs, is_history
from paraply.adapters.conformance.protocol import Role
from paraply.errors import USAGE
from paraply.vocabulary.errors import ParaplyError


def own_logs(files: Sequence[str | Path], schema: str | Path | None = None) -> OwnLogs:
    """Return a user's logs, to make cases of; raises ``ParaplyError`` for unreadable ones."""
    names = tuple(map(str, files))
    if STANDARD_INPUT in names:
        reason = "--log reads files more than once: standard input is none"
        raise ParaplyError(USAGE, reason=reason, command="paraply conform")
    inputs = open_inputs([name for name in names if not is_history(name)])
    return OwnLogs(
        files=names, is_text=inputs.is_text, schema=None if schema is None else str(schema)
    )


def cases_of_logs(
    logs: OwnLogs,
    names: Sequence[str] = (),
    *,
    role: Role = Role.APPLIER,
    size: int = SLICE_TRANSACTIONS,
    keep_values: bool = False,
) -> tuple[tuple[Case, ...], tuple[OwnCases, ...]]:
    """Return the cases of logs with these ids or beginnings, and what became of the logs.

    An id names its own slice length; else it is ``size``. Raises ``ParaplyError`` without a case.
    """
    sizes = dict.fromkeys(size_of_id(name) or size for name in names)
    made = tuple(
        own_cases(logs, each, keep_values=keep_values, named=tuple(names))
        for each in sizes or (size,)
    )
    cases = tuple(case for one in made for case in one.cases if is_for(case, role))
    for name in names:
        if not any(case.id.startswith(name) for case in cases):
            raise ParaplyError(UNKNOWN_OWN_CASE, where=", ".join(logs.files), name=name)
    if not cases:
        reason = "no slice of the log can show what a tracker does"
        raise ParaplyError(USAGE, reason=reason, command="paraply conform")
    return cases, made


def is_for(case: Case, role: Role) -> bool:
    """Return whether a case is for programs of this role."""
    return role is Role.APPLIER or case.is_for_trackers
