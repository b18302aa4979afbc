"""A group with other members."""

from __future__ import annotations

from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Member


def group_of(member: type[Member]) -> type[Group]:
    """Return a group of given members."""
    return type(f"GroupOf{member.__name__}", (Group,), {"member_class": member})
