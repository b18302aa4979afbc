"""The compiled judge of prefixes: equal to the streaming judge wherever it decides.

It leaves to that one what is no prefix, and rows that were changed outside of a log.
"""

from __future__ import annotations

from random import Random

import pytest

from paraply.properties.two_logs.commits import initial_values, steps
from paraply.properties.two_logs.compiled.prefixes import judge_prefixes
from paraply.properties.two_logs.fingerprints import fingerprint
from paraply.properties.two_logs.judgement import End, Level
from paraply.properties.two_logs.streaming import judge_streaming
from tests.properties.two_logs.columns import columns
from tests.properties.two_logs.small_histories import history

CASES = 4_000
pytestmark = pytest.mark.long


def spread(commit):
    """Other keys, of 128 bits."""

    def of(key: int) -> int:
        return fingerprint(b"", key)

    return type(commit)(
        changes={of(key): pair for key, pair in commit.changes.items()},
        copies={of(key): added for key, added in commit.copies.items() if added},
        rewritten=frozenset(map(of, commit.rewritten)),
    )


def observed(source, target, window):
    states = []
    judgement = judge_streaming(
        source, target, window=window, on_state=lambda *state: states.append(state)
    )
    return judgement, states


@pytest.mark.parametrize("window", [50_000, 3])
def test_compiled_judge_is_equal_to_the_streaming_one(window):
    chance = Random(window)
    decided = prefixes = 0
    for _ in range(CASES):
        source, target, name = history(chance)
        source, target = list(map(spread, source)), list(map(spread, target))
        wanted, states = observed(source, target, window)
        found = judge_prefixes(columns(source), columns(target), window=window)
        is_prefix = wanted.level >= Level.BATCHES and bool(source) and bool(target)
        prefixes += is_prefix
        if found is None:
            counts_last = wanted.end is End.BEHIND and source[-1].copies
            may_refuse = window < 50_000 or drifts(source, target) or counts_last
            assert not is_prefix or may_refuse, name
            continue
        decided += 1
        assert found.judgement == wanted, (source, target)
        assert list(columns(target)) == target
        assert [(n, int(p), int(p)) for n, p in enumerate(found.positions, 1)] == states
    assert decided > CASES / 10
    assert prefixes >= decided


def drifts(source, target) -> bool:
    """Whether a row was changed outside of a log."""
    initial = initial_values(source, target)
    return any(step.is_found for log in (source, target) for step in steps(log, initial))
