"""Acknowledgements of several replicas, replica crashes, and promotion.

The source makes a group visible after an *acknowledging set* has it (any N replicas, for
``rpl_semi_sync_source_wait_for_replica_count`` N). After its loss, the most advanced replica of an
*electing set* is promoted. Each acknowledging set must meet each electing set.

Source: ``AckContainer`` of MySQL, bug 109829; MariaDB's MDEV-4698 (relay logs discarded).
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    INT,
    TRUE,
    Sort,
    Term,
    Variable,
    conj,
    disj,
    eq,
    exists,
    forall,
    implies,
    ite,
)

REPLICA, ACKERS, VOTERS = Sort("Replica"), Sort("Ackers"), Sort("Voters")
G = Variable("g", INT)
K, L = Variable("k", REPLICA), Variable("l", REPLICA)
A, V = Variable("a", ACKERS), Variable("v", VOTERS)
CUT = Variable("cut", INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a configuration or fault."""

    name: str = "quorum"
    sets_meet: bool = True
    """Assumption A10: acknowledging and electing sets intersect."""
    all_of_the_set: bool = True
    """Every replica of the set has acknowledged."""
    keeps_relay_log: bool = True
    """A crashed replica keeps its relay log."""
    promotes_the_highest: bool = True
    """The electing set's most advanced replica is promoted."""
    source_is_synced: bool = True
    """``sync_binlog=1`` at the source; off, a restart loses the end of its binary log."""


def quorum(rules: Rules = Rules()) -> System:
    """Return a source and any number of replicas."""
    system = System(rules.name, "acknowledging sets, replicas that crash, a promotion")
    acks = system.rigid("acks", REPLICA, ACKERS, BOOL)
    votes = system.rigid("votes", REPLICA, VOTERS, BOOL)
    meet = system.rigid("meet", ACKERS, VOTERS, REPLICA)
    system.assume("sets_are_not_empty", (A, V), acks(meet(A, V), A),
        "somebody has to acknowledge")  # fmt: skip
    if rules.sets_meet:
        system.assume("A10", (A, V), votes(meet(A, V), V),
            "each acknowledging set has a replica in common with each electing set")  # fmt: skip
    n = system.state("n", INT)
    received = system.state("received", REPLICA, INT)
    applied = system.state("applied", REPLICA, INT)
    known = system.state("known", REPLICA, INT)
    visible = system.state("visible", INT)
    seen = system.state("seen", INT, BOOL)
    lost = system.state("lost", BOOL)
    promoted = system.state("promoted", REPLICA, BOOL)
    # Ghosts: the set that made the last group visible, and its common replica with the electing
    # set.
    by_set = system.state("by_set", ACKERS)
    common = system.state("common", REPLICA, REPLICA)

    system.starts_with("nothing_logged", (), conj(eq(n(), 0), eq(visible(), 0), ~lost()))
    system.starts_with("nothing_received", (K,), conj(eq(received(K), 0), eq(applied(K), 0),
        eq(known(K), 0), ~promoted(K)))  # fmt: skip
    system.starts_with("nothing_seen", (G,), ~seen(G))
    writes: Updates = {n: lambda: n() + 1}
    receives: Updates = {received: lambda k: ite(eq(k, K), received(k) + 1, received(k))}
    restarts: Updates = {known: lambda k: 0}
    cut: tuple[Variable, ...] = ()
    may_restart = ~lost()
    same_group: Term = TRUE
    if not rules.source_is_synced:
        # Numbers are given again, so contents are compared: when a group was written.
        era = system.state("era", INT)
        at_source = system.state("at_source", INT, INT)
        at_replica = system.state("at_replica", REPLICA, INT, INT)
        system.starts_with("first_era", (), eq(era(), 0))
        writes[at_source] = lambda g: ite(eq(g, n()), era(), at_source(g))
        receives[at_replica] = lambda k, g: ite(
            conj(eq(k, K), eq(g, received(k))), at_source(g), at_replica(k, g))  # fmt: skip
        cut, may_restart = (CUT,), conj(~lost(), visible() <= CUT, CUT <= n())
        restarts |= {n: lambda: CUT, era: lambda: era() + 1}
        same_group = eq(at_replica(K, G), at_source(G))
    system.action("write", (), guard=~lost(), updates=writes,
        meaning="the next group is durable in the source's binary log")  # fmt: skip
    system.action(
        "receive", (K,), guard=conj(~lost(), received(K) < n()), updates=receives,
        meaning="a replica writes the next group to its relay log",
    )  # fmt: skip
    system.action(
        "acknowledge", (K,), guard=~lost(),
        updates={known: lambda k: ite(eq(k, K), received(k), known(k))},
        meaning="the source learns how far the replica is",
    )  # fmt: skip
    system.action(
        "apply", (K,), guard=applied(K) < received(K),
        updates={applied: lambda k: ite(eq(k, K), applied(k) + 1, applied(k))},
        meaning="a replica commits the next group",
    )  # fmt: skip
    everyone = forall(K, implies(acks(K, A), known(K) > visible()))
    someone = exists(K, conj(acks(K, A), known(K) > visible()))
    system.action(
        "make_visible", (A,),
        guard=conj(~lost(), visible() < n(), everyone if rules.all_of_the_set else someone),
        updates={visible: lambda: visible() + 1, by_set: lambda: A},
        meaning="a whole set has acknowledged the next group: its engine commit",
    )  # fmt: skip
    system.action(
        "read", (G,), guard=conj(~lost(), G >= 0, G < visible()),
        updates={seen: lambda g: disj(seen(g), eq(g, G))}, meaning="a client sees a group",
    )  # fmt: skip
    system.action(
        "crash_replica", (K,), guard=~promoted(K),
        updates={} if rules.keeps_relay_log else {
            received: lambda k: ite(eq(k, K), applied(k), received(k))},
        meaning="a replica restarts, with its relay log",
    )  # fmt: skip
    system.action(
        "restart_source", cut, guard=may_restart, updates=restarts,
        meaning="the source restarts and has to be told again; recovered groups wait",
    )  # fmt: skip
    system.action("lose_source", (), updates={lost: lambda: True},
        meaning="the source is gone for good")  # fmt: skip
    highest = forall(L, implies(votes(L, V), received(L) <= received(K)))
    system.action(
        "promote", (K, V),
        guard=conj(lost(), votes(K, V), highest if rules.promotes_the_highest else votes(K, V)),
        updates={
            promoted: lambda k: disj(promoted(k), eq(k, K)),
            common: lambda k: ite(eq(k, K), meet(by_set(), V), common(k)),
        },
        meaning="of an electing set, the replica that has most becomes the source",
    )  # fmt: skip

    system.safe("what_was_seen_survives", (G, K), implies(conj(seen(G), promoted(K)),
        G < received(K)), "whatever a client saw is on the replica that is promoted")  # fmt: skip
    held = conj(G < received(K), disj(G < 0, same_group))
    at_the_set = implies(conj(G < visible(), acks(K, by_set())), held)
    system.safe("visible_is_at_a_whole_set", (G, K), at_the_set,
        "whatever is visible is on every replica of an acknowledging set")  # fmt: skip
    system.invariant("visible_is_at_a_whole_set", (K,), implies(conj(visible() > 0,
        acks(K, by_set())), visible() <= received(K)),
        "the set that let the last group pass has all before it, too")  # fmt: skip
    system.invariant("seen_was_visible", (G,), implies(seen(G), conj(G >= 0, G < visible())),
        "clients see what is visible")  # fmt: skip
    system.invariant("known_was_received", (K,), conj(known(K) >= 0, known(K) <= received(K)),
        "a replica keeps what it has acknowledged")  # fmt: skip
    system.invariant("applied_was_received", (K,), conj(applied(K) >= 0,
        applied(K) <= received(K)), "a replica applies what it received")  # fmt: skip
    system.invariant("received_was_logged", (K,), received(K) <= n(), "no replica is ahead")
    system.invariant("promoted_has_all_visible", (K,), implies(promoted(K), conj(lost(),
        visible() <= received(common(K)), received(common(K)) <= received(K))),
        "the two sets meet in a replica that has all")  # fmt: skip
    system.invariant("counters", (), conj(visible() >= 0, visible() <= n()),
        "what is visible was written")  # fmt: skip
    system.cover("seen_then_promoted", (G, K), conj(seen(G), promoted(K)))
    system.cover("replicas_differ", (K, L), conj(received(K) > received(L), visible() > 0,
        received(L) < visible()))  # fmt: skip
    return system
