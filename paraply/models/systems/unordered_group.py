"""A group whose members commit in any order: what they have committed has gaps.

Snapshots, reports and the stable set are sets of positions in place of prefixes. That writers of
one row still commit in the order of the group is for the layer above to show
(``paraply/models/systems/parallel_group.py``).

Source: MySQL bug 89195; ``replica_preserve_commit_order=OFF``; Gtid_set of snapshots and items.
"""

from __future__ import annotations

from paraply.models.language.terms import (
    BOOL,
    INT,
    TRUE,
    Function,
    Sort,
    Term,
    Variable,
    conj,
    disj,
    eq,
    forall,
    implies,
    negate,
)
from paraply.models.systems.group import NOBODY, Commit, Group, M, P, Q, R, T


class UnorderedGroup(Group):
    """The group's functions, with sets of positions."""

    each: tuple[Variable, ...] = (P,)
    refused: str = "a row has an item"

    def positions(self, name: str, *sorts: Sort) -> Function:
        """Declare a set of positions."""
        return self.system.state(name, *sorts, INT, BOOL)

    def none(self, positions: Function, *of: Term) -> Term:
        """Return that ``positions`` has none."""
        return forall(P, negate(positions(*of, P)))

    def natural(self, positions: Function, *of: Term) -> Term:
        """Return that ``positions`` begins at 0."""
        return implies(positions(*of, P), P >= 0)

    def below(self, bound: Term, positions: Function, *of: Term) -> Term:
        """Return that ``positions`` ends before ``bound``."""
        return implies(positions(*of, P), P < bound)

    def within(self, inner: Term, outer: Term) -> Term:
        """Return that ``outer`` has what ``inner`` has."""
        return implies(inner, outer)

    def lacks(self, m: Term, p: Term) -> Term:
        """Return that ``m`` has not committed ``p``."""
        return conj(p >= 0, negate(self.upto(m, p)))

    def contains(self, p: Term, positions: Function, *of: Term) -> Term:
        """Return that ``positions`` has ``p``, or that it is nobody."""
        return disj(p < 0, positions(*of, p))

    def unseen(self, t: Term, p: Term) -> Term:
        """Return that ``p`` is not in the snapshot of ``t``."""
        return negate(self.sees(t, p))

    def is_refused(self, t: Term, r: Term) -> Term:
        """Return that ``t`` may be refused: an item names its writer's snapshot, gaps and all."""
        return TRUE

    def settle(self) -> None:
        """Add the step to a larger stable set."""
        reported = forall(M, implies(self.in_group(M), self.reported(M, Q)))
        self.system.action(
            "settle", (Q,), guard=conj(Q >= 0, Q < self.n(), reported),
            updates={self.stable: lambda p: disj(self.stable(p), eq(p, Q))},
            meaning="what all members have reported is stable",
        )  # fmt: skip

    def commit(self) -> Commit:
        """Return what a member may commit."""
        return Commit("a position", (Q,), Q, conj(self.lacks(M, Q), Q < self.n()), {
            self.upto: lambda m, p: disj(self.upto(m, p), conj(eq(m, M), eq(p, Q)))})  # fmt: skip

    def state_what_is_shown(self) -> None:
        """State what members and snapshots show."""
        system, value, saw = self.system, self.value(M, R), self.saw(T, R)
        meet = conj(P >= 0, P < Q, self.writes(P, R), self.writes(Q, R))
        in_order = implies(conj(meet, self.upto(M, Q)), self.upto(M, P))
        is_last = implies(conj(self.upto(M, P), self.writes(P, R)), P <= value)
        all_of_row = forall(P, implies(conj(P >= 0, P < self.n(), self.writes(P, R)),
                                       self.upto(M, P)))  # fmt: skip
        system.safe("writers_of_a_row_commit_in_order", (M, P, Q, R), in_order,
            "a member commits a writer of a row after all earlier ones")  # fmt: skip
        system.safe("members_show_the_last_committed_writer", (M, P, R), is_last,
            "no commit takes a row back to an earlier version")  # fmt: skip
        system.safe("members_agree_in_the_end", (M, R), implies(all_of_row, eq(value,
            self.version(self.n(), R))), "a member that has committed all writers of a row shows "
            "the certified version, as each other one does")  # fmt: skip
        system.invariant("positions_are_natural", (), self.n() >= 0, "the order begins at 0")
        system.invariant("writers_of_a_row_commit_in_order", (M, P, Q, R), in_order,
            "it is inductive")  # fmt: skip
        system.invariant("members_show_the_last_committed_writer", (M, P, R), is_last,
            "it is inductive")  # fmt: skip
        system.invariant("members_show_committed_writers", (M, R), disj(eq(value, NOBODY),
            conj(self.upto(M, value), self.writes(value, R))),
            "what is stored was committed")  # fmt: skip
        read = conj(self.begun(T), self.ws(T, R))
        system.invariant("reads_are_of_the_snapshot", (T, R), implies(read, disj(
            eq(saw, NOBODY), conj(self.snap(T, saw), self.writes(saw, R)))),
            "what a session read is in its snapshot")  # fmt: skip
        system.invariant("reads_are_the_last_of_the_snapshot", (T, P, R), implies(
            conj(read, self.snap(T, P), self.writes(P, R)), P <= saw),
            "and nothing later is")  # fmt: skip
        system.invariant("snapshots_keep_the_order_of_writers", (T, P, Q, R), implies(
            conj(self.begun(T), meet, self.snap(T, Q)), self.snap(T, P)),
            "a snapshot with a writer has all earlier ones")  # fmt: skip
        system.cover("committed_with_a_gap", (M, P, Q), conj(self.in_group(M), P < Q,
            self.lacks(M, P), self.upto(M, Q)))  # fmt: skip
