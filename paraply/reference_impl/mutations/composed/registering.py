"""Registers mutants of the composed system."""

from __future__ import annotations

from paraply.reference_impl.composed.applier import Applier
from paraply.reference_impl.composed.group import ComposedGroup
from paraply.reference_impl.composed.member import ComposedMember
from paraply.reference_impl.composed.rows import Table
from paraply.reference_impl.composed.subject import ComposedSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue

FAMILY = "composed system"


def mutate(
    name: str,
    source: str,
    fault: str,
    caught_by: str,
    part: type[ComposedGroup | ComposedMember | Applier | Table],
    *,
    transactions: int = 4,
    members: int = 2,
    rows: int = 3,
    **options: OptionValue,
) -> None:
    """Register a mutant with one changed part; defaults are the subject's."""
    register_mutant(
        written_mutant(
            name=name,
            family=FAMILY,
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=ComposedSubject(group=group_with(part)),
            workload=Workload(
                transactions=transactions, members=members, rows=rows, options=options
            ),
        )
    )


def group_with(
    part: type[ComposedGroup | ComposedMember | Applier | Table],
) -> type[ComposedGroup]:
    """Return a group whose members have the changed part."""
    if issubclass(part, ComposedGroup):
        return part
    member: type[ComposedMember] = ComposedMember
    if issubclass(part, ComposedMember):
        member = part
    elif issubclass(part, Applier):
        member = type(f"With{part.__name__}", (ComposedMember,), {"applier_class": part})
    else:
        member = type(f"With{part.__name__}", (ComposedMember,), {"table_class": part})
    return type(f"GroupOf{member.__name__}", (ComposedGroup,), {"member_class": member})
