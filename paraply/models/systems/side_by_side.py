"""The applier's model and the end-to-end model side by side.

The applier's positions are the relay log, the member's the order of delivery with local
transactions. ``place`` maps relay log to delivery positions, ``rank`` back. Both models agree on
each transaction and the certifier.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from paraply.models.language.simulation import (
    Simulation,
    Words,
    given,
    in_turn,
    renamed,
    taken,
)
from paraply.models.language.system import Action, Written, argument
from paraply.models.language.terms import (
    INT,
    Function,
    Term,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    ite,
)
from paraply.models.systems import end_to_end
from paraply.models.systems.applier import Dialect, parallel_applier
from paraply.models.systems.end_to_end import ROW

P, K, L = Variable("p", INT), Variable("k", INT), Variable("l", INT)
R = Variable("r", ROW)
WINDOW = Variable("window", INT)
PREFIX = "applier_"
CHOSEN = ("purged", "imported")
"""Joint choices: purged rows and a donor's rows."""


class SideBySide(Simulation):
    """Both models: ``a``, ``m``, and the applier ``alone``."""

    def __init__(
        self, name: str, meaning: str, dialect: Dialect, rules: end_to_end.Rules, *, leads: str
    ) -> None:
        """Combine the models; ``leads`` (``applier`` or ``member``) supplies the guards."""
        self.dialect = dialect
        self.alone = parallel_applier(dialect)
        self.applier = renamed(self.alone, PREFIX, CHOSEN)
        self.member = end_to_end.end_to_end(rules)
        both = (self.applier, self.member)
        super().__init__(name, meaning, *(both if leads == "applier" else reversed(both)))
        self.a, self.m = Words(self.applier, PREFIX), Words(self.member)
        self.place = self.system.state("place", INT, INT)
        self.rank = self.system.state("rank", INT, INT)

    def in_log(self, p: Term) -> Term:
        """Return that the relay log contains ``p``."""
        return conj(p >= 0, p < self.a.n())

    def from_elsewhere(self, k: Term) -> Term:
        """Return that ``k`` is delivered and remote."""
        return conj(k >= 0, k < self.m.n(), ~self.m.local(k))

    def same_delivered(self) -> Term:
        """Return that both deliver the same transaction."""
        log, here = self.a.n(), self.m.n()
        return conj(
            ~self.m.local(here),
            eq(self.a.vc(log), self.m.vc(here)),
            eq(self.a.empty(log), self.m.empty(here)),
            forall(R, eq(self.a.ws(log, R), self.m.ws(here, R))),
        )

    def delivered(self) -> Written:
        """Return the update for a remote delivery."""
        log, here = self.a.n(), self.m.n()

        def longer(function: Function, at: Term, to: Term) -> Written:
            given = argument(function, 0)
            return {function: ((given,), ite(eq(given, at), to, function(given)))}

        return {**longer(self.place, log, here), **longer(self.rank, here, log)}

    def session(self) -> Action:
        """Return the applier's step of a local transaction."""
        certified = taken(self.applier, "certify_local")
        return given(certified, self.a.local_ws, lambda r: self.m.ws(self.m.n(), r))

    def collections(self) -> Iterator[tuple[str, Action, Action, Term]]:
        """Yield, per server window: a name, both collections, the window.

        The member's collection opens ``WINDOW`` and skips a number like the applier's.
        """
        for kind in ("last", "burn"):
            alone = parallel_applier(replace(self.dialect, window=kind))
            words, collect = Words(alone), taken(alone, "collect_garbage")
            left_out = ("leave_out_number",) if words.next_sn in collect.updates else ()
            yield (
                f"collect_garbage_{kind}",
                taken(renamed(alone, PREFIX, CHOSEN), "collect_garbage"),
                in_turn(*(taken(self.member, name) for name in left_out),
                        taken(self.member, "collect_garbage", WINDOW)),
                collect.post(words.lc_global()),
            )  # fmt: skip

    def couple(self) -> None:
        """Add the invariants that couple both states."""
        a, m, place, rank = self.a, self.m, self.place, self.rank
        invariant = self.system.invariant
        came = self.from_elsewhere(K)
        invariant("place_is_delivered", (P,), implies(self.in_log(P), conj(
            self.from_elsewhere(place(P)), eq(rank(place(P)), P))),
            "what is in the relay log has one place in the order of delivery")  # fmt: skip
        invariant("rank_is_logged", (K,), implies(came, conj(self.in_log(rank(K)),
            eq(place(rank(K)), K))), "what came from elsewhere is in the relay log")  # fmt: skip
        invariant("rank_rises", (K, L), implies(conj(came, self.from_elsewhere(L), K < L),
            rank(K) < rank(L)), "in the order in which it was delivered")  # fmt: skip
        invariant("transactions_agree", (K,), implies(came, conj(
            eq(a.vc(rank(K)), m.vc(K)), eq(a.empty(rank(K)), m.empty(K)))),
            "both models are told the same transaction")  # fmt: skip
        invariant("write_sets_agree", (K, R), implies(came, eq(a.ws(rank(K), R), m.ws(K, R))),
            "and the same rows")  # fmt: skip
        invariant("timestamps_agree", (K,), implies(conj(came, ~m.vc(K)), conj(
            eq(a.sn(rank(K)), m.sn(K)), eq(a.lc(rank(K)), m.lc(K)))),
            "it has the same LC and SN in both")  # fmt: skip
        invariant("progress_agrees", (K,), implies(came, conj(
            eq(a.started(rank(K)), m.started(K)), eq(a.committed(rank(K)), m.committed(K)))),
            "it has started in both or in none, and so it has committed")  # fmt: skip
        invariant("counters_agree", (), conj(eq(a.next_sn(), m.next_sn()),
            eq(a.lc_global(), m.lc_global()), a.n() <= m.n()),
            "the next number and the window are the same")  # fmt: skip
        invariant("items_agree", (R,), conj(eq(a.has(R), m.has(R)), disj(~m.has(R),
            eq(a.item_sn(R), m.item_sn(R)))), "and so is the certification info")  # fmt: skip
        works = conj(self.in_log(P), a.started(P), eq(m.row_lock(R), place(P)))
        self.system.cover("work_after_a_session", (P, R), conj(works, P < place(P)))
        self.system.cover("work_after_joining", (P, R), conj(works, a.base() < P, a.base() > 0))
