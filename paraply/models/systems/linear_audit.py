"""The audit's linear pass: of each key it remembers the newest writer and the newest reader.

Positions 0, 1, 2, … are the log. A transaction may overlap an earlier one of its run whose rank is
above its floor (``last_committed``); a run ends where the clock is reset or something is applied
alone. A breach is a pair that conflicts and may overlap. The pass compares each transaction with
the newest of each key; the theorem is about all pairs.

Source: ``paraply/properties/logs/dependency_safety.py``, ``paraply/properties/logs/overlap_rules``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System, Updates
from paraply.models.language.terms import (
    BOOL,
    INT,
    Sort,
    Term,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    ite,
)

KEY = Sort("Key")
K = Variable("k", KEY)
P, Q = Variable("p", INT), Variable("q", INT)
NOBODY = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a fault of the pass, or a log that it must not judge."""

    name: str = "linear_audit"
    remembers_newest: bool = True
    """It remembers the newest of a key, not the first."""
    ranks_rise: bool = True
    """Assumption A20: numbers rise inside a run. The audit checks it itself."""
    runs_follow: bool = True
    """A run does not come back after another one."""
    readers_apart: bool = True
    """Readers have a memory of their own, and do not replace the writer."""


def linear_audit(rules: Rules = Rules()) -> System:
    """Return the system of one pass over a log."""
    system = System(rules.name, "one pass over a log, with the newest writer and reader of a key")
    writes = system.rigid("writes", INT, KEY, BOOL)
    reads = system.rigid("reads", INT, KEY, BOOL)
    run = system.rigid("run", INT, INT)
    rank = system.rigid("rank", INT, INT)
    floor = system.rigid("floor", INT, INT)
    n = system.state("n", INT)
    writer = system.state("writer", KEY, INT)
    reader = system.state("reader", KEY, INT)
    found = system.state("found", BOOL)
    # Ghosts: the pair that was found.
    earlier, later = system.state("earlier", INT), system.state("later", INT)
    key = system.state("key", KEY)

    before = conj(P >= 0, P < Q)
    if rules.ranks_rise:
        system.assume("A20", (P, Q), implies(conj(before, eq(run(P), run(Q))),
            rank(P) < rank(Q)), "numbers rise inside a run")  # fmt: skip
    if rules.runs_follow:
        system.assume("runs_follow", (P, Q), implies(before, run(P) <= run(Q)),
            "no run comes back after another one")  # fmt: skip
    system.starts_with("nothing_read", (), conj(eq(n(), 0), ~found()))
    system.starts_with("nothing_known", (K,), conj(eq(writer(K), NOBODY), eq(reader(K), NOBODY)))

    def overlaps(first: Term, second: Term) -> Term:
        return conj(eq(run(first), run(second)), floor(second) < rank(first))

    def conflict(first: Term, second: Term, k: Term) -> Term:
        return disj(conj(writes(first, k), disj(writes(second, k), reads(second, k))),
                    conj(reads(first, k), writes(second, k)))  # fmt: skip

    def clashes(known: Term) -> Term:
        return conj(known >= 0, overlaps(known, n()))

    touches = disj(writes(n(), K), reads(n(), K))
    by_writer = conj(touches, clashes(writer(K)))
    by_reader = conj(writes(n(), K), clashes(reader(K)))
    if not rules.readers_apart:
        by_writer, by_reader = conj(touches, clashes(writer(K))), conj(~conj())

    def newest(known: Term, is_toucher: Term) -> Term:
        kept = known if rules.remembers_newest else ite(known >= 0, known, n())
        return ite(is_toucher, n() if rules.remembers_newest else kept, known)

    def next_writer(k: Term) -> Term:
        replaces = writes(n(), k) if rules.readers_apart else disj(writes(n(), k), reads(n(), k))
        return newest(writer(k), replaces)

    remembered: Updates = {
        n: lambda: n() + 1,
        writer: next_writer,
        reader: lambda k: newest(reader(k), reads(n(), k)),
    }
    system.action(
        "pass_over", (), guard=forall(K, conj(~by_writer, ~by_reader)), updates=remembered,
        meaning="the next transaction overlaps nobody whom the pass remembers",
    )  # fmt: skip
    system.action(
        "find", (K,), guard=disj(by_writer, by_reader),
        updates={
            **remembered,
            found: lambda: conj(),
            earlier: lambda: ite(by_writer, writer(K), reader(K)),
            later: lambda: n(),
            key: lambda: K,
        },
        meaning="it overlaps the newest writer or reader of a key",
    )  # fmt: skip

    silent = implies(conj(~found(), before, Q < n(), conflict(P, Q, K)), ~overlaps(P, Q))
    is_pair = conj(earlier() >= 0, earlier() < later(), later() < n(),
                   conflict(earlier(), later(), key()), overlaps(earlier(), later()))  # fmt: skip
    system.safe("silence_means_no_pair", (P, Q, K), silent,
        "while nothing is found, no pair so far conflicts and may overlap")  # fmt: skip
    system.safe("a_finding_is_a_pair", (), implies(found(), is_pair),
        "what is found is a pair of the log that conflicts and may overlap")  # fmt: skip
    system.invariant("silence_means_no_pair", (P, Q, K), silent, "it is inductive")
    system.invariant("a_finding_is_a_pair", (), implies(found(), is_pair), "it is inductive")
    for name, known, touched in (("writer", writer, writes), ("reader", reader, reads)):
        system.invariant(f"{name}_is_the_newest", (P, K),
            implies(conj(P >= 0, P < n(), touched(P, K)), P <= known(K)),
            f"no {name} so far is newer than the one remembered")  # fmt: skip
        system.invariant(f"{name}_was_read", (K,), disj(eq(known(K), NOBODY),
            conj(known(K) >= 0, known(K) < n(), touched(known(K), K))),
            f"who is remembered is a {name} of the key")  # fmt: skip
    system.invariant("counts_from_zero", (), n() >= 0, "positions count from 0")
    system.cover("a_breach_is_found", (), found())
    system.cover("a_reset_separates_two_writers", (P, Q, K), conj(before, Q < n(), ~found(),
        writes(P, K), writes(Q, K), floor(Q) < rank(P)))  # fmt: skip
    return system
