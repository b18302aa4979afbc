"""Eager MariaDB replicas queue and retry at once: holds, breaks, and edges."""

from __future__ import annotations

import json

import pytest

from paraply.properties.apply.mariadb.promptness import (
    retries_begin_at_once,
    transactions_are_queued_at_once,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

PLAIN = "flags=transactional,allow_parallel"
LOG = (
    f"| T1{{a}} {PLAIN} domain=0 | T2{{b}} {PLAIN} domain=0 | T3{{c}} {PLAIN} domain=0 "
    f"| T4{{d}} {PLAIN} domain=1 | T5{{e}} domain=0 clock=1 {PLAIN} "
    "| T6{f} flags=allow_parallel domain=0 | started ; "
)
STEPS = {
    "s": "scheduled T{0}@w{1}",
    "b": "begun T{0}@w{1}",
    "r": "row_applied T{0}@w{1} outcome=ok",
    "w": "row_applied T{0}@w{1} outcome=lock_wait other={2}",
    "c": "engine_committed T{0}@w{1}",
    "u": "rolled_back T{0}@w{1}",
    "k": 'rolled_back T{0}@w{1} note="deadlock kill" other={2}',
    "a": "retried T{0}@w{1} ; begun T{0}@w{1} attempt=2",
}


def run(text, *, dialect="optimistic", **options):
    """Return a replica's history: s21 gives T2 to worker 1, - stops and starts it."""
    head = {"workers": 2, "domain_workers": 0, "queued_max": 2, "eager": True} | options
    events = " ; ".join(
        "stopped ; started" if one == "-" else STEPS[one[0]].format(*one[1:])
        for one in text.split()
    )
    return history_of(f"dialect={dialect} options={json.dumps(head)} {LOG}{events}")


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        ("s11 s22 s31 b11 c11", {}, 0),
        ("s11 b11 r11 s22 c11", {}, 1),
        ("s11 b11 r11 s22 c11", {"workers": 1}, 1),
        ("s11 b11 r11 s22 c11", {"workers": 1, "queued_max": 1}, 0),
        ("s11 b11 c11 r11 s21", {"workers": 1, "queued_max": 1}, 1),
        ("s11 s22 b11 r11 s31 c11", {"queued_max": 1}, 0),
        ("s11 s22 b11 r11 s31 c11", {}, 1),
        ("s11 b11 r11 s42 c11", {"domain_workers": 1}, 1),
        # Worker 1 is that of the other domain until it has no work.
        ("s11 b11 r11 s41 c11", {"workers": 1}, 0),
        ("s11 b11 r11 s41 c11", {"workers": 1, "dialect": "minimal"}, 1),
        ("s11 b11 r11 c11 s21", {"dialect": "none"}, 0),
        ("s11 b11 c11 b11 s21 c21", {"dialect": "none"}, 1),
        # The source restarted before T5.
        ("s11 b11 r11 c11 s52 c52", {}, 0),
        ("s11 b11 c11 r11 s52 c52", {}, 1),
        ("s11 b11 r11 - s21 c21", {}, 0),
        # T6 commits before it leaves its queue.
        ("s61 b61 c61 r61 s41 c41", {"workers": 1, "queued_max": 1}, 0),
        ("s61 s11 b61 c61 b11 r11 s21", {"workers": 1}, 1),
    ],
)
def test_driver_queues_when_the_worker_has_room(text, options, found):
    assert len(transactions_are_queued_at_once(run(text, **options))) == found


def test_late_transaction_is_named_once():
    (breach,) = transactions_are_queued_at_once(run("s11 b11 r11 r11 s22 c11"))
    assert str(breach) == (
        "r1: T2 was next in the log and its worker had room, but begun of T1 came first"
    )
    assert verdict(run("s11 s22 b11 c11"), transactions_are_queued_at_once) is Verdict.HOLDS
    assert verdict(run("s11 b11 c11"), transactions_are_queued_at_once) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("s11 s22 b22 u22 b11 c11 a22", 0),
        ("s11 s22 b22 u22 b11 c11 r11 a22 c22", 1),
        # Of another domain, T1 is not waited for.
        ("s11 s42 b42 u42 b11 c11 a42", 1),
        # T1 asked for the end that came, or for one that is still to come.
        ("s11 s22 b22 b11 w112 k221 c11 r11 a22 c22", 1),
        ("s11 s22 b22 b11 w112 u22 c11 r11 a22 c22", 0),
        ("s11 s22 b11 w112 r11 b22 u22 c11 r11 a22 c22", 1),
        ("s11 s22 b11 w112 b22 u22 r11 c11 r11 a22 c22", 0),
        # A stop ends what was to be tried again.
        ("s11 s22 b22 u22 b11 c11 - s21 a21", 0),
        ("s11 s22 b22 u22 a22 u22 b11 c11 a22", 0),
    ],
)
def test_retry_begins_when_all_before_have_committed(text, found):
    assert len(retries_begin_at_once(run(text))) == found


def test_late_retry_is_named():
    (breach,) = retries_begin_at_once(run("s11 s22 b22 u22 b11 c11 r11 a22 c22"))
    assert str(breach) == (
        "r1: T2 could be tried again, as all before it in its domain had committed, but "
        "row_applied of T1 came first"
    )
    prompt = run("s11 s22 b22 u22 b11 c11 a22 c22")
    assert verdict(prompt, retries_begin_at_once) is Verdict.HOLDS
    assert verdict(run("s11 b11 c11"), retries_begin_at_once) is Verdict.UNKNOWN


@pytest.mark.parametrize("name", ["transactions_are_queued_at_once", "retries_begin_at_once"])
def test_replica_on_a_schedule_may_take_its_time(name):
    (prop,) = [one for one in registered_properties() if one.name == name]
    assert prop.applies_to(run("s11 b11 c11"))
    assert not prop.applies_to(run("s11 b11 c11", eager=False))
