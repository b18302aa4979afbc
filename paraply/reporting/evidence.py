"""How many of a verdict's situations were decidable, for every report."""

from __future__ import annotations

from typing import Any

from paraply.properties.registry import Evidence
from paraply.vocabulary.audit_result import AuditResult


def decided(evidence: Evidence, *, at_most: bool = False) -> str:
    """Return how many are decided, and of how many."""
    return f"{'at most ' if at_most else ''}{evidence}"


def decidable(evidence: Evidence, *, at_most: bool = False) -> str:
    """Return the counts of situations in words."""
    return f"{decided(evidence, at_most=at_most)} situations are decidable"


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    """Return counts of situations, and missing evidence."""
    return {
        "relevant": evidence.relevant,
        "decided": evidence.decided,
        "missing": evidence.missing,
    }


def pairs_evidence(audited: AuditResult) -> Evidence:
    """Return the counts of pairs that may overlap; of the decided ones the greatest possible."""
    first = audited.unknown_because[0].reason if audited.unknown_because else ""
    return Evidence(
        relevant=audited.pairs_allowed_to_overlap,
        decided=audited.pairs_allowed_to_overlap - audited.pairs_in_doubt,
        missing=first if audited.pairs_in_doubt else "",
    )


def decidable_pairs(audited: AuditResult) -> str:
    """Return how many pairs that may overlap are decidable; empty where none may."""
    if not audited.pairs_allowed_to_overlap:
        return ""
    return decidable(pairs_evidence(audited), at_most=audited.pairs_in_doubt > 0)
