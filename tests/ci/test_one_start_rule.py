"""The start rule of LOGICAL_CLOCK stands once per layer: no other module restates it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

LAST_COMMITTED = frozenset(
    {"last_committed", "lc", "LC", "new_lc", "L_LC", "W_LC", "parent", "floor", "P_FLOOR"}
)
SEQUENCE_NUMBER = frozenset(
    {"sequence_number", "sn", "SN", "L_SN", "W_SN", "J_SN", "number", "rank", "P_RANK", "R_RANK"}
)
MARK = frozenset({"mark", "low_water_mark"})

HOMES = {
    "paraply/vocabulary/timestamps.py": "the words that adapters, reports and the reference share",
    "paraply/reference_impl/applier/coordinator.py": "the reference, with its low-water mark",
    "paraply/properties/start_rule.py": "the judges",
    "paraply/models/systems/logical_clock.py": "the models",
    "paraply/models/systems/low_water_mark.py": "the model of the mark, proved equal to the rule",
    "paraply/models/systems/linear_audit.py": "the model of the audit's algorithm, in ranks",
    "paraply/properties/logs/compiled/": "compiled twins of the audit's judges",
    "paraply/properties/tables/compiled/": "compiled twins of the judges of tables",
    "paraply/mining/compiled/": "compiled twins of the reference and of the judges of runs",
}
"""Modules, or folders, that state the rule."""

UNDER_TEST = (
    "paraply/adapters/conformance/rules/",
    "paraply/adapters/conformance/samples/",
    "paraply/adapters/wire/samples/",
)
"""Appliers under test: their rules are the accused."""


def _parts(node: ast.expr) -> tuple[str, str]:
    """Return the last name of an expression, and what it belongs to."""
    match node:
        case ast.Name(id=name):
            return name, ""
        case ast.Attribute(value=owner, attr=name):
            return name, ast.dump(owner)
        case ast.Call(func=function, args=arguments):
            return _parts(function)[0], "".join(map(ast.dump, arguments))
        case ast.Subscript(value=owner, slice=ast.Tuple(elts=[*before, last])):
            return _parts(last)[0], ast.dump(owner) + "".join(map(ast.dump, before))
        case ast.Subscript(value=owner, slice=place):
            name = _parts(place)[0]
            return (
                (name, ast.dump(owner)) if name.isupper() else (_parts(owner)[0], ast.dump(place))
            )
        case _:
            return "", ""


def restatements(source: str) -> list[int]:
    """Return the lines that compare one transaction's last_committed with another's number."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        for operator, one, other in zip(node.ops, sides, sides[1:], strict=False):
            if not isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                continue
            (name, owner), (other_name, other_owner) = _parts(one), _parts(other)
            names = {name, other_name}
            if not names & LAST_COMMITTED:
                continue
            # LC < SN of one transaction is its well-formedness; of plain names the order decides.
            is_of_one = owner == other_owner and (owner or name in LAST_COMMITTED)
            if names & MARK or (names & SEQUENCE_NUMBER and not is_of_one):
                found.append(node.lineno)
    return found


def modules():
    """Yield each module of the product and of ci, by its path from the root."""
    for folder in ("paraply", "ci"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


@pytest.mark.long
def test_start_rule_is_stated_in_its_homes_only():
    places = {path: lines for path, text in modules() if (lines := restatements(text))}
    for path, lines in places.items():
        assert path.startswith((*HOMES, *UNDER_TEST)), (
            f"{path}:{lines[0]} restates the start rule; call waits_for of "
            "paraply/vocabulary/timestamps.py or the layer's own function"
        )


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("home", HOMES)
def test_each_home_states_the_rule(home):
    assert any(restatements(text) for path, text in modules() if path.startswith(home))


@pytest.mark.parametrize(
    "line",
    [
        "earlier.sequence_number <= later.last_committed",
        "later.last_committed < earlier.sequence_number",
        "sn(P) <= lc(Q)",
        "0 < number <= timestamp.last_committed",
        "last_committed <= self.low_water_mark()",
        "sequence_number <= last_committed",
        "other[C.L_SN] <= one[C.L_LC]",
        "jobs[at, C.J_SN] > log[later, C.L_LC]",
    ],
)
def test_restatement_is_found(line):
    assert restatements(f"if {line}:\n    pass\n") == [1]


@pytest.mark.parametrize(
    "line",
    [
        "last_committed < sequence_number",
        "row.lc >= row.sn",
        "lc(P) < sn(P)",
        "last_committed == 0",
        "waits_for(later.last_committed, earlier.sequence_number)",
    ],
)
def test_other_comparisons_are_not_restatements(line):
    assert restatements(f"if {line}:\n    pass\n") == []
