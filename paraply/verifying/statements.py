"""Statements on judged tables (TRUNCATE, ALTER) that only one of two logs has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from paraply.properties.two_logs.judgement import End
from paraply.verifying.result import Reason
from paraply.verifying.showing import ROWS_SHOWN, Side

if TYPE_CHECKING:
    from paraply.verifying.pipeline import VerifyRequest
    from paraply.verifying.summary import Judged

_LOOK = "compare the tables on both servers; then judge logs that begin after the statement"


def replaced_apart(judged: Judged, source: Side, target: Side) -> list[str]:
    """Return tables whose rows only one log replaces, but for what the target is still to reach.

    Names decide, where both logs have the same transactions from the same one on.
    """
    if judged.names is not None and not (source.skipped or target.skipped):
        return []
    judgement = judged.judgement
    following = math.inf
    if judgement.end is End.BEHIND and judgement.end_position is not None:
        following = source.number(judgement.end_position + 1)
    return [
        table
        for table, mine, theirs in judged.plan.replaced
        if not (len(mine) > len(theirs) and mine[len(theirs)] > following)
    ]


def defined_in_one_log(
    judged: Judged, source: Side, target: Side, request: VerifyRequest
) -> Iterator[Reason]:
    """Yield them, as reasons for doubt."""
    for table in replaced_apart(judged, source, target):
        yield Reason(
            subject=table,
            reason="TRUNCATE, DROP, RENAME or a change of partitions replaced its rows in one log "
            "and not in the other: rows after it are not compared",
            remedy=_LOOK,
        )
    names = judged.names
    if names is None:
        return
    for side, numbers, reason in (
        (source, names.undefined, "did not come: filtered on purpose, or lost"),
        (source, names.defined_late if request.judges_end else (), "has not come"),
        (target, names.defined_alone, "is in the target's log alone"),
    ):
        for number in numbers[:ROWS_SHOWN]:
            tables = ", ".join(side.recording.header(number).defines)
            yield Reason(
                subject=side.recorded(number).name,
                reason=f"its statement on {tables} {reason}",
                remedy=_LOOK,
            )
