"""Every step of the reference certifier is a step of the specification that the theorems are about.

The two were written apart. The abstraction: a position of the model is a remote transaction or view
change in delivery order; an item's number is that of certification info, 0 where it has none. The
specification is read concretely: guard and every update are evaluated and compared.
"""

from __future__ import annotations

import random
from functools import cache

import pytest

from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.concrete import Scope, World, evaluate
from paraply.models.systems.applier import Dialect, parallel_applier
from paraply.reference_impl.certification.certifier import Certifier
from paraply.reference_impl.certification.dialects import (
    MYSQL_8_0,
    MYSQL_8_3,
    MYSQL_8_4,
    MYSQL_9_7,
    WL8440,
    WL8440_LITERAL,
)
from paraply.reference_impl.certification.run import ELSEWHERE, HERE, CertifierRun
from paraply.vocabulary.timestamps import VIEW_CHANGE
from paraply.vocabulary.transactions import TransactionKind

POSITIONS, ROWS = 12, "abc"
WALKS = 200
ROW = {letter: f"row{number}" for number, letter in enumerate(ROWS)}

PAIRS = {
    "wl8440": (WL8440, Dialect(name="wl8440")),
    "mysql_8_0": (MYSQL_8_0, Dialect(name="mysql_8_0", window="burn")),
    "mysql_8_3": (MYSQL_8_3, Dialect(name="mysql_8_3", window="burn", logs_view_change=False)),
    "mysql_8_4": (MYSQL_8_4, Dialect(name="mysql_8_4", logs_view_change=False)),
    "mysql_9_7": (MYSQL_9_7, Dialect(name="mysql_8_4", logs_view_change=False)),
}


class NoSuchStepError(AssertionError):
    """The reference did what the specification does not allow."""


@cache
def reading_of(specification):
    return CompiledReading(parallel_applier(specification))


class Walk:
    """A reference certifier and a world of the specification, step by step side by side."""

    def __init__(self, reference, specification):
        self.reading = reading_of(specification)
        self.system = self.reading.system
        self.functions = {function.name: function for function in self.system.functions}
        self.run = CertifierRun(Certifier(reference))
        self.world = World(Scope(low=-1, high=POSITIONS, size=len(ROWS)))
        self.set("n", (), 0)
        self.set("base", (), 0)
        self.set("next_sn", (), 2)
        self.set("lc_global", (), 1)
        self.position = 0
        self.finished = 0
        self.steps = 0
        self.places = []
        for statement in self.system.initially:
            assert evaluate(statement.closed, self.world, {}), statement.name

    def set(self, name, arguments, value):
        self.world.tables = dict(self.world.tables)
        table = dict(self.world.tables.get(name, {}))
        table[arguments] = value
        self.world.tables[name] = table

    def get(self, name, *arguments):
        return self.world.lookup(self.functions[name], arguments)

    def take(self, name, **parameters):
        if not self.reading.is_enabled(name, self.world, parameters):
            raise NoSuchStepError(f"step {self.steps}: {name} {parameters} is not enabled")
        self.world = self.reading.step(name, self.world, parameters)
        self.steps += 1

    def compare(self):
        certifier = self.run.certifier
        window = certifier.indexes.window
        seen = (self.get("next_sn"), self.get("lc_global"))
        wanted = (window.sequence_number, window.last_committed_global)
        if seen != wanted:
            raise NoSuchStepError(f"step {self.steps}: counters {wanted}, the model has {seen}")
        for letter, row in ROW.items():
            stored = certifier.certification_info.get(letter)
            if self.get("has", row) != (stored is not None):
                raise NoSuchStepError(f"step {self.steps}: item {letter}")
            if stored is not None and self.get("item_sn", row) != (stored.sequence_number or 0):
                raise NoSuchStepError(f"step {self.steps}: number of item {letter}")

    def remote(self, letters):
        here = self.position
        for letter in letters:
            self.set("ws", (here, ROW[letter]), True)
        self.set("empty", (here,), not letters)
        before = self.run.certifier.indexes.window
        known = set(self.run.certifier.certification_info)
        decision = self.run.deliver(letters, origin=ELSEWHERE)
        assert decision.is_positive
        if decision.timestamp == VIEW_CHANGE:
            self.set("vc", (here,), True)
            for letter, row in ROW.items():
                self.set("imported~", (row,), letter in known)
            number, opened = before.sequence_number, before.last_committed_global
            self.take("certify_first", number=number, opened=opened)
            self.position += 1
            self.places.append(here)
            return
        lc = decision.timestamp.last_committed
        named = [row for letter, row in ROW.items() if letter in letters]
        witness = next((row for row in named if self.get("item_sn", row) == lc), "row0")
        self.take("certify", new_lc=lc, witness=witness)
        assert self.get("sn", here) == decision.timestamp.sequence_number
        assert self.get("lc", here) == lc
        self.position += 1
        self.places.append(here)

    def local(self, letters):
        # The session saw everything certified so far, so it is all applied here first (A1).
        while self.finished < self.position:
            self.take("start", q=self.finished)
            self.take("finish", p=self.finished)
            self.finished += 1
        for letter, row in ROW.items():
            self.set("local_ws~", (row,), letter in letters)
        assert self.run.deliver(letters, origin=HERE).is_positive
        self.take("certify_local")

    def collect(self):
        before = set(self.run.certifier.certification_info)
        window = self.run.certifier.indexes.window
        purged = before & set(self.run.collect())
        if not purged and self.run.certifier.indexes.window == window:
            return  # A round that taught nothing new is none in MySQL 8.4.
        for letter, row in ROW.items():
            self.set("purged~", (row,), letter in purged)
        self.take("collect_garbage")

    def change_view(self):
        self.run.change_view()
        if not self.run.certifier.dialect.logs_view_change:
            return
        self.set("vc", (self.position,), True)
        self.take("change_view")
        self.position += 1


def walk(reference, specification, seed):
    choose = random.Random(seed)
    both = Walk(reference, specification)
    for _ in range(40):
        if both.position >= POSITIONS - 1:
            break
        letters = choose.sample(ROWS, choose.randint(0, 2))
        kind = choose.choice(["remote"] * 5 + ["local", "collect", "change_view"])
        if kind == "remote":
            both.remote(letters)
        elif kind == "local":
            both.local(letters or ["a"])
        elif kind == "collect":
            both.collect()
        else:
            both.change_view()
        both.compare()
    return both


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(PAIRS))
def test_every_step_of_the_reference_is_a_step_of_the_specification(name):
    walks = [walk(*PAIRS[name], seed) for seed in range(WALKS)]
    assert sum(both.steps for both in walks) > 20 * WALKS
    kinds = {one.kind for both in walks for one in both.run.recorder.transactions}
    wanted = {TransactionKind.ROWS, TransactionKind.NO_WRITE_SET}
    if PAIRS[name][0].logs_view_change:
        wanted.add(TransactionKind.VIEW_CHANGE)
    assert kinds >= wanted


def test_literal_reading_is_refused_by_the_safe_specification():
    refused = 0
    for seed in range(20):
        try:
            walk(WL8440_LITERAL, Dialect(name="wl8440"), seed)
        except NoSuchStepError:
            refused += 1
    assert refused == 20


def test_each_window_is_refused_by_the_specification_of_the_other():
    for reference, specification in (
        (MYSQL_8_0, Dialect(name="wl8440")),
        (WL8440, Dialect(name="mysql_8_0", window="burn")),
    ):
        both = Walk(reference, specification)
        both.remote("a")
        both.collect()
        with pytest.raises(NoSuchStepError, match="counters"):
            both.compare()
