"""Scripts by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ci.counterexamples.stage import Stage
from paraply.adapters.servers import Flavour

BOTH = (Flavour.MARIADB, Flavour.MYSQL)

Act = Callable[[Stage], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A deterministic run on real servers.

    Attributes:
        decides: the counterexamples that it is about.
    """

    name: str
    meaning: str
    decides: tuple[str, ...]
    families: tuple[Flavour, ...]
    act: Act


SCRIPTS: dict[str, Script] = {}


def script(name: str, *decides: str, on: tuple[Flavour, ...] = BOTH) -> Callable[[Act], Act]:
    """Register a script; its docstring is its meaning."""

    def register(act: Act) -> Act:
        assert act.__doc__ is not None
        SCRIPTS[name] = Script(
            name=name, meaning=" ".join(act.__doc__.split()), decides=decides, families=on, act=act
        )
        return act

    return register
