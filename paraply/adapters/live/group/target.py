"""The live target ``mysql-gr``."""

from __future__ import annotations

from paraply.adapters.live.target import HEALTHY, LiveTarget
from paraply.adapters.live.workload import WORKLOADS

MULTI_PRIMARY = "multi-primary"
MIXED = "mixed"
"""Makes members disagree."""
KILL, FREEZE, CUT = "kill-member", "freeze-member", "cut-member"
DEPARTURES = {HEALTHY: "", KILL: KILL, FREEZE: FREEZE, CUT: CUT}

MYSQL_GROUP = LiveTarget(
    name="mysql-gr",
    summary="three members of MySQL Group Replication; one leaves and returns under load",
    module="paraply.adapters.live.group.lab",
    takes=("clients",),
    modes=(MULTI_PRIMARY, "single-primary"),
    workloads=tuple(WORKLOADS),
    refused={
        f"{MULTI_PRIMARY}/ddl": "members that change one table's schema at the same time are not"
        " told apart by certification, and the manual forbids it",
    },
    faults={
        KILL: "a member (the seed says which) is killed (SIGKILL), expelled, and joins again",
        FREEZE: "a member (the seed says which) is stopped for three seconds (SIGSTOP, SIGCONT)"
        " before it leaves",
        CUT: "a member (the seed says which) is cut off by the network (namespaces), expelled, and"
        " joins again",
    },
    properties=(
        "members_decide_alike",
        "gtids_are_unique",
        "last_committed_is_below_sequence_number",
        "sequence_numbers_increase",
        "conflicting_transactions_are_ordered",
        "barriers_are_ordered_with_all",
        "remote_transactions_commit_as_certified",
        "own_transactions_commit_after_what_they_saw",
        "members_show_prefixes_of_their_commits",
        "member_reads_never_go_back",
        "position_covers_only_what_is_applied",
        "position_covers_all_that_is_applied",
        "final_state_is_the_sources",
        "what_a_group_confirmed_survives",
        "members_cut_off_confirm_nothing",
    ),
)
