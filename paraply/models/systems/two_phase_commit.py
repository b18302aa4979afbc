"""Two-phase commit with known state counts, the reference for explicit-state searches.

Messages persist; receipt may repeat.

Source: Gray and Lamport, Consensus on Transaction Commit (2006), the specification TwoPhase.
"""

from __future__ import annotations

from paraply.models.language.system import System
from paraply.models.language.terms import (
    BOOL,
    INT,
    Sort,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    ite,
)

MANAGER = Sort("Manager")
WORKING, PREPARED, COMMITTED, ABORTED = range(4)
INIT, DONE_COMMITTED, DONE_ABORTED = range(3)

A, B = Variable("a", MANAGER), Variable("b", MANAGER)


def two_phase_commit() -> System:
    """Return resource managers, transaction manager and messages."""
    system = System("two_phase_commit", "resource managers commit all or none")
    local = system.state("local", MANAGER, INT)
    outcome = system.state("outcome", INT)
    heard = system.state("heard", MANAGER, BOOL)
    said = system.state("said", MANAGER, BOOL)
    sent_commit = system.state("sent_commit", BOOL)
    sent_abort = system.state("sent_abort", BOOL)
    system.starts_with("all_work", (A,), conj(eq(local(A), WORKING), ~heard(A), ~said(A)))
    system.starts_with("undecided", (), conj(eq(outcome(), INIT), ~sent_commit(), ~sent_abort()))
    system.action(
        "hear_prepared", (A,),
        guard=conj(eq(outcome(), INIT), said(A)),
        updates={heard: lambda a: disj(heard(a), eq(a, A))},
    )  # fmt: skip
    system.action(
        "decide_to_commit", (),
        guard=conj(eq(outcome(), INIT), forall(A, heard(A))),
        updates={outcome: lambda: DONE_COMMITTED, sent_commit: lambda: True},
    )  # fmt: skip
    system.action(
        "decide_to_abort", (),
        guard=eq(outcome(), INIT),
        updates={outcome: lambda: DONE_ABORTED, sent_abort: lambda: True},
    )  # fmt: skip
    system.action(
        "prepare", (A,),
        guard=eq(local(A), WORKING),
        updates={
            local: lambda a: ite(eq(a, A), PREPARED, local(a)),
            said: lambda a: disj(said(a), eq(a, A)),
        },
    )  # fmt: skip
    system.action(
        "choose_to_abort", (A,),
        guard=eq(local(A), WORKING),
        updates={local: lambda a: ite(eq(a, A), ABORTED, local(a))},
    )  # fmt: skip
    system.action(
        "hear_commit", (A,),
        guard=sent_commit(),
        updates={local: lambda a: ite(eq(a, A), COMMITTED, local(a))},
    )  # fmt: skip
    system.action(
        "hear_abort", (A,),
        guard=sent_abort(),
        updates={local: lambda a: ite(eq(a, A), ABORTED, local(a))},
    )  # fmt: skip
    system.safe(
        "managers_agree", (A, B),
        implies(eq(local(A), COMMITTED), ~eq(local(B), ABORTED)),
        "no manager commits what another aborts",
    )  # fmt: skip
    return system
