"""The benchmarks and their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the command line."""

    rounds: int
    megabytes: float
    folder: Path
    """Generated inputs."""
    seed: int
    seconds_max: float
    transactions: int = 1_000_000
    histories: int = 10_000_000
    keeps_inputs: bool = False
    """Generated inputs are kept for later runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One number of one contestant."""

    contestant: str
    quantity: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A promised bound with its measurement."""

    name: str
    wanted: float
    got: float
    at_most: bool = False

    @property
    def is_met(self) -> bool:
        """Return whether the measurement meets the goal."""
        return self.got <= self.wanted if self.at_most else self.got >= self.wanted

    @property
    def word(self) -> str:
        """Return ``PASS`` or ``MISS``."""
        return "PASS" if self.is_met else "MISS"


@dataclass(slots=True, kw_only=True)
class Report:
    """The result of one benchmark."""

    benchmark: str
    input: str
    measured: list[Measured] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """Omissions and extrapolations, with reasons."""

    def add(self, contestant: str, quantity: str, value: float, unit: str) -> None:
        """Add one number."""
        self.measured.append(
            Measured(contestant=contestant, quantity=quantity, value=value, unit=unit)
        )

    def as_json(self) -> dict[str, object]:
        """Return the report as plain values."""
        data = asdict(self)
        data["goals"] = [asdict(goal) | {"result": goal.word} for goal in self.goals]
        return data


MEGABYTES = 500.0
"""The usual size of generated logs."""
Benchmark = Callable[[Options], Report]
BENCHMARKS: dict[str, Benchmark] = {}
SIZES: dict[str, float] = {}
"""The usual size of each benchmark's logs, in megabytes."""


def benchmark(name: str, megabytes: float = MEGABYTES) -> Callable[[Benchmark], Benchmark]:
    """Register the decorated function as benchmark ``name``."""

    def register(function: Benchmark) -> Benchmark:
        if name in BENCHMARKS:
            raise ValueError(f"benchmark {name} is registered twice")
        BENCHMARKS[name], SIZES[name] = function, megabytes
        return function

    return register
