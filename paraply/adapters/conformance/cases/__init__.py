"""The suite: each small log exposes one particular fault."""

from paraply.adapters.conformance.cases.all import cases_named, suite
from paraply.adapters.conformance.cases.case import FAMILIES, Case

__all__ = ["FAMILIES", "Case", "cases_named", "suite"]
