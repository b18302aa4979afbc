"""Certificates: which instances of which assertions contradict each other.

A certificate is a list of steps ``[assertion, term, ...]``: the number of an assertion of the
obligation's normal form, and a ground term for each of its variables. A ground term is an integer,
the name of a constant, ``["f", argument, ...]``, or ``["+", term, 1]``. ``any!Row`` is some element
of the sort ``Row``; there is at least one.

The seal binds a certificate to the text of its obligation: neither can be changed alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paraply.models.kernel.normal_form import MARK, Assertion, NotSupportedError
from paraply.models.language.refusal import IllFormedError
from paraply.models.language.smtlib import script
from paraply.models.language.system import Obligation
from paraply.models.language.terms import (
    BOOL,
    INT,
    Apply,
    Literal,
    Plus,
    Sort,
    Term,
    Variable,
    functions_in,
)

Data = int | str | list["Data"]
"""A ground term as JSON holds it."""


class BadCertificateError(Exception):
    """A certificate does not fit its obligation; the text says why."""


@dataclass(frozen=True, slots=True)
class Instance:
    """An assertion, by number, with ground terms for its variables."""

    assertion: int
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """The steps of a certificate as data, and the seal that binds them to an obligation."""

    seal: str
    steps: tuple[tuple[Data, ...], ...]


def seal(obligation: Obligation, steps: Sequence[Sequence[Data]]) -> str:
    """Return the seal of a certificate: 16 hexadecimal digits over obligation and steps."""
    text = script(obligation) + json.dumps(steps, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Names:
    """The constants and functions that ground terms may use, by name."""

    def __init__(self, obligation: Obligation, found: Sequence[Assertion]) -> None:
        self._functions = functions_in(assertion.matrix for assertion in found)
        self._constants = {constant.name: constant for constant in obligation.constants}
        both = sorted(self._functions.keys() & self._constants.keys())
        if both:
            raise NotSupportedError(f"{both[0]} is a constant and a function")
        sorts = [s for f in self._functions.values() for s in (*f.arguments, f.result)]
        sorts += [constant.sort for constant in obligation.constants]
        sorts += [variable.sort for assertion in found for variable in assertion.variables]
        for sort in sorts:
            if sort not in (INT, BOOL):
                self._constants[f"any{MARK}{sort.name}"] = some(sort)

    def term(self, data: Data) -> Term:
        """Return the ground term that ``data`` describes."""
        match data:
            case bool():
                pass
            case int():
                return Literal(data)
            case str() if data in self._constants:
                return self._constants[data]
            case str() if data in self._functions:
                return self._applied(data, [])
            case ["+", inner, int() as offset] if not isinstance(offset, bool):
                base = self.term(inner)
                if base.sort != INT:
                    raise BadCertificateError(f"{inner!r} is not a number")
                return Plus(base, offset)
            case [str() as name, *arguments] if arguments and name in self._functions:
                return self._applied(name, arguments)
        raise BadCertificateError(f"not a ground term of this obligation: {data!r}")

    def _applied(self, name: str, arguments: list[Data]) -> Term:
        try:
            return self._functions[name](*(self.term(argument) for argument in arguments))
        except IllFormedError as error:
            raise BadCertificateError(str(error.details["reason"])) from None


def some(sort: Sort) -> Variable:
    """Return the constant that stands for some element of an uninterpreted sort."""
    return Variable(f"any{MARK}{sort.name}", sort)


def data_of(term: Term) -> Data:
    """Return a ground term as JSON holds it."""
    match term:
        case Literal(value):
            return value
        case Variable(name, _):
            return name
        case Apply(function, ()):
            return function.name
        case Apply(function, arguments):
            return [function.name, *map(data_of, arguments)]
        case Plus(left, constant):
            return ["+", data_of(left), constant]
    raise TypeError(f"not a ground term: {term!r}")


def instances(
    certificate: Certificate, obligation: Obligation, found: Sequence[Assertion]
) -> Iterator[Instance]:
    """Yield what a certificate says, each term checked against the sort of its variable."""
    names = Names(obligation, found)
    for step in certificate.steps:
        match step:
            case (int() as number, *terms) if 0 <= number < len(found):
                variables = found[number].variables
                ground = tuple(names.term(term) for term in terms)
                if [term.sort for term in ground] != [v.sort for v in variables]:
                    raise BadCertificateError(f"assertion {number} takes other terms: {step!r}")
                yield Instance(number, ground)
            case _:
                raise BadCertificateError(f"not a step: {step!r}")
