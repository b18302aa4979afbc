"""Importing this registers all subjects, properties and mutants."""

from __future__ import annotations

import paraply.properties.all as _properties
import paraply.reference_impl.subjects as _subjects
from paraply.properties.registry import property_named, registered_properties
from paraply.reference_impl.mutants import mutant_named, registered_mutants
from paraply.reference_impl.subject import registered_subjects, subject_named

__all__ = [
    "_properties",
    "_subjects",
    "mutant_named",
    "property_named",
    "registered_mutants",
    "registered_properties",
    "registered_subjects",
    "subject_named",
]
