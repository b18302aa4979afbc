"""Sources with one wait fault each."""

from __future__ import annotations

from paraply.reference_impl.semi_sync.acknowledgements import AckContainer, Acknowledgements
from paraply.reference_impl.semi_sync.binlog import ReplicaState
from paraply.reference_impl.semi_sync.cluster import Cluster
from paraply.reference_impl.semi_sync.groups import Group
from paraply.reference_impl.semi_sync.seeding import CALM, CAUSE, CONFIRMED, END, SEEN, TOLD
from paraply.reference_impl.semi_sync.seeding import semi_sync_mutant as _mutant
from paraply.reference_impl.semi_sync.settings import Abandon


class OneSuffices(Cluster):
    """The source ignores wait_for_slave_count."""

    def is_acknowledged(self, position: int) -> bool:
        """Return whether any replica suffices."""
        return any(reported >= position for reported in self.heard.reported.values())


class OffByOnePosition(Cluster):
    """Acknowledgements compare with transaction starts."""

    def is_acknowledged(self, position: int) -> bool:
        """Subtract one."""
        return super().is_acknowledged(position - 1)


class ComparesAsText(Cluster):
    """Positions compare as text, like file names."""

    def is_acknowledged(self, position: int) -> bool:
        """Compare text: "9" follows "10"."""
        return str(self.heard.released) >= str(position)


class LastSmallerSlot(AckContainer):
    """The last smaller slot counts as least."""

    def least_of(self, position: int) -> int:
        """Return the last smaller slot."""
        smaller = [at for at in self.slots.values() if at < position]
        return smaller[-1] if smaller else position


class ReleasesLastSmaller(Cluster):
    """``LastSmallerSlot`` counts replies."""

    def new_acknowledgements(self) -> Acknowledgements:
        """Return the faulty count."""
        return LastSmallerSlot(self.settings.acknowledgements)


class ConnectCounts(Cluster):
    """Connections at the log end acknowledge it."""

    def on_restarted(self, replica: ReplicaState) -> None:
        """Count the requested position."""
        super().on_restarted(replica)
        self.note(replica.name, len(self.binlog.written))


class ConnectIsIgnored(Cluster):
    """Connections acknowledge nothing."""

    def on_restarted(self, replica: ReplicaState) -> None:
        """Count later replies only."""
        super().on_restarted(replica)
        self.heard.reported[replica.name] = replica.position


class HearsLate(Cluster):
    """Replies wait for the next send."""

    def may_hear(self, replica: ReplicaState) -> bool:
        """Require unsent transactions."""
        return replica.position < self.sendable() and super().may_hear(replica)


class RegistrationStarves(Cluster):
    """Reading one replica blocks others' registration."""

    def may_hear(self, replica: ReplicaState) -> bool:
        """Read the first replica only."""
        reported = self.heard.reported
        return (not reported or replica.name in reported) and super().may_hear(replica)


class LastReplyDecides(Cluster):
    """A reply overwrites other replicas' acknowledgements."""

    last_reply = 0

    def note(self, name: str, position: int) -> None:
        """Store the reply."""
        self.last_reply = position
        super().note(name, position)

    def is_acknowledged(self, position: int) -> bool:
        """Compare the last reply."""
        return self.last_reply >= position


class SilentAbandon(Cluster):
    """An abandoned wait counts as acknowledged."""

    def give_up(self, group: Group, why: Abandon) -> None:
        """Continue without an event."""
        group.has_given_up = True


class AbandonFreesAll(Cluster):
    """One abandoned wait acknowledges all waits."""

    def give_up(self, group: Group, why: Abandon) -> None:
        """Free every group."""
        super().give_up(group, why)
        for other in self.groups:
            other.has_given_up = True


class ShutdownAcknowledges(Cluster):
    """Shutdown acknowledges waits."""

    def give_up(self, group: Group, why: Abandon) -> None:
        """Record no shutdown."""
        if why is Abandon.SHUTDOWN:
            group.has_given_up = True
        else:
            super().give_up(group, why)


class StopsUnsent(Cluster):
    """A shutdown waits for commits only."""

    def may_stop(self) -> bool:
        """Ignore the replicas."""
        return not self.groups


class StaysOff(Cluster):
    """Semi-sync never returns to on."""

    def note(self, name: str, position: int) -> None:
        """Count the reply only."""
        was_on = self.is_on
        super().note(name, position)
        self.is_on = was_on


class LeavesWhenOneIsGone(Cluster):
    """Any closed connection ends waits."""

    def may_leave(self) -> bool:
        """Return whether any is missed."""
        return any(replica.is_missed for replica in self.replicas)


class AnswersAtOnce(Cluster):
    """AFTER_COMMIT answers before the wait."""

    def may_answer(self, group: Group) -> bool:
        """Return True."""
        return True


class NobodyCountsAsAll(Cluster):
    """Without replicas, waits end silently."""

    def wait_is_over(self, group: Group) -> bool:
        """Return True without connected replicas."""
        is_alone = not any(replica.is_connected for replica in self.replicas)
        return is_alone or super().wait_is_over(group)


_mutant("one_acknowledgement_suffices", OneSuffices, SEEN, "rpl_semi_sync_*_wait_for_slave_count",
        "fewer replicas than required release a position", acknowledgements=2)  # fmt: skip
_mutant("acknowledged_position_off_by_one", OffByOnePosition, SEEN, "mutant of handleAck",
        "a position releases the transaction after it")  # fmt: skip
_mutant("positions_compare_as_text", ComparesAsText, SEEN, "facts on MariaDB 3.2: strcmp",
        "position 9 lies behind position 10", transactions=11, reads=8, **CALM)  # fmt: skip
_mutant("least_slot_is_the_last_smaller", ReleasesLastSmaller, TOLD, "MySQL bug 109829",
        "a position is released that three of four replicas have", dialect="mysql_ordered",
        transactions=6, members=5, acknowledgements=4, reads=0, abandons=0, **CALM)  # fmt: skip
_mutant("connecting_counts_as_acknowledging", ConnectCounts, SEEN, "facts on MariaDB 3.3 g",
        "an empty replica connects at the end of the log", replica_crashes=2)  # fmt: skip
_mutant("connecting_position_is_ignored", ConnectIsIgnored, END, "MDEV-7591",
        "a replica that has everything connects, and is waited for", members=2,
        replica_crashes=1, **CALM)  # fmt: skip
_mutant("reply_is_read_late", HearsLate, END, "MySQL bug 68250",
        "the last reply is read with the next event, which does not come", **CALM)  # fmt: skip
_mutant("registration_starves", RegistrationStarves, END, "MySQL bug 89370",
        "a second replica is never heard", acknowledgements=2, **CALM)  # fmt: skip
_mutant("last_reply_decides", LastReplyDecides, CAUSE, "MDEV-32960",
        "an acknowledged transaction times out", abandons=1, abandon_by="time_out",
        **CALM)  # fmt: skip
_mutant("killed_waiter_commits_in_silence", SilentAbandon, SEEN, "facts on MariaDB 3.3 b, c",
        "a wait ends by KILL and nobody is told", abandons=1, **CALM)  # fmt: skip
_mutant("one_timeout_frees_all", AbandonFreesAll, SEEN, "facts on MariaDB 3.2: switch off",
        "a time-out ends other groups' waits in silence", abandons=1, reads=9, members=2,
        **CALM)  # fmt: skip
_mutant("shutdown_releases_as_acknowledged", ShutdownAcknowledges, SEEN, "MDEV-11853",
        "a shutdown kills waiters, whose transactions are seen afterwards", shutdowns=1,
        **CALM)  # fmt: skip
_mutant("waiting_shutdown_forgets_the_replicas", StopsUnsent,
        "waiting_shutdowns_send_everything", "SHUTDOWN WAIT FOR ALL SLAVES",
        "a source that should wait for its replicas stops when its commits are done",
        shutdowns=1, shutdown_waits=True, **CALM)  # fmt: skip
_mutant("semi_sync_stays_off", StaysOff, CAUSE, "ReplSemiSyncMaster::try_switch_on",
        "after a time-out no group waits any more", abandons=1, abandon_by="time_out",
        **CALM)  # fmt: skip
_mutant("wait_ends_when_one_replica_goes", LeavesWhenOneIsGone, CAUSE, "wait_no_slave=0",
        "a wait is given up although a replica is there", replica_crashes=1,
        waits_without_replicas=False, **CALM)  # fmt: skip
_mutant("client_is_told_before_the_wait", AnswersAtOnce, CONFIRMED, "MDEV-162",
        "under AFTER_COMMIT the answer comes before the acknowledgement",
        dialect="after_commit", source_crashes=0, rotations=0, reads=0)  # fmt: skip
_mutant("nobody_connected_counts_as_all", NobodyCountsAsAll, SEEN, "facts on MariaDB 3.3 f",
        "no replica is there and the wait is over", members=2, replica_crashes=3)  # fmt: skip
