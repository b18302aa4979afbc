"""The group refines the applier: one member's relay log is a run of the LOGICAL_CLOCK applier.

A group of ``paraply/models/systems/parallel_group.py`` leads. ``here`` is any member, and ``which``
any time between two of its crashes: this is what the applier of
``paraply/models/systems/applier.py`` follows, in the dialect without logged view changes. Its log
begins at the first remote transaction, which has (0, 0). Recovery, other members, sessions that
are not certified, row locks and messages are steps in which the applier stands still.

Of the numbers that the group model allows, the member takes a dialect's: the least LC, and the
window of a server's collection. Its coordinator gives transactions to workers in the order of the
log. The applier assumes A1; here it is proved.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from paraply.models.language.simulation import (
    Simulation,
    Words,
    given,
    in_turn,
    renamed,
    taken,
)
from paraply.models.language.system import Action, System, Written, argument
from paraply.models.language.terms import (
    INT,
    TRUE,
    Function,
    Term,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    ite,
    negate,
)
from paraply.models.systems import parallel_group
from paraply.models.systems.applier import MYSQL_8_4, parallel_applier
from paraply.models.systems.group import MEMBER, ROW, M, P, Q, R

LC, K, WINDOW = Variable("new_lc", INT), Variable("k", INT), Variable("window", INT)
WITNESS = Variable("witness", ROW)
PREFIX = "applier_"

WHY_GROUP = (
    "snapshots_have_applied_writers", "snapshots_have_reported_writers",
    "snapshots_have_writers_reported_before", "reports_rise", "reports_are_in_flight",
    "numbers_were_given", "numbers_differ_from_reports", "arrivals_were_sent",
    "what_was_purged_is_stable", "members_are_in_the_order", "snapshots_are_prefixes",
    "places_are_positions", "versions_are_earlier", "versions_are_certified_writers",
    "no_later_writer_is_missed", "positions_are_of_delivered", "stable_is_delivered",
    "received_is_in_the_order", "counters", "last_committed_is_below", "first_is_marked",
    "started_was_received", "snapshots_were_applied", "what_is_written_is_current",
    "positions_are_places", "rows_of_a_session_are_its_own", "sessions_lock_apart",
)  # fmt: skip
"""From the proofs of P49 and P53."""

WHY_ANY_ORDER = (
    "positions_are_natural", "received_are_positions", "writers_of_a_row_commit_in_order",
    "earlier_writers_have_committed", "row_lock_is_a_workers", "conflicting_rows_are_ordered",
    "numbers_lie_below_the_counter", "item_is_covered", "row_dependency_is_stamped",
    "start_respects_last_committed", "recovery_is_before_the_first",
    "snapshots_keep_the_order_of_writers", "fence_is_covered", "fence_is_stamped",
)  # fmt: skip
"""Further ones without commit order, from the proofs of P53 and P55."""

WHY_APPLIER = (
    "counters", "numbers_lie_below_the_counter", "last_committed_is_below",
    "last_committed_is_minimal", "item_names_its_writer", "item_is_covered", "fence_is_covered",
    "row_dependency_is_stamped", "fence_is_stamped", "start_respects_last_committed",
    "view_change_waited", "view_change_is_waited_for", "finished_was_started",
    "started_was_delivered", "epoch_begins_with_a_view_change", "old_epoch_lies_before_the_base",
    "base_is_a_view_change",
)  # fmt: skip
"""From the proofs of P01 to P04 and P21."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The switches of the group, and of the map."""

    group: parallel_group.Rules = field(default_factory=parallel_group.Rules)
    sessions_are_apart: bool = True
    """Off, the map takes a session's engine commit for a worker's: a fault."""
    chooses_as_servers: bool = True
    """Off, LC may be any that suffices, and workers start in any order that LC allows, as in P53:
    more than an applier does."""


class Joint(Simulation):
    """Both models: ``x``, its group ``g``, and the applier ``a``."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.x = x = parallel_group.Layer(rules.group)
        parallel_group.fill(x)
        self.g, self.whole = x.g, x.system
        self.applier = renamed(parallel_applier(MYSQL_8_4), PREFIX, ("purged",))
        self.a = Words(self.applier, PREFIX)
        super().__init__(
            "group_in_parallel_applier", "what a group does, and the applier of one member with it",
            self.whole, self.applier,
        )  # fmt: skip
        system = self.system
        self.here = system.rigid("here", MEMBER)()
        self.which = system.rigid("which", INT)()
        self.crashes = system.state("crashes", INT)
        self.logged_at = system.state("logged_at", INT, INT)
        self.rank = system.state("rank", INT, INT)
        system.starts_with("no_crash", (), eq(self.crashes(), 0))
        self.next = x.received(self.here)

    @property
    def follows(self) -> Term:
        """Return that the applier follows ``here`` between these two crashes."""
        return eq(self.crashes(), self.which)

    @property
    def runs(self) -> Term:
        """Return that the applier has a log, or that it needs no first transaction."""
        begun = self.x.first(self.here) < self.next
        return conj(self.follows, self.g.in_group(self.here), begun)

    def is_here(self, m: Term) -> Term:
        """Return that a step of ``m`` is one of the applier that has a log."""
        return conj(eq(m, self.here), self.runs)

    def in_log(self, p: Term) -> Term:
        """Return that the applier's log contains ``p``."""
        return conj(self.runs, p >= 0, p < self.a.n())

    def in_stream(self, k: Term) -> Term:
        """Return that ``k`` comes after recovery."""
        return self.x.first(self.here) <= k

    def same_received(self, marked: Term) -> Term:
        """Return that both receive the same transaction."""
        log, txn = self.a.n(), self.g.txn_at(self.next)
        return conj(
            eq(self.a.vc(log), marked),
            eq(self.a.empty(log), self.x.empty(txn)),
            forall(R, eq(self.a.ws(log, R), self.g.ws(txn, R))),
        )

    def received(self) -> Written:
        """Return the update of the map when both receive."""

        def longer(function: Function, at: Term, to: Term) -> Written:
            asked = argument(function, 0)
            return {function: ((asked,), ite(eq(asked, at), to, function(asked)))}

        log = self.a.n()
        return {**longer(self.logged_at, log, self.next), **longer(self.rank, self.next, log)}


def group_in_parallel_applier(rules: Rules = Rules()) -> System:
    """Return the joint system; the group leads."""
    joint = Joint(rules)
    _steps(joint)
    joint.claim()
    _statements(joint)
    _invariants(joint)
    return joint.system


def _steps(j: Joint) -> None:
    x, g, a, here = j.x, j.g, j.a, j.here
    is_first = eq(j.next, x.first(here))
    least = disj(
        eq(LC, x.lc_global(here)),
        conj(g.writes(j.next, WITNESS), x.known(here, WITNESS), eq(x.item_sn(here, WITNESS), LC)),
    )
    first = given(
        taken(j.applier, "certify_first", x.next_sn(here), x.lc_global(here)),
        a.imported, lambda r: x.known(here, r),
    )  # fmt: skip
    j.step(
        "receive_first", (LC,), taken(j.whole, "receive", here, LC), first,
        agreed=conj(j.follows, is_first, j.same_received(TRUE)), remembered=j.received(),
        meaning="the first remote transaction after a start, with (0, 0)",
    )  # fmt: skip
    j.step(
        "receive", (LC, WITNESS), taken(j.whole, "receive", here, LC),
        taken(j.applier, "certify", LC, WITNESS),
        agreed=conj(j.follows, negate(is_first), j.same_received(negate(TRUE)),
                    disj(x.is_empty(j.next), least) if j.rules.chooses_as_servers else TRUE),
        remembered=j.received(), meaning="a remote transaction gets the least LC",
    )  # fmt: skip
    j.step(
        "receive_elsewhere", (M, LC), taken(j.whole, "receive", M, LC),
        agreed=negate(conj(eq(M, here), j.follows)),
        meaning="what another member numbers, or this one at another time",
    )  # fmt: skip
    own = conj(j.runs, g.certified(g.txn_at(j.next)))
    session = given(
        taken(j.applier, "certify_local"), a.local_ws, lambda r: g.ws(g.txn_at(j.next), r)
    )  # fmt: skip
    j.step("pass_over_session", (), taken(j.whole, "pass_over", here), session, agreed=own,
        meaning="an own transaction, whose items have no number")  # fmt: skip
    j.step("pass_over", (M,), taken(j.whole, "pass_over", M),
        agreed=negate(conj(eq(M, here), own)),
        meaning="a refused one, an own one of another member, or one before the first remote "
        "one")  # fmt: skip
    for kind in ("last", "burn"):
        alone = parallel_applier(replace(MYSQL_8_4, window=kind))
        burns = [taken(j.whole, "leave_out_number", here)] if kind == "burn" else []
        collects = taken(j.whole, "collect_at", here, x.next_sn(here) - 1)
        j.step(
            f"collect_at_{kind}", (), in_turn(*burns, collects),
            taken(renamed(alone, PREFIX, ("purged",)), "collect_garbage"), agreed=j.runs,
            meaning="the member purges stable items, and opens the window of a dialect",
        )  # fmt: skip
    j.step("collect_at", (M, WINDOW), taken(j.whole, "collect_at", M, WINDOW),
        agreed=negate(j.is_here(M)),
        meaning="a collection elsewhere, or before the first remote transaction")  # fmt: skip
    j.step("leave_out_number", (M,), taken(j.whole, "leave_out_number", M),
        agreed=negate(j.is_here(M)), meaning="and so an unused number")  # fmt: skip
    mine = conj(j.in_stream(P), P < Q, x.waits(here, P))
    at_work = conj(eq(M, here), j.runs, j.in_stream(Q))
    j.step(
        "start", (Q,), taken(j.whole, "start", here, Q), taken(j.applier, "start", j.rank(Q)),
        agreed=conj(j.runs, j.in_stream(Q), forall(P, implies(mine, x.started(here, P)))
                    if j.rules.chooses_as_servers else TRUE),
        meaning="the coordinator gives it to a worker, in the order of the log",
    )  # fmt: skip
    j.step("start_elsewhere", (M, Q), taken(j.whole, "start", M, Q), agreed=negate(at_work),
        meaning="a start at another member, or in recovery")  # fmt: skip
    commit = g.commit()
    is_work = x.is_remote(here, commit.here)
    if not j.rules.sessions_are_apart:
        is_work = g.certified(g.txn_at(commit.here))
    finishes = conj(eq(M, here), j.runs, is_work, j.in_stream(commit.here))
    applies = taken(j.whole, "apply", M, *commit.chosen)
    j.step("finish", (M, *commit.chosen), applies,
        taken(j.applier, "finish", j.rank(commit.here)), agreed=finishes,
        meaning="a worker's engine commit")  # fmt: skip
    j.step("apply", (M, *commit.chosen), applies, agreed=negate(finishes),
        meaning="a session's engine commit, or one of another member or of recovery")  # fmt: skip
    crash: Action = taken(j.whole, "crash", M)
    j.step("crash", (M,), crash, meaning=crash.meaning, remembered={
        j.crashes: ((), ite(eq(M, here), j.crashes() + 1, j.crashes()))})  # fmt: skip
    matched = {"receive", "collect_at", "pass_over", "leave_out_number", "start", "apply", "crash"}
    for action in j.whole.actions:
        if action.name not in matched:
            j.step(action.name, action.parameters, action, meaning=action.meaning)


def _statements(j: Joint) -> None:
    system, x, g, a, here = j.system, j.x, j.g, j.a, j.here
    p, q = j.logged_at(P), j.logged_at(Q)
    both = conj(j.in_log(P), j.in_log(Q), p < q, x.started(here, q))
    committed = negate(g.lacks(here, p))
    system.safe("conflicting_rows_are_ordered", (P, Q, R),
        implies(conj(both, g.writes(p, R), g.writes(q, R)), committed),
        "a member starts no transaction before every earlier writer of its rows has "
        "committed")  # fmt: skip
    system.safe("without_write_set_is_alone", (P, Q),
        implies(conj(both, disj(x.is_empty(p), x.is_empty(q))), committed),
        "a transaction without write set runs beside no other worker")  # fmt: skip
    is_first = [eq(at, x.first(here)) for at in (p, q)]
    system.safe("first_is_a_barrier", (P, Q), implies(conj(both, disj(*is_first)), committed),
        "the transaction with (0, 0) runs beside nothing")  # fmt: skip
    numbered = conj(j.in_log(P), negate(is_first[0]))
    lc, sn = x.lc(here, p), x.sn(here, p)
    system.safe("last_committed_is_below", (P,), implies(numbered, conj(lc >= 1, lc < sn)),
        "LC < SN, so that no transaction waits for itself")  # fmt: skip
    parent, row = j.logged_at(a.parent(P)), a.shared(P)
    bears = disj(eq(x.sn(here, parent), lc), eq(parent, x.first(here)))
    system.safe("last_committed_is_minimal", (P,), implies(conj(numbered, ~x.is_empty(p)), disj(
        eq(lc, a.window(P)),
        conj(parent < p, g.writes(parent, row), g.writes(p, row), bears))),
        "LC is the window, or the number of an earlier writer of a common row")  # fmt: skip


def _invariants(j: Joint) -> None:
    system, x, g, a, here = j.system, j.x, j.g, j.a, j.here
    invariant, p, q = system.invariant, j.logged_at(P), j.logged_at(Q)
    logged = j.in_log(P)
    idle = conj(negate(j.runs), j.crashes() <= j.which)
    invariant("applier_has_not_begun", (), implies(idle, conj(eq(a.n(), 0), eq(a.base(), 0))),
        "until the first remote transaction, the applier is as in the beginning")  # fmt: skip
    invariant("applier_stands_still", (P,), implies(idle, conj(~a.started(P), ~a.committed(P))),
        "and nothing has started")  # fmt: skip
    invariant("items_have_no_number_before_the_first", (M, R), implies(
        conj(x.received(M) <= x.first(M), x.known(M, R)), eq(x.item_sn(M, R), 0)),
        "before the first remote transaction, no item has a number")  # fmt: skip
    invariant("log_is_received", (P,), implies(logged, conj(
        p >= 0, j.in_stream(p), p < j.next, eq(j.rank(p), P))),
        "what is in the applier's log was received")  # fmt: skip
    invariant("log_is_remote", (P,), implies(logged, x.is_remote(here, p)),
        "it was certified, and is no session's")  # fmt: skip
    invariant("log_is_in_order", (P, Q), implies(conj(logged, j.in_log(Q), P < Q), p < q),
        "it is in the order of the group")  # fmt: skip
    invariant("what_waits_is_logged", (K,), implies(
        conj(j.runs, x.waits(here, K), j.in_stream(K)),
        conj(j.in_log(j.rank(K)), eq(j.logged_at(j.rank(K)), K))),
        "what waits for a worker is in the applier's log")  # fmt: skip
    invariant("transactions_agree", (P,), implies(logged, conj(
        eq(a.vc(P), eq(p, x.first(here))), eq(a.empty(P), x.is_empty(p)))),
        "both models are told the same transaction")  # fmt: skip
    invariant("write_sets_agree", (P, R), implies(logged, eq(a.ws(P, R), g.writes(p, R))),
        "and the same rows")  # fmt: skip
    invariant("timestamps_agree", (P,), implies(logged, conj(
        eq(a.sn(P), x.sn(here, p)), eq(a.lc(P), x.lc(here, p)))),
        "it has the same LC and SN in both")  # fmt: skip
    invariant("progress_agrees", (P,), implies(logged, conj(
        eq(a.started(P), x.started(here, p)), eq(a.committed(P), negate(g.lacks(here, p))))),
        "it has started in both or in none, and so it has committed")  # fmt: skip
    invariant("counters_agree", (), implies(j.runs, conj(eq(a.next_sn(), x.next_sn(here)),
        eq(a.lc_global(), x.lc_global(here)))),
        "the next number and the window are the same")  # fmt: skip
    invariant("items_agree", (R,), implies(j.runs, conj(eq(a.has(R), x.known(here, R)),
        disj(~a.has(R), eq(a.item_sn(R), x.item_sn(here, R))))),
        "and so is the certification info")  # fmt: skip
    j.keep(j.whole, WHY_GROUP)
    if not j.rules.group.commits_in_order:
        j.keep(j.whole, WHY_ANY_ORDER)
    j.keep(j.applier, [PREFIX + name for name in WHY_APPLIER])
    behind = conj(K < x.first(here), x.waits(here, K))
    system.cover("waits_behind_recovery", (P, K), conj(logged, behind))
    system.cover("followed_after_a_crash", (P,), conj(logged, a.started(P), j.which > 0))
