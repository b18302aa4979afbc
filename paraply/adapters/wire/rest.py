"""Whether a program rests, from the states and processor time of its threads (Linux)."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from paraply.adapters.conformance.child import descendants

_LOOK_S = 0.002
_CALM_LOOKS = 2
_POLLER_LOOKS = 5
_POLLER_S = 0.01
_POLLER_SHARE_MAX = 0.1
_SPINNER_CPU_S = 0.5
_WALL_S_MAX = 30.0


@dataclass(frozen=True, slots=True)
class _Look:
    sleeps: bool
    cpu_ns: int


def _look(pid: int) -> _Look:
    sleeps, cpu_ns = True, 0
    for one in (pid, *descendants(pid)):
        with suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                with suppress(OSError, IndexError):
                    state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                    sleeps = sleeps and state in "SIZTt"
                    cpu_ns += int((task / "schedstat").read_text().split()[0])
    return _Look(sleeps, cpu_ns)


class RestWatch:
    """Decides between two packets whether a program still works.

    It rests if all threads sleep and used no processor time between two looks. A poller rests if
    it sleeps in five looks and used less than a tenth of the time. A program that used half a
    second of processor time without a packet counts as spinning: a forced rest.
    """

    def __init__(self) -> None:
        self._looks: list[tuple[float, _Look]] = []
        self._started_ns = 0
        self._started_s = 0.0

    def restart(self) -> None:
        """Forget all looks, because a packet came."""
        self._looks.clear()

    def state_of(self, pid: int) -> str:
        """Return ``rests``, ``works`` or ``spins``."""
        now, look = time.monotonic(), _look(pid)
        if not self._looks:
            self._started_ns, self._started_s = look.cpu_ns, now
        self._looks.append((now, look))
        last = self._looks[-_CALM_LOOKS:]
        if (
            len(last) == _CALM_LOOKS
            and all(one.sleeps for _, one in last)
            and last[0][1].cpu_ns == last[1][1].cpu_ns
        ):
            return "rests"
        asleep = [one for one in self._looks if one[1].sleeps][-_POLLER_LOOKS:]
        if len(asleep) == _POLLER_LOOKS and asleep[-1][0] - asleep[0][0] >= _POLLER_S:
            ran_s = (asleep[-1][1].cpu_ns - asleep[0][1].cpu_ns) / 1e9
            if ran_s < _POLLER_SHARE_MAX * (asleep[-1][0] - asleep[0][0]):
                return "rests"
        spent_s = (look.cpu_ns - self._started_ns) / 1e9
        if spent_s > _SPINNER_CPU_S or now - self._started_s > _WALL_S_MAX:
            return "spins"
        return "works"

    @staticmethod
    def pause_s() -> float:
        """Return the time between two looks."""
        return _LOOK_S
