"""Check certificates without a solver.

Instances follow from the hypotheses and the negated goal, so their contradiction proves the goal. A
wrong certificate cannot prove a false statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paraply.models.kernel.certificate import (
    BadCertificateError,
    Certificate,
    Instance,
    instances,
    seal,
)
from paraply.models.kernel.nodes import Nodes
from paraply.models.kernel.normal_form import Assertion, NotSupportedError, assertions
from paraply.models.kernel.search import Outcome, search
from paraply.models.language.refusal import IllFormedError
from paraply.models.language.system import Obligation


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether the obligation is proved, or why not."""

    is_proved: bool
    reason: str = ""


def check(obligation: Obligation, certificate: Certificate) -> Finding:
    """Return whether ``certificate`` proves ``obligation``."""
    try:
        expected = seal(obligation, certificate.steps)
    except IllFormedError as refusal:
        return Finding(False, f"not supported: {refusal.details['reason']}")
    if certificate.seal != expected:
        return Finding(
            False, "the seal is broken, obligation or certificate was changed: make certificates"
        )
    return check_unsealed(obligation, certificate)


def check_unsealed(obligation: Obligation, certificate: Certificate) -> Finding:
    """Check a certificate without its seal."""
    try:
        found = assertions(obligation)
        told = list(instances(certificate, obligation, found))
    except NotSupportedError as refusal:
        return Finding(False, f"not supported: {refusal}")
    except IllFormedError as refusal:
        return Finding(False, f"not supported: {refusal.details['reason']}")
    except BadCertificateError as refusal:
        return Finding(False, f"bad certificate: {refusal}")
    except RecursionError:
        return Finding(False, "a term is nested too deeply")
    outcome = refute(found, told)
    if outcome is Outcome.REFUTED:
        return Finding(True)
    return Finding(False, f"the instances are {outcome.value}")


def refute(found: Sequence[Assertion], told: Iterable[Instance]) -> Outcome:
    """Return whether instances contradict each other."""
    nodes = Nodes()
    for instance in told:
        assertion = found[instance.assertion]
        values = {
            variable: nodes.node(term, {})
            for variable, term in zip(assertion.variables, instance.terms, strict=True)
        }
        nodes.holds(assertion.matrix, values)
    return search(nodes)
