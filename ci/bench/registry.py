"""The benchmarks by name, and the form in which each tells its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line chose."""

    rounds: int
    megabytes: float
    folder: Path
    """Where inputs are generated and kept for the next run."""
    seed: int
    seconds_max: float
    transactions: int = 1_000_000
    """Size of the tables of transactions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One number of one contestant."""

    contestant: str
    quantity: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A promised ratio or bound, and the measured one."""

    name: str
    wanted: float
    got: float
    at_most: bool = False

    @property
    def is_met(self) -> bool:
        """Return whether the promise was kept."""
        return self.got <= self.wanted if self.at_most else self.got >= self.wanted

    @property
    def word(self) -> str:
        """Return ``PASS`` or ``MISS``."""
        return "PASS" if self.is_met else "MISS"


@dataclass(slots=True, kw_only=True)
class Report:
    """What one benchmark found."""

    benchmark: str
    input: str
    measured: list[Measured] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """What was skipped or extrapolated, and why."""

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


Benchmark = Callable[[Options], Report]
BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(name: str) -> Callable[[Benchmark], Benchmark]:
    """Register the decorated function as the benchmark ``name``."""

    def register(function: Benchmark) -> Benchmark:
        if name in BENCHMARKS:
            raise ValueError(f"benchmark {name} is registered twice")
        BENCHMARKS[name] = function
        return function

    return register
