"""Theorems about the audit, merged parts, the comparison of two logs and the minimiser."""

from __future__ import annotations

from paraply.models.claims.claim import Theorem, about
from paraply.models.systems import merged_parts
from paraply.models.systems.variants import (
    variant_of_linear_audit,
    variant_of_merged_parts,
    variant_of_minimiser,
    variant_of_prefix_test,
)

THEOREMS_ABOUT_OURSELVES = (
    Theorem(
        id="P42",
        claim="The audit's linear pass finds a breach if and only if some pair of the log "
        "conflicts and may overlap, across resets of the clock and barriers.",
        systems=(variant_of_linear_audit(name="linear_audit"),),
        statements=("silence_means_no_pair", "a_finding_is_a_pair"),
        assumes=("A20",),
        delimited_by=("C79", "C80", "C81", "C82"),
        standing=about("the audit of one log"),
        source="paraply/properties/logs/dependency_safety.py",
    ),
    Theorem(
        id="P43",
        claim="Merging parts of a log is associative and gives what one pass over the whole log "
        "gives.",
        systems=(variant_of_merged_parts(name="merged_parts"),),
        statements=tuple(
            f"merging_from_the_{side}_gives_{field}"
            for side in ("left", "right")
            for field in merged_parts.FIELDS
        ),
        assumes=(),
        delimited_by=("C83", "C84"),
        standing=about("the merging of parts of a log"),
        source="paraply/properties/tables/timestamps.py, ChunkSummary",
    ),
    Theorem(
        id="P44",
        claim="A replica's states pass the test of fingerprints if and only if rising prefixes of "
        "the source explain them: each is a prefix, and no reader goes back.",
        systems=(variant_of_prefix_test(name="prefix_test"),),
        statements=(
            "what_is_shown_is_a_prefix",
            "no_reader_goes_back",
            "failing_means_no_explanation",
        ),
        assumes=("A19",),
        delimited_by=("C85", "C86", "C87"),
        standing=about("the judge of two logs"),
        source="paraply/properties/two_logs/rule.py",
    ),
    Theorem(
        id="P52",
        claim="The minimiser keeps the verdict: the run that it returns breaks the property that "
        "the first run broke and is not larger; if it is called minimal, no tried simplification "
        "of it is a smaller run that breaks it.",
        systems=(variant_of_minimiser(name="minimiser"),),
        statements=("the_verdict_is_kept", "it_never_grows", "minimal_is_one_minimal"),
        assumes=(),
        delimited_by=("C107", "C108", "C109", "C110", "C111"),
        standing=about("the minimiser"),
        source="paraply/properties/shrinking.py; paraply/counterexamples/shrinking.py",
    ),
)
