"""Steps of a faulty model without a match."""

from __future__ import annotations

from paraply.models.claims.claim import Counterexample
from paraply.models.language.concrete import Scope
from paraply.models.systems.applier import Dialect
from paraply.models.systems.end_to_end import Rules
from paraply.models.systems.group import Rules as Group
from paraply.models.systems.parallel_group import Rules as InParallel
from paraply.models.systems.variants import (
    variant_of_applier_in_member,
    variant_of_group_in_certification,
    variant_of_group_in_parallel_applier,
    variant_of_member_in_applier,
)

PAIR = Scope(low=0, high=2, size=1)
TRIPLE = Scope(low=0, high=3, size=1)
MEMBERS = Scope(low=-1, high=2, size=2)

REFUTED_OF_REFINEMENT = (
    Counterexample(
        id="C56", title="a joiner's session before the view change of its joining was applied",
        system=variant_of_applier_in_member(online_first=False),
        statement="every_step_is_matched", scope=TRIPLE, steps=3,
        source="assumption A13; super_read_only while RECOVERING",
    ),
    Counterexample(
        id="C57", title="no member does what the applier does with a session that is blind",
        system=variant_of_applier_in_member(
            dialect=Dialect(name="blind_local", local_sees_earlier=False)
        ),
        statement="every_step_is_matched", scope=PAIR, steps=2, source="assumption A1",
    ),
    Counterexample(
        id="C58", title="no member does what the applier does when it purges what was not executed",
        system=variant_of_applier_in_member(purges_executed_only=False),
        statement="every_step_is_matched", scope=PAIR, steps=2, source="assumption A11",
    ),
    Counterexample(
        id="C59", title="a session beside DDL of its table that came from elsewhere",
        system=variant_of_applier_in_member(ddl_is_apart=False),
        statement="every_step_is_matched", scope=PAIR, steps=2, source="assumption A12",
    ),
    Counterexample(
        id="C60", title="AL1 as written gives DDL an LC that no member gives",
        system=variant_of_applier_in_member(
            dialect=Dialect(name="wl8440_literal", fence_without_write_set=False)
        ),
        statement="every_step_is_matched", scope=PAIR, steps=2,
        source="WL#8440 AL1 step 1 against EX4",
    ),
    Counterexample(
        id="C61", title="LC read as one parent starts what no member starts",
        system=variant_of_applier_in_member(dialect=Dialect(name="pairwise", prefix=False)),
        statement="every_step_is_matched", scope=TRIPLE, steps=5,
        source="WL#8440 EX3 (T6 does depend on T5 only)",
    ),
    Counterexample(
        id="C62", title="a view change that is no barrier starts what no member starts",
        system=variant_of_applier_in_member(dialect=Dialect(name="no_barrier", barrier=False)),
        statement="every_step_is_matched", scope=PAIR, steps=4,
        source="WL#8440 View_change_log_event",
    ),
    Counterexample(
        id="C63", title="a member that purges what it has not executed breaks the applier's A1",
        system=variant_of_member_in_applier(
            member=Rules(ddl_is_apart=False, purges_executed_only=False)
        ),
        statement="every_step_is_matched", scope=PAIR, steps=3, source="assumption A11",
    ),
    Counterexample(
        id="C64", title="a member whose sessions had not seen a version breaks the applier's A1",
        system=variant_of_member_in_applier(
            member=Rules(ddl_is_apart=False, snapshot_is_executed=False)
        ),
        statement="every_step_is_matched", scope=PAIR, steps=2, source="WL#8440 EX2",
    ),
    Counterexample(
        id="C65", title="a member whose workers do not wait for LC starts what no applier starts",
        system=variant_of_member_in_applier(member=Rules(ddl_is_apart=False, waits_for_lc=False)),
        statement="every_step_is_matched", scope=PAIR, steps=4, source="WL#8440 EX2",
    ),
    Counterexample(
        id="C66", title="a member without barriers starts what no applier starts",
        system=variant_of_member_in_applier(member=Rules(ddl_is_apart=False, barrier=False)),
        statement="every_step_is_matched", scope=PAIR, steps=4,
        source="WL#8440 View_change_log_event",
    ),
    Counterexample(
        id="C135", title="a group that delivers what a crashed member sent decides unlike any "
        "certifier that knows A2",
        system=variant_of_group_in_certification(group=Group(views_flush=False)),
        statement="every_step_is_matched", scope=MEMBERS, steps=9,
        source="assumption A2; virtual synchrony: why a view change flushes",
        elsewhere="The reference's channel delivers nothing after a view change (C96).",
    ),
    Counterexample(
        id="C136", title="a map that reads the snapshot of a transaction at its delivery",
        system=variant_of_group_in_certification(snapshots_as_sent=False),
        statement="every_step_is_matched", scope=MEMBERS, steps=8,
        source="WL#8440: a transaction carries the snapshot of its execution",
        elsewhere="The map is at fault here, not the group: a refusal has no cause in it.",
    ),
    Counterexample(
        id="C138", title="in a group, LC of a transaction without write set is only the window: no "
        "applier has it",
        system=variant_of_group_in_parallel_applier(group=InParallel(fences=False)),
        statement="every_step_is_matched", scope=MEMBERS, steps=8,
        source="WL#8440 AL1 step 1 and EX4",
        elsewhere="The stamps `wl8440_literal` of the reference (C01).",
    ),
    Counterexample(
        id="C139", title="a map that takes a session's engine commit for a worker's",
        system=variant_of_group_in_parallel_applier(sessions_are_apart=False),
        statement="every_step_is_matched", scope=MEMBERS, steps=5,
        source="WL#8440 EX2: the applier does not see local transactions",
        elsewhere="The map is at fault here, not the group: no worker has the transaction.",
    ),
    Counterexample(
        id="C140", title="a member whose LC is higher than its rows and the window ask for",
        system=variant_of_group_in_parallel_applier(chooses_as_servers=False),
        statement="every_step_is_matched", scope=MEMBERS, steps=8,
        source="WL#8440 AL1 step 3a",
        elsewhere="P53 allows it: a higher LC only waits longer.",
    ),
)  # fmt: skip
