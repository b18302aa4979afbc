"""A log in three parts, judged apart and merged, beside the same log judged as a whole.

For one key: a summary says whether its part has a view change or another reset, the floor of the
first toucher before any reset (``head``), the rank of the last toucher after every reset
(``tail``), and whether a breach was found. The newest toucher decides (``linear_audit``), so these
suffice. Numbers are any numbers: no order is assumed.

Source: ``paraply/properties/tables/timestamps.py``, ``ChunkSummary``.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.system import System
from paraply.models.language.terms import (
    BOOL,
    INT,
    Function,
    Term,
    Variable,
    conj,
    disj,
    eq,
    implies,
    ite,
    negate,
)

FLOOR, RANK = Variable("low", INT), Variable("high", INT)
FIELDS = {
    "resets": BOOL, "has_head": BOOL, "head": INT, "has_tail": BOOL, "tail": INT, "found": BOOL,
}  # fmt: skip
WHOLE, PARTS = "whole", ("a", "b", "c")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Each switch off is a fault of merging."""

    name: str = "merged_parts"
    remembers_across: bool = True
    """A part that lacks the key hands on what was before it."""
    resets_end_memory: bool = True
    """Numbers from before a reset are not compared with later ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one part says of the key."""

    resets: Term
    has_head: Term
    head: Term
    has_tail: Term
    tail: Term
    found: Term


def merged(left: Summary, right: Summary, rules: Rules) -> Summary:
    """Return the summary of two neighbours."""
    goes_on = negate(right.resets) if rules.resets_end_memory else conj()
    begins = negate(left.resets) if rules.resets_end_memory else conj()
    hands_on = conj(goes_on, left.has_tail) if rules.remembers_across else negate(conj())
    seam = conj(left.has_tail, right.has_head, right.head < left.tail)
    return Summary(
        resets=disj(left.resets, right.resets),
        has_head=disj(left.has_head, conj(begins, right.has_head)),
        head=ite(left.has_head, left.head, right.head),
        has_tail=disj(right.has_tail, hands_on),
        tail=ite(right.has_tail, right.tail, left.tail),
        found=disj(left.found, right.found, seam),
    )


def same(one: Summary, other: Summary) -> dict[str, Term]:
    """Return that two summaries say the same, by field; a number counts where it is there."""
    return {
        "resets": eq(one.resets, other.resets),
        "has_head": eq(one.has_head, other.has_head),
        "head": implies(one.has_head, eq(one.head, other.head)),
        "has_tail": eq(one.has_tail, other.has_tail),
        "tail": implies(one.has_tail, eq(one.tail, other.tail)),
        "found": eq(one.found, other.found),
    }


def merged_parts(rules: Rules = Rules()) -> System:
    """Return the system that reads one log as a whole and in three parts."""
    system = System(rules.name, "one log read as a whole, and in three parts that are merged")
    fields = {
        one: {name: system.state(f"{name}_{one}", sort) for name, sort in FIELDS.items()}
        for one in (WHOLE, *PARTS)
    }
    said = {one: Summary(**{name: f() for name, f in of.items()}) for one, of in fields.items()}
    part = system.state("part", INT)
    for one in fields:
        summary = said[one]
        system.starts_with(f"nothing_in_{one}", (), conj(~summary.resets, ~summary.has_head,
            ~summary.has_tail, ~summary.found))  # fmt: skip
    system.starts_with("the_first_part", (), eq(part(), 0))

    def touched(one: str) -> dict[Function, Term]:
        here, of = said[one], fields[one]
        return {
            of["found"]: disj(here.found, conj(here.has_tail, FLOOR < here.tail)),
            of["has_head"]: disj(here.has_head, conj(~here.has_tail, ~here.resets)),
            of["head"]: ite(disj(here.has_tail, here.resets), here.head, FLOOR),
            of["has_tail"]: conj(),
            of["tail"]: RANK,
        }

    for number, one in enumerate(PARTS):
        both = touched(one) | touched(WHOLE)
        system.action(
            f"touch_in_{one}", (FLOOR, RANK), guard=eq(part(), number),
            updates={f: lambda value=value: value for f, value in both.items()},
            meaning="a transaction with any numbers touches the key",
        )  # fmt: skip
        system.action(
            f"reset_in_{one}", (), guard=eq(part(), number),
            updates={f: lambda value=name == "resets": value
                     for of in (fields[one], fields[WHOLE])
                     for name, f in of.items() if name in ("resets", "has_tail")},
            meaning="a view change or a new clock: numbers begin anew",
        )  # fmt: skip
    system.action("cut", (), guard=part() <= 1, updates={part: lambda: part() + 1},
        meaning="the log is cut here")  # fmt: skip

    a, b, c = (said[one] for one in PARTS)
    orders = {
        "left": merged(merged(a, b, rules), c, rules),
        "right": merged(a, merged(b, c, rules), rules),
    }
    for name, total in orders.items():
        for field, says in same(total, said[WHOLE]).items():
            meaning = f"merged from the {name}, the parts give `{field}` as one pass does"
            system.safe(f"merging_from_the_{name}_gives_{field}", (), says, meaning)
            system.invariant(f"merging_from_the_{name}_gives_{field}", (), says, meaning)
    for number, one in enumerate(PARTS):
        here = said[one]
        system.invariant(f"{one}_is_empty_before", (), implies(part() < number, conj(
            ~here.resets, ~here.has_head, ~here.has_tail, ~here.found)),
            "what comes later has no part yet")  # fmt: skip
    for one in fields:
        here = said[one]
        system.invariant(f"{one}_has_both_or_none", (), implies(
            ~here.resets, eq(here.has_head, here.has_tail)),
            "without a reset, who is last had a first")  # fmt: skip
    system.invariant("three_parts", (), conj(part() >= 0, part() <= 2), "there are three parts")
    system.cover("found_only_across_a_part_without_the_key", (), conj(said[WHOLE].found,
        ~a.found, ~b.found, ~c.found, ~b.has_head))  # fmt: skip
    system.cover("a_reset_in_the_middle_hides_a_low_floor", (), conj(~said[WHOLE].found,
        b.resets, a.has_tail, c.has_head, c.head < a.tail))  # fmt: skip
    return system
