"""The suite: small logs, each of which an applier with one particular fault gets wrong."""

from paraply.adapters.conformance.cases.all import cases_named, suite
from paraply.adapters.conformance.cases.case import FAMILIES, Case

__all__ = ["FAMILIES", "Case", "cases_named", "suite"]
