"""The members that nemeses strike, and their equipment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from paraply.adapters.live.nemeses.shim import SharedPage
from paraply.adapters.live.nemeses.wires import Wires
from paraply.adapters.servers.server import Server
from paraply.adapters.servers.unprivileged import give

SHIM, FAKETIME = "shim", "faketime"
_FAKETIME_LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
)
_NO_JUMP = "+0"
SHORTLY = {"read_timeout": 2, "connect_timeout": 2}
"""Driver arguments, in seconds, for a look at a member that may hang."""


def faketime_library() -> Path | None:
    """Return Debian's library, if installed."""
    return next((one for one in map(Path, _FAKETIME_LIBRARIES) if one.is_file()), None)


@dataclass(slots=True)
class Equipment:
    """What the servers of a room get before they start."""

    needs: frozenset[str]
    """SHIM, FAKETIME."""
    owners: dict[int, int] = field(default_factory=dict)
    """Members by the ports that they use besides the client port."""
    servers: list[Server] = field(default_factory=list)
    wires: Wires | None = None
    pages: list[SharedPage] = field(default_factory=list)
    """By member."""
    clocks: list[Path] = field(default_factory=list)
    """Files with the jump of each member's clock."""

    def __post_init__(self) -> None:
        if SHIM in self.needs:
            self.wires = Wires(self.owner_of)

    def owner_of(self, port: int) -> int | None:
        """Return the member that listens on a port."""
        if port in self.owners:
            return self.owners[port]
        return next((n for n, one in enumerate(self.servers) if one.port == port), None)

    def equip(self, server: Server) -> None:
        """Give a new server its page, its clock and its libraries."""
        self.servers.append(server)
        environment: dict[str, str] = {}
        libraries: list[str] = []
        if FAKETIME in self.needs:
            clock = server.directory / "clock"
            clock.write_text(_NO_JUMP, encoding="ascii")
            self.clocks.append(clock)
            libraries.append(str(faketime_library()))
            environment |= {
                "FAKETIME_TIMESTAMP_FILE": str(clock),
                "FAKETIME_CACHE_DURATION": "1",
                # A jump changes the time of day, and no measured time.
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_DONT_RESET": "1",
                "NO_FAKE_STAT": "1",
            }
        if SHIM in self.needs:
            page = SharedPage(server.directory / "shim.page", server.datadir)
            if self.wires is not None:
                page.page.hub_port = self.wires.hub(len(self.pages), page.page.wanted.__getitem__)
            self.pages.append(page)
            own = page.environment()
            libraries.append(own.pop("LD_PRELOAD"))
            environment |= own
        give(server.directory, server.run_as)
        server.environment = {**environment, "LD_PRELOAD": ":".join(libraries)}

    def close(self) -> None:
        """Close the wires."""
        if self.wires is not None:
            self.wires.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Running members."""

    members: Sequence[Server]
    equipment: Equipment
    view_of: Callable[[Server], str]
    """What a member reports of itself and the others."""
    recover: Callable[[], Sequence[str]]
    """Brings all members back after all faults have ended; returns notes."""

    @property
    def wires(self) -> Wires:
        """Return the links; ``ValueError`` without."""
        if self.equipment.wires is None:
            raise ValueError("the members have no wires that can be cut")
        return self.equipment.wires

    def sees(self, number: int) -> str:
        """Return a member's state and view."""
        server = self.members[number]
        if not server.is_running:
            return f"{server.name} does not run"
        if is_stopped(server):
            return f"{server.name} is stopped"
        with suppress(Exception):  # A struck member fails in many ways.
            return f"{server.name}: {self.view_of(server)}"
        return f"{server.name} does not answer"


def query_shortly(server: Server, statement: str) -> list[tuple[object, ...]]:
    """Run a statement with a short time limit."""
    return server.query(statement, **SHORTLY)


def is_stopped(server: Server) -> bool:
    """Return whether the kernel has stopped the process (SIGSTOP)."""
    try:
        state = Path(f"/proc/{server.process.pid}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] == "T"
