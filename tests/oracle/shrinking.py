"""The smallest case that still shows a disagreement."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.oracle.generator import Case, Transaction

ATTEMPTS_MAX = 300


def shrink(case: Case, still: Callable[[Case], bool], seconds_max: float) -> Case:
    """Return a smaller case for which ``still`` is true; it ends by attempts or by time."""
    attempts = 0
    ends = time.monotonic() + seconds_max
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(case):
            attempts += 1
            if attempts > ATTEMPTS_MAX or time.monotonic() > ends:
                return case
            if still(smaller):
                case, progress = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for steps in _without_one(case.steps):
        if steps:
            yield replace(case, steps=steps)
    for data in _without_one(case.data):
        yield replace(case, data=data)
    for setup in _without_one(case.setup):
        yield replace(case, setup=setup)
    if case.image != "FULL":
        yield replace(case, image="FULL")
    for at, step in enumerate(case.steps):
        for smaller in _smaller_steps(step):
            yield replace(case, steps=(*case.steps[:at], smaller, *case.steps[at + 1 :]))
    for at, sql in enumerate(case.setup):
        for smaller in _smaller_tables(sql):
            yield replace(case, setup=(*case.setup[:at], smaller, *case.setup[at + 1 :]))


def _smaller_steps(step):
    changes, one, two = step
    for fewer in _without_one(changes):
        yield fewer, one, two
    for fewer in _without_one(one.statements):
        if fewer:
            yield changes, replace(one, statements=fewer), two
    for fewer in _without_one(two.statements):
        if fewer:
            yield changes, one, replace(two, statements=fewer)
    if not one.checked:
        yield changes, Transaction(one.statements), two
    if not two.checked:
        yield changes, one, Transaction(two.statements)


def _smaller_tables(sql: str) -> Iterator[str]:
    if ") ENGINE" not in sql:
        return
    head, body = sql.split(" (", 1)
    body, tail = body.rsplit(") ENGINE", 1)
    elements = re.split(r", (?![^()]*\))", body)
    for fewer in _without_one(tuple(elements)):
        if fewer:
            yield f"{head} ({', '.join(fewer)}) ENGINE{tail}"


def _without_one(items: tuple) -> Iterator[tuple]:
    for at in range(len(items)):
        yield items[:at] + items[at + 1 :]
