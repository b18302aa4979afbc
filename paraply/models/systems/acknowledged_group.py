"""The members of a group whose sessions wait until other members have written a transaction.

A layer over ``paraply/models/systems/parallel_group.py``: it adds conditions to steps and steps of
its own, which change nothing of the group. A session waits until an *acknowledging set* of other
members (any N, for a count N) has its transaction in their relay logs: before its engine commit
(AFTER_SYNC), or before its client is answered (AFTER_COMMIT), as its member is configured. The
group delivers a transaction to all, but what is only delivered is lost with the memory of the
members. Members crash and come back in between.

Source: MDEV-162; ``rpl_semi_sync_source_wait_point`` and ``..._wait_for_replica_count``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System
from paraply.models.language.terms import (
    BOOL,
    INT,
    TRUE,
    Variable,
    conj,
    disj,
    eq,
    exists,
    forall,
    implies,
    ite,
    negate,
)
from paraply.models.systems import parallel_group
from paraply.models.systems.group import MEMBER, M, P
from paraply.models.systems.quorum import ACKERS, A

K = Variable("k", MEMBER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a fault, if nothing else is said."""

    name: str = "acknowledged_group"
    waits: bool = True
    """Assumption A5: no time-out ends the wait."""
    all_of_the_set: bool = True
    """Every member of the set has acknowledged."""
    of_members_only: bool = True
    """The acknowledgement of a member that has crashed does not count."""
    others_only: bool = True
    """A member's own log does not count."""
    of_the_stream_only: bool = True
    """A joiner does not count for what it has yet to copy from its donor."""
    of_what_is_written: bool = True
    """A member acknowledges what it wrote to its relay log, not what was delivered to it."""
    waits_for_few: bool = True
    """It waits on if fewer remain than a set has. Off, all that remain are enough."""
    claims_for_all_readers: bool = False
    """Claims of readers under AFTER_COMMIT what is true of those under AFTER_SYNC."""


def acknowledged_group(rules: Rules = Rules(), *, commits_in_order: bool = True) -> System:
    """Return the system of a group with semi-synchronous sessions."""
    below = parallel_group.Rules(name=rules.name, commits_in_order=commits_in_order)
    x = parallel_group.Layer(below)
    parallel_group.fill(x)
    system, g = x.system, x.g
    system.meaning = "a group whose sessions wait until other members have their transactions"
    acks = system.rigid("acks", MEMBER, ACKERS, BOOL)
    one_of = system.rigid("one_of", ACKERS, MEMBER)
    after_sync = system.rigid("after_sync", MEMBER, BOOL)
    heard = system.state("heard", INT, BOOL)
    visible = system.state("visible", INT, BOOL)
    answered = system.state("answered", INT, BOOL)
    gone = system.state("gone", INT, BOOL)
    # Ghosts: the set that was heard of, and the members that have crashed since.
    by_set = system.state("by_set", INT, ACKERS)
    left = system.state("left", MEMBER, INT, BOOL)
    system.assume("sets_are_not_empty", (A,), acks(one_of(A), A), "somebody has to acknowledge")
    system.starts_with("nothing_heard", (P,), conj(~heard(P), ~visible(P), ~answered(P),
        ~gone(P)))  # fmt: skip

    home, here = g.home(g.txn_at(P)), g.commit().here

    is_received, is_other = P < x.received(K), negate(eq(K, home))
    # What a joiner has from its donor lies before the first that it received.
    in_stream = x.first(K) <= P
    counts = conj(
        g.in_group(K) if rules.of_members_only else TRUE,
        is_other if rules.others_only else TRUE,
        in_stream if rules.of_the_stream_only else TRUE,
        is_received if rules.of_what_is_written else TRUE,
    )
    whole = forall(K, implies(acks(K, A), counts))
    if not rules.all_of_the_set:
        whole = exists(K, conj(acks(K, A), counts))
    if not rules.waits_for_few:
        whole = disj(whole, forall(K, implies(conj(g.in_group(K), is_other), is_received)))
    system.action(
        "hear", (P, A),
        guard=conj(P >= 0, P < g.n(), g.certified(g.txn_at(P)), ~gone(P), ~heard(P), whole),
        updates={
            heard: lambda p: disj(heard(p), eq(p, P)),
            by_set: lambda p: ite(eq(p, P), A, by_set(p)),
            left: lambda m, p: conj(left(m, p), ~eq(p, P)),
        },
        meaning="a session's member has heard from a whole set of others that they have it",
    )  # fmt: skip
    own = x.is_own(M, here)
    x.extend("apply", implies(conj(own, after_sync(M)), heard(here)) if rules.waits else TRUE, {
        visible: lambda p: disj(visible(p), conj(eq(p, here), own)),
    })  # fmt: skip
    system.action(
        "answer", (P,), guard=conj(visible(P), ~gone(P), heard(P) if rules.waits else TRUE),
        updates={answered: lambda p: disj(answered(p), eq(p, P))},
        meaning="the client that committed gets its answer, under AFTER_COMMIT after the wait",
    )  # fmt: skip
    x.extend("crash", updates={
        left: lambda m, p: disj(left(m, p), eq(m, M)),
        gone: lambda p: disj(gone(p), conj(eq(g.home(g.txn_at(p)), M), p < g.n())),
    })  # fmt: skip

    stays = conj(acks(K, by_set(P)), ~left(K, P))
    is_written = conj(g.in_group(K), in_stream, is_received)
    is_at_another = conj(is_other, g.in_group(K), disj(is_written, negate(g.lacks(K, P))))
    is_waited = TRUE if rules.claims_for_all_readers else after_sync(home)
    system.safe("what_readers_see_is_at_others", (K, P), implies(conj(visible(P), is_waited, stays),
        is_at_another), "AFTER_SYNC: each of a set of others has what is visible, or has crashed "
        "since")  # fmt: skip
    system.safe("what_clients_are_told_is_at_others", (K, P), implies(conj(answered(P), stays),
        is_at_another), "each has what a client got an answer for, or has crashed "
        "since")  # fmt: skip
    system.invariant("visible_was_heard", (P,), implies(conj(visible(P), after_sync(home)),
        heard(P)), "AFTER_SYNC: the engine commit follows the acknowledgements")  # fmt: skip
    system.invariant("visible_was_delivered", (P,), implies(visible(P), conj(P >= 0, P < g.n())),
        "only what was delivered commits")  # fmt: skip
    system.invariant("answered_was_heard", (P,), implies(answered(P), heard(P)),
        "an answer follows the acknowledgements")  # fmt: skip
    system.invariant("heard_is_written", (K, P), implies(conj(heard(P), stays), conj(
        is_other, is_written)), "each member that acknowledged has it in its relay log, unless it "
        "has crashed since")  # fmt: skip
    system.invariant("heard_was_delivered", (P,), implies(heard(P), conj(P >= 0, P < g.n())),
        "acknowledgements are of what was delivered")  # fmt: skip
    system.cover("heard_before_it_is_visible", (P,), conj(heard(P), ~visible(P), ~gone(P)))
    system.cover("visible_before_it_is_heard", (P,), conj(visible(P), ~heard(P), ~gone(P)))
    system.cover(
        "seen_of_a_crashed_member", (K, P), conj(visible(P), heard(P), ~g.in_group(home), stays)
    )
    system.cover("acknowledger_came_back", (K, P), conj(visible(P), heard(P),
        acks(K, by_set(P)), left(K, P), g.in_group(K)))  # fmt: skip
    return system
