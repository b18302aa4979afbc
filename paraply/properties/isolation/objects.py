"""Sets and counters: objects whose reads show no order of versions."""

from __future__ import annotations

from collections.abc import Sequence

from paraply.properties.isolation.agreement import FINAL_READS
from paraply.properties.isolation.counters import (
    COUNTER_TOO_HIGH,
    LOGGED_INCREMENT,
    LOST_INCREMENT,
    judge_counter,
)
from paraply.properties.isolation.freshness import STALE_READ
from paraply.properties.isolation.going_back import MONOTONIC_AT_SERVER
from paraply.properties.isolation.judging import Finding, LevelFinding
from paraply.properties.isolation.phenomena import LEVELS, Phenomenon
from paraply.properties.isolation.sets import (
    DUPLICATE_ELEMENT,
    LOST_ELEMENT,
    VANISHED_ELEMENT,
    judge_set,
)
from paraply.vocabulary.client_history import ClientHistory, DataType
from paraply.vocabulary.verdict import Verdict, combine

OBJECT_PHENOMENA: tuple[Phenomenon, ...] = (
    DUPLICATE_ELEMENT, LOST_ELEMENT, VANISHED_ELEMENT, COUNTER_TOO_HIGH, LOST_INCREMENT,
    LOGGED_INCREMENT, FINAL_READS, STALE_READ, MONOTONIC_AT_SERVER,
)  # fmt: skip
"""Beside those of :data:`phenomena.PHENOMENA`."""
REMAINS = (LOST_ELEMENT, LOST_INCREMENT, LOGGED_INCREMENT, FINAL_READS)
"""No level permits them."""


def judge_objects(history: ClientHistory) -> tuple[Finding, ...]:
    """Judge a history of sets or counters.

    Raises:
        ParaplyError: P508 where an element is added twice.
    """
    return judge_set(history) if history.data_type is DataType.SET else judge_counter(history)


def levels_of_objects(findings: Sequence[Finding], data_type: DataType) -> tuple[LevelFinding, ...]:
    """Return each level's result: unknown unless the findings cover what the level forbids."""
    by_label = {one.phenomenon.label: one.verdict for one in findings}
    levels = []
    for level in LEVELS:
        verdicts = [by_label.get(label, Verdict.UNKNOWN) for label in level.forbids]
        verdict = combine(verdicts)
        because: tuple[str, ...] = ()
        if verdict is Verdict.VIOLATED:
            because = tuple(
                label for label in level.forbids if by_label.get(label) is Verdict.VIOLATED
            )
        elif verdict is Verdict.UNKNOWN:
            because = (f"a {data_type.value} shows no order of versions",)
        levels.append(LevelFinding(level=level, verdict=verdict, because=because))
    return tuple(levels)
