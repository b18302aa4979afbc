"""The nemeses: each starts and stops one kind of fault, and reports its effect."""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from paraply.adapters.live.nemeses import shapes
from paraply.adapters.live.nemeses.field import (
    FAKETIME,
    SHIM,
    Field,
    faketime_library,
    is_stopped,
    query_shortly,
)
from paraply.adapters.live.nemeses.plan import Aim
from paraply.adapters.live.nemeses.shim import SharedPage, why_no_shim

_JUMPS_S = (-3600, -60, -2, 2, 60, 3600)
_DELAYS_MS = (20, 500)
_ALLOWANCE_BYTES = (0, 1 << 20)
_STOPPED_SECONDS_MAX = 2.0
_FAKETIME_PACKAGE = "Debian's libfaketime is not installed (ci/servers --only faketime)"


class Nemesis(ABC):
    """A kind of fault, for one strike."""

    name: ClassVar[str]
    meaning: ClassVar[str]
    resource: ClassVar[str]
    """What it changes; strikes on one resource do not overlap."""
    needs: ClassVar[frozenset[str]] = frozenset()
    members_min: ClassVar[int] = 2

    @abstractmethod
    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw victims and amounts."""

    @abstractmethod
    def start(self, field: Field, aim: Aim) -> str:
        """Begin the fault, and return what it does."""

    @abstractmethod
    def stop(self, field: Field, aim: Aim) -> str:
        """End the fault, and return the effect that was seen."""

    def why_not(self) -> str:
        """Return why this machine cannot have it, or empty."""
        if SHIM in self.needs and (reason := why_no_shim()):
            return f"its preloaded library: {reason}"
        if FAKETIME in self.needs and faketime_library() is None:
            return _FAKETIME_PACKAGE
        return ""


class _Partition(Nemesis):
    needs = frozenset({SHIM})

    def __init__(self) -> None:
        self._before = 0

    def start(self, field: Field, aim: Aim) -> str:
        self._before = self._withheld(field, aim)
        field.wires.cut(aim.cut)
        names = [one.name for one in field.members]
        return "cut " + ", ".join(f"{names[one]}→{names[other]}" for one, other in sorted(aim.cut))

    def stop(self, field: Field, aim: Aim) -> str:
        field.wires.mend(aim.cut)
        return f"{self._withheld(field, aim) - self._before:,} messages withheld"

    def _withheld(self, field: Field, aim: Aim) -> int:
        return sum(field.wires.withheld[pair] for pair in aim.cut)


class PartitionMinority(_Partition):
    """A minority is cut off."""

    name = resource = "partition-minority"
    meaning = "a minority of the members is cut off from the others"

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw the shape."""
        return shapes.minority(dice, members)


class PartitionMajority(_Partition):
    """No part has a quorum."""

    name = resource = "partition-majority"
    meaning = "each member of a majority is alone, so that no part has a quorum"

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw the shape."""
        return shapes.majority(dice, members)


class PartitionBridge(_Partition):
    """Two halves share one member."""

    name = resource = "partition-bridge"
    meaning = "two halves are cut off from each other, and one member reaches both"
    members_min = 3

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw the shape."""
        return shapes.bridge(dice, members)


class PartitionOneWay(_Partition):
    """Data passes in one direction."""

    name = resource = "partition-one-way"
    meaning = "what a minority sends, or what it receives, does not arrive"

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw the shape."""
        return shapes.one_way(dice, members)


class Pause(Nemesis):
    """Processes stand still."""

    name = resource = "pause"
    meaning = "members are stopped (SIGSTOP) and continued (SIGCONT)"

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw some members, never all."""
        return Aim(victims=_some(dice, members, members - 1))

    def start(self, field: Field, aim: Aim) -> str:
        """Stop the processes, and wait until the kernel shows it."""
        for victim in aim.victims:
            field.members[victim].freeze()
        deadline = time.monotonic() + _STOPPED_SECONDS_MAX
        while time.monotonic() < deadline and not all(self._stopped(field, aim)):
            time.sleep(0.01)
        return f"SIGSTOP to {_processes(field, aim)}"

    def stop(self, field: Field, aim: Aim) -> str:
        """Continue the processes."""
        stopped = sum(self._stopped(field, aim))
        for victim in aim.victims:
            field.members[victim].thaw()
        return f"{stopped} of {len(aim.victims)} processes were stopped until then"

    def _stopped(self, field: Field, aim: Aim) -> list[bool]:
        return [is_stopped(field.members[one]) for one in aim.victims]


class Crash(Nemesis):
    """Processes end at once."""

    name = resource = "crash"
    meaning = "one, several or all members are killed at once (SIGKILL), and started at the end"

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw up to all members."""
        return Aim(victims=_some(dice, members, members))

    def start(self, field: Field, aim: Aim) -> str:
        """Kill the processes."""
        killed = _processes(field, aim)
        for victim in aim.victims:
            field.members[victim].kill()
        return f"SIGKILL to {killed}"

    def stop(self, field: Field, aim: Aim) -> str:
        """Leave the restart to the recovery: members join under no other fault."""
        dead = sum(not field.members[one].is_running for one in aim.victims)
        return f"{dead} of {len(aim.victims)} processes did not run"


class Clock(Nemesis):
    """The time of day jumps."""

    name = resource = "clock"
    meaning = "the time of day of members jumps (libfaketime), and jumps back"
    needs = frozenset({FAKETIME})

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw victims and one jump in seconds."""
        return Aim(victims=_some(dice, members, members), amount=dice.choice(_JUMPS_S))

    def start(self, field: Field, aim: Aim) -> str:
        """Jump."""
        for victim in aim.victims:
            field.equipment.clocks[victim].write_text(f"{aim.amount:+d}", encoding="ascii")
        return f"the clock of {_names(field, aim)} jumps by {aim.amount:+,d} s"

    def stop(self, field: Field, aim: Aim) -> str:
        """Jump back; return what the members' clocks showed before."""
        shown = []
        for victim in aim.victims:
            server = field.members[victim]
            if server.is_running and not is_stopped(server):
                try:
                    ((seen,),) = query_shortly(server, "SELECT UNIX_TIMESTAMP(SYSDATE(6))")
                    shown.append(f"{server.name} {float(str(seen)) - time.time():+,.0f} s")
                except Exception:  # A struck member fails in many ways.
                    shown.append(f"{server.name} does not answer")
        for victim in aim.victims:
            field.equipment.clocks[victim].write_text("+0", encoding="ascii")
        return f"clocks differ from this machine's: {', '.join(shown) or 'none was read'}"


class _Disk(Nemesis):
    needs = frozenset({SHIM})

    def __init__(self) -> None:
        self._before = 0

    def pages(self, field: Field, aim: Aim) -> Sequence[SharedPage]:
        return [field.equipment.pages[victim] for victim in aim.victims]


class SlowDisk(_Disk):
    """Each fsync takes long."""

    name, resource = "slow-disk", "syncs"
    meaning = "each fsync and fdatasync of members is delayed"

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw victims and milliseconds."""
        return Aim(victims=_some(dice, members, members), amount=dice.randint(*_DELAYS_MS))

    def start(self, field: Field, aim: Aim) -> str:
        """Delay from now on."""
        self._before = self._delayed(field, aim)
        for one in self.pages(field, aim):
            one.page.sync_delay_ms = aim.amount
        return f"each fsync of {_names(field, aim)} takes {aim.amount} ms longer"

    def stop(self, field: Field, aim: Aim) -> str:
        """Delay no more."""
        for one in self.pages(field, aim):
            one.page.sync_delay_ms = 0
        return f"{self._delayed(field, aim) - self._before:,} fsync calls delayed"

    def _delayed(self, field: Field, aim: Aim) -> int:
        return sum(one.page.syncs_delayed for one in self.pages(field, aim))


class LostSyncs(_Disk):
    """Fsync has no effect."""

    name, resource = "lost-syncs", "syncs"
    meaning = "each fsync and fdatasync of members returns at once, without effect"

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw victims."""
        return Aim(victims=_some(dice, members, members))

    def start(self, field: Field, aim: Aim) -> str:
        """Drop from now on."""
        self._before = self._dropped(field, aim)
        for one in self.pages(field, aim):
            one.page.sync_dropped = 1
        return f"no fsync of {_names(field, aim)} has an effect"

    def stop(self, field: Field, aim: Aim) -> str:
        """Drop no more."""
        for one in self.pages(field, aim):
            one.page.sync_dropped = 0
        return f"{self._dropped(field, aim) - self._before:,} fsync calls dropped"

    def _dropped(self, field: Field, aim: Aim) -> int:
        return sum(one.page.syncs_dropped for one in self.pages(field, aim))


class DiskFull(_Disk):
    """Files cannot grow."""

    name = resource = "disk-full"
    meaning = "the files of members cannot grow any more (ENOSPC)"

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw some members, never all, and the bytes that still fit."""
        return Aim(
            victims=_some(dice, members, members - 1), amount=dice.randint(*_ALLOWANCE_BYTES)
        )

    def start(self, field: Field, aim: Aim) -> str:
        """Refuse after the allowance."""
        self._before = self._refused(field, aim)
        for one in self.pages(field, aim):
            one.page.bytes_left = aim.amount
            one.page.is_full = 1
        return f"the disk of {_names(field, aim)} has {aim.amount:,} bytes left"

    def stop(self, field: Field, aim: Aim) -> str:
        """Accept all again."""
        for one in self.pages(field, aim):
            one.page.is_full = 0
        return f"{self._refused(field, aim) - self._before:,} writes refused (ENOSPC)"

    def _refused(self, field: Field, aim: Aim) -> int:
        return sum(one.page.writes_refused for one in self.pages(field, aim))


NEMESES: dict[str, type[Nemesis]] = {
    one.name: one
    for one in (
        PartitionMinority, PartitionMajority, PartitionBridge, PartitionOneWay, Pause, Crash,
        Clock, SlowDisk, LostSyncs, DiskFull,
    )
}  # fmt: skip


def _some(dice: random.Random, members: int, most: int) -> tuple[int, ...]:
    return tuple(sorted(dice.sample(range(members), dice.randint(1, max(1, most)))))


def _names(field: Field, aim: Aim) -> str:
    return ", ".join(field.members[one].name for one in aim.victims)


def _processes(field: Field, aim: Aim) -> str:
    found = []
    for one in aim.victims:
        server = field.members[one]
        found.append(
            f"{server.name} (pid {server.process.pid})"
            if server.is_running
            else f"{server.name} (no process)"
        )
    return ", ".join(found)
