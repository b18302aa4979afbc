"""Carry a plan out, and heal it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from paraply.adapters.live.nemeses.field import Field
from paraply.adapters.live.nemeses.kinds import NEMESES, Nemesis
from paraply.adapters.live.nemeses.plan import Plan, Strike

_BEAT_S = 0.05


@dataclass(slots=True, kw_only=True)
class Deed:
    """What one strike did, with times of the recording."""

    strike: Strike
    victims: tuple[str, ...]
    what: str
    began_ns: int
    ended_ns: int = 0
    effect: str = ""
    views: tuple[str, ...] = field(default=())
    """What the members reported just before its end."""

    def sentence(self) -> str:
        """Return it as one line."""
        began, ended = self.began_ns / 1e9, self.ended_ns / 1e9
        views = f"; {'; '.join(self.views)}" if self.views else ""
        return (
            f"{self.strike.nemesis} from {began:.1f} s to {ended:.1f} s: {self.what}:"
            f" {self.effect}{views}"
        )


def carry_out(
    plan: Plan, field_: Field, now_ns: Callable[[], int], say: Callable[[str], None]
) -> Sequence[Deed]:
    """Start and stop every strike at its time; all have ended on return, also after an error.

    It uses the calling thread: a server ends with the thread that started it.
    """
    began = time.monotonic()
    running: dict[int, tuple[Nemesis, Deed]] = {}
    deeds: list[Deed] = []

    def stop(number: int, views: tuple[str, ...] = ()) -> None:
        nemesis, deed = running.pop(number)
        deed.views = views
        deed.effect = nemesis.stop(field_, deed.strike.aim)
        deed.ended_ns = now_ns()
        say(deed.sentence())

    try:
        for action in plan.actions():
            while (left := action.at_s - (time.monotonic() - began)) > 0:
                time.sleep(min(left, _BEAT_S))
            if action.is_start:
                strike = plan.strikes[action.number]
                nemesis = NEMESES[strike.nemesis]()
                deed = Deed(
                    strike=strike,
                    victims=tuple(field_.members[one].name for one in strike.aim.victims),
                    what="",
                    began_ns=now_ns(),
                )
                deeds.append(deed)
                # From here on it is stopped at the end, however its start goes.
                running[action.number] = nemesis, deed
                deed.what = nemesis.start(field_, strike.aim)
            else:
                stop(action.number, tuple(map(field_.sees, range(len(field_.members)))))
    finally:
        for number in list(running):
            stop(number)
    return deeds
