"""An anomaly injected into a long serial history is found by its own name, and nothing else is."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ci.bench import isolation as bench
from paraply.properties.isolation.compiled.cycles import CompiledSearch
from paraply.properties.isolation.judging import judge, readable_search
from paraply.properties.isolation.prefixes import judge_prefixes
from paraply.vocabulary.client_history import Access, AccessKind, ClientHistory, DataType
from paraply.vocabulary.verdict import Verdict
from tests.properties.isolation.test_phenomena import CLEAN, FOUND

BACKGROUND = 60


def background_of(data_type, seed, monkeypatch):
    """Return a serial history over keys that no example has."""
    monkeypatch.setattr(bench, "TRANSACTIONS", BACKGROUND)
    monkeypatch.setattr(bench, "KEY_APPENDS_MAX", 6)
    history = bench.draw_history(random.Random(seed), lag_max=0)
    return history if data_type is DataType.LIST else as_registers(history)


def as_registers(history):
    """Return the same run over registers: a list is known by its last element."""
    transactions = []
    for one in history.transactions:
        accesses = tuple(
            Access(AccessKind.READ, key, value[-1] if value else None)
            if kind is AccessKind.READ
            else Access(AccessKind.WRITE, key, value)
            for kind, key, value in one.accesses
        )
        transactions.append(one._replace(accesses=accesses))
    return replace(history, data_type=DataType.REGISTER, transactions=tuple(transactions))


def injected(background, example):
    """Return the example run after the background, in sessions of its own."""
    shift = len(background.transactions)
    after = max(one.completed for one in background.transactions) + 1
    moved = tuple(
        one._replace(
            number=one.number + shift, invoked=one.invoked + after, completed=one.completed + after
        )
        for one in example.transactions
    )
    log = None
    if example.log is not None:
        log = (*background.log, *(number + shift for number in example.log))
    return ClientHistory(
        data_type=background.data_type, transactions=background.transactions + moved, log=log
    )


def violated(result):
    return {
        one.phenomenon.label: {type(breach) for breach in one.breaches}
        for one in result.findings
        if one.verdict is Verdict.VIOLATED
    }


@pytest.mark.long
@pytest.mark.parametrize("search", [readable_search, CompiledSearch()], ids=["readable", "arrays"])
@pytest.mark.parametrize(
    ("label", "breach", "example"), [one[:3] for one in FOUND],
    ids=[f"{one[0]}-{one[1].__name__}" for one in FOUND],
)  # fmt: skip
def test_injected_anomaly_is_found_and_nothing_else(label, breach, example, search, monkeypatch):
    background = background_of(example.data_type, 7, monkeypatch)
    assert violated(judge(background, search=search)) == {}
    found = violated(judge(injected(background, example), search=search))
    assert breach in found[label]
    assert found == violated(judge(example))


@pytest.mark.parametrize("label", CLEAN)
def test_injected_neighbour_stays_clean(label, monkeypatch):
    example = CLEAN[label]
    background = background_of(example.data_type, 8, monkeypatch)
    found = violated(judge(injected(background, example)))
    assert found == violated(judge(example))
    assert label not in found


def test_lagging_database_shows_every_kind_of_anti_dependency_cycle(monkeypatch):
    monkeypatch.setattr(bench, "TRANSACTIONS", 400)
    history = bench.draw_history(random.Random(1), lag_max=3)
    labels = violated(judge(history, search=CompiledSearch()))
    assert {"P4", "G-single", "G-nonadjacent", "G2-item"} <= set(labels)
    assert not {"G0", "G1a", "G1b", "G1c", "garbage", "orders"} & set(labels)


def test_lagging_replicas_show_prefixes_and_no_more(monkeypatch):
    monkeypatch.setattr(bench, "TRANSACTIONS", 400)
    history = bench.draw_history(random.Random(1), lag_max=3, only_readers_lag=True)
    judged = judge_prefixes(history)
    assert not judged.impossible
    assert not judged.went_back
    assert judged.reads > 100
    result = judge(history)
    assert result.level("serializable").verdict is Verdict.HOLDS
    assert result.level("monotonic-prefix").verdict is Verdict.HOLDS
    assert result.level("strict-serializable").verdict is Verdict.VIOLATED
    # A replica that shows one transaction too early is noticed.
    broken = reordered(history)
    assert broken is not None
    assert judge_prefixes(broken).impossible


def reordered(history):
    """Return the history with two transactions of the log exchanged that a reader tells apart."""
    log = history.log
    for place in range(len(log) - 1):
        other = (*log[:place], log[place + 1], log[place], *log[place + 2 :])
        changed = replace(history, log=other)
        if judge_prefixes(changed).impossible:
            return changed
    return None
