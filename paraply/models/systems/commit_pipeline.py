"""Group commit with a semi-synchronous wait that can time out, for progress.

Chained locks keep at most one group in each of the stages log, ack and commit, so counters say
where each group is: group ``g`` is in the log stage while ``entered <= g < written``, waits for an
acknowledgement while ``passed <= g < entered``, and commits while ``done <= g < passed``.

Source: MDEV-162 stages 1 to 4; ``ReplSemiSyncMaster::commitTrx`` and ``switch_off``;
rpl_semi_sync_source_timeout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.models.language.concrete import Scope, Table
from paraply.models.language.response import Case, Measure, Response
from paraply.models.language.system import System
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Function,
    Term,
    Variable,
    conj,
    disj,
    eq,
    implies,
    ite,
)

G = Variable("g", INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What ends a wait."""

    name: str = "commit_pipeline"
    times_out: bool = True
    """A wait ends after a time, and semi-sync is off until a replica has caught up."""
    receives: bool = False
    """A replica goes on receiving."""


def commit_pipeline(rules: Rules = Rules()) -> System:
    """Return the system of one source."""
    system = System(rules.name, "log, ack and commit stages as counters; a wait that may time out")
    written = system.state("n", INT)
    synced = system.state("synced", INT)
    entered = system.state("entered", INT)
    passed = system.state("passed", INT)
    done = system.state("done", INT)
    received = system.state("received", INT)
    off = system.state("off", BOOL)

    counters = (written, synced, entered, passed, done, received)
    system.starts_with("empty", (), conj(*(eq(count(), 0) for count in counters), ~off()))
    steps = (
        ("write", written, eq(entered(), written()), "the next group takes LOCK_log"),
        ("sync", synced, synced() < written(), "the binary log is durable"),
        ("enter_ack", entered, conj(entered() < synced(), eq(passed(), entered())),
         "takes LOCK_semi_sync, then releases LOCK_log"),
        ("enter_commit", passed, conj(passed() < entered(), eq(done(), passed()),
                                      disj(off(), passed() < received())),
         "acknowledged, or semi-sync is off; takes LOCK_commit_ordered"),
        ("engine_commit", done, done() < passed(), "the group is visible"),
        ("receive", received, received() < synced(), "a replica has the next group"),
    )  # fmt: skip
    for name, count, guard, meaning in steps:
        system.action(name, (), guard=guard, meaning=meaning,
                      updates={count: lambda count=count: count() + 1})  # fmt: skip
    if not rules.receives:
        _time_outs(system, rules, off, blocked=conj(passed() < entered(), ~off(),
            received() <= passed()), caught_up=entered() <= received())  # fmt: skip

    in_order = conj(done() >= 0, done() <= passed(), passed() <= entered(), entered() <= synced(),
                    synced() <= written(), received() >= 0, received() <= synced())  # fmt: skip
    single = conj(passed() <= done() + 1, entered() <= passed() + 1, written() <= entered() + 1)
    system.invariant("stages_follow_each_other", (), in_order, "no group skips a stage")
    system.invariant("one_group_in_each_stage", (), single, "each stage is one lock's")
    system.safe("what_commits_is_durable", (G,), implies(conj(G >= 0, G < done()), G < synced()),
        "a visible group is in the durable binary log")  # fmt: skip
    if rules.times_out:
        system.cover("commits_without_a_replica", (), conj(done() >= 2, eq(received(), 0)))
    system.cover("three_stages_at_once", (), conj(done() < passed(), passed() < entered(),
        entered() < written()))  # fmt: skip

    first = done()
    before_ack = conj(eq(passed(), first), first < entered())
    blocked = conj(before_ack, ~off(), received() <= first)
    missing = Measure(first + 1, ite(received() <= first, received(), first + 1))
    helps = "receive" if rules.receives else "time_out"
    system.responds(Response(
        name="every_written_group_commits", variables=(G,),
        pending=conj(G >= 0, G < written()), goal=G < first,
        rank=(
            Measure(G, first),
            Measure(ite(first < passed(), 0, 1)),
            Measure(ite(first < entered(), 0, 1)),
            Measure(ite(first < synced(), 0, 1)),
            missing if rules.receives else Measure(ite(blocked, 1, 0)),
        ),
        cases=(
            Case(name="to_sync", condition=conj(eq(entered(), first), eq(synced(), first)),
                 action="sync", meaning="the first uncommitted group is not durable"),
            Case(name="to_enter_ack", condition=conj(eq(entered(), first), first < synced()),
                 action="enter_ack", meaning="it is durable"),
            Case(name="to_wait", condition=blocked, action=helps,
                 meaning="it waits, and no replica has it"),
            Case(name="to_enter_commit",
                 condition=conj(before_ack, disj(off(), first < received())),
                 action="enter_commit", meaning="a replica has it, or semi-sync is off"),
            Case(name="to_commit", condition=first < passed(), action="engine_commit",
                 meaning="it holds LOCK_commit_ordered"),
        ),
        fair=("sync", "enter_ack", "enter_commit", "engine_commit", helps),
        meaning="every group in the binary log becomes visible",
    ))  # fmt: skip
    return system


def _time_outs(
    system: System, rules: Rules, off: Function, *, blocked: Term, caught_up: Term
) -> None:
    system.action(
        "time_out", (), guard=conj(blocked, TRUE if rules.times_out else FALSE),
        updates={off: lambda: TRUE}, meaning="the wait is abandoned, and semi-sync switched off",
    )  # fmt: skip
    system.action(
        "switch_on", (), guard=conj(off(), caught_up),
        updates={off: lambda: FALSE}, meaning="a replica has caught up",
    )  # fmt: skip


def workloads(transactions: int, scope: Scope) -> Iterator[dict[str, Table]]:
    """Yield the one initial state."""
    yield {}
