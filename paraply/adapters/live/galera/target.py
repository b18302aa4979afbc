"""The live target ``galera``."""

from __future__ import annotations

from paraply.adapters.live.galera.cut import CUT, SPLIT
from paraply.adapters.live.target import LiveTarget
from paraply.adapters.live.workload import WORKLOADS

GALERA = LiveTarget(
    name="galera",
    summary="a Galera cluster of three members, all of them written to",
    module="paraply.adapters.live.galera.lab",
    takes=("workers", "clients", "duration_s"),
    modes=("multi-master",),
    workloads=tuple(WORKLOADS),
    faults={
        "kill-member": "a member is killed (SIGKILL) and joins again over a state transfer",
        CUT: "a member is cut off by the network (namespaces), and comes back when it is mended",
        SPLIT: "control: the same, and the member goes on alone (pc.ignore_quorum, pc.ignore_sb)",
        "freeze-member": "a member is stopped in its tracks for a second (SIGSTOP, SIGCONT)",
    },
    properties=(
        "members_decide_alike",
        "gtids_are_unique",
        "gtids_name_one_transaction",
        "replica_logs_domains_in_order",
        "domains_are_read_in_order",
        "no_conflicting_parallel_apply",
        "starts_respect_last_committed",
        "write_sets_depend_on_earlier_writers",
        "senders_saw_writers_of_other_members",
        "no_event_is_applied_twice",
        "no_event_is_lost",
        "final_state_is_the_sources",
        "tables_end_as_the_sources",
        "what_a_group_confirmed_survives",
        "members_cut_off_confirm_nothing",
    ),
    documented={
        f"multi-master/{SPLIT}": (
            "no_event_is_lost",
            "what_a_group_confirmed_survives",
            "members_cut_off_confirm_nothing",
        ),
    },
)
