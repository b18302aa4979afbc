"""Live runs of the tests: one round, or as many as it takes what needs luck to occur."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import closing

import pytest

from paraply.adapters.live.target import LiveRequest, target_named
from paraply.adapters.live.targets import TARGETS
from paraply.adapters.servers import Installation
from paraply.observing.judging import LiveResult, new_result, take_round
from paraply.vocabulary.errors import ParaplyError

PATIENCE_S = 120
"""For what a slow machine takes long to do; who is done sooner does not wait."""
_ROUNDS_MAX = 6


def installed(find: Callable[[], Installation]) -> Installation:
    """Return a server; without one, skip the test."""
    try:
        return find()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")


def run(
    target: str,
    mode: str,
    fault: str = "none",
    *,
    until: Collection[str] = (),
    until_held: Collection[str] = (),
    transactions: int = 300,
    domains: int = 1,
    replicas: int = 1,
) -> LiveResult:
    """Run one round, or a few.

    The next one follows while none of the properties ``until`` is broken, or while the situation of
    one of ``until_held`` has not occurred.
    """
    chosen = target_named(target, TARGETS)
    request = LiveRequest(
        mode=mode,
        fault=fault,
        rounds=_ROUNDS_MAX if until or until_held else 1,
        transactions=transactions,
        domains=domains,
        replicas=replicas,
        duration_s=PATIENCE_S,
        seed=7,
    )
    result = new_result(chosen, request)
    with closing(chosen.run(request)) as rounds:
        for one in rounds:
            take_round(result, one)
            occurred = until_held and set(until_held) <= held(result) | broken(result)
            if occurred or broken(result) & set(until):
                break
    found = {name: answer.why() for name, answer in result.answers.items() if answer.broken}
    print(f"live: {target} {mode} {fault} {result.evidence} {result.notes} {found}")
    return result


def broken(result: LiveResult) -> set[str]:
    """Return what a run broke."""
    return {name for name, answer in result.answers.items() if answer.broken}


def held(result: LiveResult) -> set[str]:
    """Return what held: its situation occurred, and nothing broke it."""
    return {name for name, answer in result.answers.items() if answer.held and not answer.broken}


def documented(target: str, mode: str, fault: str) -> set[str]:
    """Return what a fault is documented to break."""
    return set(target_named(target, TARGETS).documented.get(f"{mode}/{fault}", ()))
