"""Obligations made by hand: what is asserted, and no more."""

from __future__ import annotations

from paraply.models.kernel.certificate import Certificate
from paraply.models.kernel.check import check_unsealed
from paraply.models.kernel.normal_form import assertions
from paraply.models.language.system import Obligation
from paraply.models.language.terms import BOOL, FALSE, INT, Function, Sort, Variable

ROW = Sort("Row")
A, B, C = (Variable(name, INT) for name in "abc")
R, S = Variable("r", ROW), Variable("s", ROW)
X, Y = Variable("x", INT), Variable("y", INT)
"""Bound variables; the others are constants."""

F = Function("f", (INT,), INT)
G = Function("g", (ROW,), ROW)
AT = Function("at", (INT,), ROW)
P = Function("p", (INT,), BOOL)
WS = Function("ws", (INT, ROW), BOOL)
FLAG = Function("flag", (), BOOL)


def problem(*asserted, goal=FALSE):
    """Return the obligation that ``asserted`` implies ``goal``, with every constant above."""
    return Obligation("by hand", "statement", "step", tuple(asserted), goal, (A, B, C, R, S))


def finding(obligation, *steps):
    """Return what the kernel finds with these steps; with all ground assertions without any."""
    if not steps:
        found = assertions(obligation)
        steps = [[number] for number, a in enumerate(found) if not a.variables]
    return check_unsealed(obligation, Certificate("", tuple(map(tuple, steps))))


def proves(obligation, *steps):
    """Return whether the kernel accepts; what it cannot read counts as a fault of the test."""
    found = finding(obligation, *steps)
    assert found.is_proved or found.reason.startswith("the instances are"), found.reason
    return found.is_proved
