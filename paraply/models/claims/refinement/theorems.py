"""Theorems that one model simulates another."""

from __future__ import annotations

from paraply.models.claims.claim import OF_THE_GROUP, Theorem, smaller_only
from paraply.models.systems.end_to_end import Rules
from paraply.models.systems.variants import (
    variant_of_applier_in_member,
    variant_of_group_in_certification,
    variant_of_group_in_parallel_applier,
    variant_of_member_in_applier,
)

DDL_ANYWHERE = Rules(ddl_is_apart=False)

THEOREMS_OF_REFINEMENT = (
    Theorem(
        id="P34",
        claim="The applier refines the whole member: whatever it does under either dialect, the "
        "member of P31 to P33 can do step by step, and its workers never wait for a lock.",
        systems=(variant_of_applier_in_member(),),
        statements=("every_step_is_matched", "change_row_never_waits", "alter_never_waits"),
        assumes=("A1", "A11", "A12", "A13"),
        delimited_by=("C56", "C57", "C58", "C59", "C60", "C61", "C62"),
        standing=smaller_only("it relates two smaller models to each other"),
        source="WL#8440 AL1, EX1 to EX7; forward simulation (Lynch and Vaandrager 1995)",
    ),
    Theorem(
        id="P35",
        claim="The whole member refines the applier: whatever it does with its relay log, among "
        "sessions, locks, DDL and storage, is a run of the applier, A1 included.",
        systems=(variant_of_member_in_applier(member=DDL_ANYWHERE),),
        statements=("every_step_is_matched",),
        assumes=("A11",),
        delimited_by=("C63", "C64", "C65", "C66"),
        standing=smaller_only("it relates two smaller models to each other"),
        source="WL#8440 AL1, EX2; forward simulation (Lynch and Vaandrager 1995)",
    ),
    Theorem(
        id="P58",
        claim="The group refines certification: what a group delivers, certifies, refuses, settles "
        "and purges is a run of the certifier's model, A2 and A4 included, so P05 and P06 hold.",
        systems=(variant_of_group_in_certification(),),
        statements=(
            "every_step_is_matched",
            "first_certified_wins",
            "refusals_are_deserved",
            "snapshots_are_closed",
        ),
        assumes=(),
        delimited_by=("C135", "C136"),
        standing=OF_THE_GROUP,
        source="WL#8440 conflict rule; refinement mappings (Abadi and Lamport 1991)",
    ),
    Theorem(
        id="P59",
        claim="The group refines the applier: what a member does with its relay log between two "
        "crashes, among sessions, recovery and collections, is a run of the LOGICAL_CLOCK applier, "
        "A1 included, so P01 to P04 and P21 hold.",
        systems=(variant_of_group_in_parallel_applier(),),
        statements=(
            "every_step_is_matched",
            "conflicting_rows_are_ordered",
            "without_write_set_is_alone",
            "first_is_a_barrier",
            "last_committed_is_below",
            "last_committed_is_minimal",
        ),
        assumes=(),
        delimited_by=("C138", "C139", "C140"),
        standing=OF_THE_GROUP,
        source="WL#8440 AL1, EX3, EX4, EX7; Mts_submode_logical_clock; refinement mappings",
    ),
)
