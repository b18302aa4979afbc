"""Stories of the Hypothesis machines are runs of the specifications.

A system under test leaves out what its specification does not speak of: its rule then does nothing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.models.recorded import members, whole_members
from paraply.properties.machines.applier import ApplierMachine
from paraply.properties.machines.certifier import CertifierMachine
from paraply.properties.machines.group import GroupMachine
from paraply.properties.machines.gtid import PositionMachine
from paraply.properties.machines.parallel_modes import ParallelModesMachine
from paraply.properties.machines.semi_sync import SemiSyncMachine
from paraply.registries import mutant_named
from tests.conformance.pairs import ONE_FILE, PAIRS, UNORDERED, Follower
from tests.machines import applier_system, gtid_systems, parallel_modes_system
from tests.machines.hunting import Hunt, bound, judged_at_the_end
from tests.machines.semi_sync_system import ReferenceServers
from tests.machines.systems import ReferenceCertifier, ReferenceGroup

STEPS = 25
STORIES = settings(
    max_examples=10,
    stateful_step_count=STEPS,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
FIRM = {"abandons": 0, "shutdowns": 0}
THREE = ("r1", "r2", "r3")


class UncrashedApplier(applier_system.ReferenceApplier):
    def crash(self):
        """Do nothing."""


class UnstoppedReplica(parallel_modes_system.ReferenceReplica):
    def stop(self):
        """Do nothing."""

    def fail(self, worker):
        """Do nothing."""


class FirmGroup(ReferenceGroup):
    """Whoever is there stays, and in the end everybody has everything."""

    def crash(self, name):
        """Do nothing."""

    def history(self):
        self.settle()
        return super().history()


class JoinedGroup(FirmGroup):
    """r3 joins a group that has executed something; it recovers when the story says so."""

    def __init__(self, dialect):
        super().__init__(dialect)
        for writer, row in (("r1", "a"), ("r2", "b"), ("r1", "b")):
            self.submit(writer, [row])
            self.settle()
        self.submit("r2", ["a"])
        self.join("r3")


def applier(kind, **options):
    workload = applier_system.workload_of(UNORDERED, **options)
    return ApplierMachine, lambda program: kind(program, workload)


def conservative_replica(program):
    options = {"marks": 0, "ddl": 0}
    workload = parallel_modes_system.workload_of("conservative", **options)
    return UnstoppedReplica(program, workload)


def replica_of_one_domain(domains):
    return gtid_systems.ReferenceReplica([0] * len(domains), "table")


def joining(name, reading):
    """Return the pair of this name, of whoever joins in the stories."""
    return replace(PAIRS[name], reading=partial(reading, member="r3"))


def servers(**options):
    return SemiSyncMachine, lambda: ReferenceServers(**FIRM, **options)


STORIES_OF = {
    "restart": (PAIRS["restart"], *applier(applier_system.ReferenceApplier)),
    "commit order": (
        PAIRS["commit order"], ApplierMachine,
        lambda program: UncrashedApplier(program, applier_system.workload_of("logical_clock")),
    ),
    "low-water mark": (PAIRS["low-water mark"], *applier(UncrashedApplier)),
    "log and starts": (PAIRS["log and starts"], *applier(UncrashedApplier, **ONE_FILE)),
    "timestamps": (
        PAIRS["timestamps"], CertifierMachine, lambda: ReferenceCertifier("wl8440"),
    ),
    "certification": (
        PAIRS["certification in a group"], GroupMachine, lambda: FirmGroup("wl8440", present=THREE),
    ),
    "two members": (
        PAIRS["two members"], GroupMachine, lambda: FirmGroup("wl8440", present=THREE),
    ),
    "end to end": (
        PAIRS["end to end, a number left out"], GroupMachine, lambda: FirmGroup("mysql_8_0"),
    ),
    "joiner, end to end": (
        joining("end to end, a joiner", whole_members.end_to_end), GroupMachine,
        lambda: JoinedGroup("wl8440"),
    ),
    "joiner, timestamps": (
        joining("timestamps of a joiner", members.timestamps), GroupMachine,
        lambda: JoinedGroup("wl8440"),
    ),
    "semi-sync": (PAIRS["semi-sync, recovered wait"], *servers(members=2)),
    "quorum": (PAIRS["quorum, two of three"], *servers(members=4, acknowledgements=2)),
    "rotation": (PAIRS["rotation"], *servers(members=2)),
    "batches": (PAIRS["batches"], ParallelModesMachine, conservative_replica),
    "crash points": (PAIRS["crash points"], PositionMachine, replica_of_one_domain),
    "position": (PAIRS["position"], PositionMachine, replica_of_one_domain),
}  # fmt: skip


def followed(machine, make, follower):
    """Return a machine whose stories are followed when they have ended."""
    return judged_at_the_end(bound(machine, make, [follower]))


@pytest.mark.long(quick=8)
@pytest.mark.parametrize("name", STORIES_OF)
def test_every_story_of_a_machine_is_a_run_of_the_specification(name):
    pair, machine, make = STORIES_OF[name]
    follower = Follower(pair)
    run_state_machine_as_test(followed(machine, make, follower), settings=STORIES)
    assert follower.steps > STORIES.max_examples


def test_story_of_a_mutant_is_refused_by_the_specification():
    pair, machine, _ = STORIES_OF["quorum"]
    systems = mutant_named("any_replica_is_promoted").module(ReferenceServers.__module__)
    make = partial(systems.ReferenceServers, **FIRM)
    with pytest.raises(AssertionError, match="not a run of quorum"):
        Hunt(steps=STEPS).run(followed(machine, make, Follower(pair)))
