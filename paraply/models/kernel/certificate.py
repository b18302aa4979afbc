"""Certificates: contradictory instances of an obligation's assertions.

A step ``[assertion, term, ...]`` has an assertion's number and a ground term per variable. A term
is an integer, a constant's name, ``["f", argument, ...]`` or ``["+", term, 1]``. ``any!Row`` is
some element of ``Row``. The seal binds a certificate to its obligation's text.
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
"""A ground term in JSON."""


class BadCertificateError(Exception):
    """A certificate does not fit its obligation."""


@dataclass(frozen=True, slots=True)
class Instance:
    """An assertion's number with ground terms."""

    assertion: int
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate's steps and seal."""

    seal: str
    steps: tuple[tuple[Data, ...], ...]


def seal(obligation: Obligation, steps: Sequence[Sequence[Data]]) -> str:
    """Return 16 hexadecimal digits."""
    text = script(obligation) + json.dumps(steps, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Names:
    """Constants and functions by name."""

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
        """Return the ground term for ``data``."""
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
    """Return the constant for some element."""
    return Variable(f"any{MARK}{sort.name}", sort)


def data_of(term: Term) -> Data:
    """Return a ground term as JSON data."""
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
    """Yield the certificate's instances, with sorts checked."""
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
