"""The live target ``mysql-gr``: what it has to choose from, and what it answers to."""

from __future__ import annotations

from adapters.live.target import LiveTarget

MULTI_PRIMARY = "multi-primary"

MYSQL_GROUP = LiveTarget(
    name="mysql-gr",
    summary="three members of MySQL Group Replication; one leaves and returns under load",
    module="adapters.live.group",
    modes=(MULTI_PRIMARY, "single-primary"),
    properties=(
        "members_decide_alike",
        "gtids_are_unique",
        "last_committed_is_below_sequence_number",
        "sequence_numbers_increase",
    ),
)
