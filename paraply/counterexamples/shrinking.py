"""Shrink a counterexample: transactions, rows, members, faults and choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle, islice

from paraply.counterexamples.hunt import (
    RUNS_BELOW,
    Faster,
    OracleOf,
    Spotted,
    hunt_runs,
    oracles_of,
)
from paraply.properties.registry import Property
from paraply.properties.search import Counterexample
from paraply.properties.shrinking import (
    UNCHANGED,
    BreakingRun,
    Choices,
    Edit,
    Enumerated,
    shrink_run,
)
from paraply.reference_impl.subject import SIZES, Option, Subject, Workload
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.programs import encode_program, format_program

CUT_LENGTH_MAX = 6
"""Approximate choices per transaction."""
CHECK_RUNS_MAX = 2_000
CHECK_CHOICES_MAX = 150
"""Longer programs need too many runs."""
RUNS_BELOW_MAX = 1_000
"""Enumerated; where there are more, as many are drawn."""
ATTEMPTS_MAX = 200
"""Runs per smaller size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimality:
    """Known minimality of a counterexample.

    Attributes:
        is_one_minimal: no single cut, or lower choice that is tried, gives a smaller breaking run.
        runs_below: runs made of one transaction less.
        is_exhausted: those are all, and none breaks the property.
    """

    is_one_minimal: bool
    runs_below: int
    is_exhausted: bool

    def __str__(self) -> str:
        first = "one-minimal" if self.is_one_minimal else "not shown to be one-minimal"
        if self.is_exhausted:
            return (
                f"{first}; with a transaction less no run breaks it: all {self.runs_below:,} made"
            )
        if self.runs_below:
            return f"{first}; {self.runs_below:,} runs with a transaction less break nothing"
        return first


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest:
    """The smallest found breaking run and its workload."""

    workload: Workload
    counterexample: Counterexample
    minimality: Minimality | None = None

    @property
    def program(self) -> str:
        """Return the choices as text."""
        return format_program(encode_program(self.counterexample.choices))


def make_small(
    subject: Subject,
    prop: Property,
    found: Spotted,
    *,
    seed: int,
    faster: Faster | None = None,
) -> Smallest:
    """Return a small breaking run.

    It tries random runs of smaller workloads from ``seed``, then cuts.
    """
    work = Shrinking(subject, oracles_of(subject, prop, faster))
    workload, spotted = found.workload, None
    if workload.transactions > 1:
        smaller = replace(workload, transactions=workload.transactions - 1)
        spotted = hunt_runs(work.ask, smaller, seed=seed, runs_max=RUNS_BELOW)
    spotted = work.drawn_in_smaller_workloads(spotted or found, seed)
    run = shrink_run(work.ask(spotted.workload), spotted.run)
    smallest = work.in_smaller_workloads(replace(spotted, run=run))
    below = work.enumerated_below(smallest)
    while below.run is not None:
        smallest = work.in_smaller_workloads(_fewer(smallest, below.run))
        below = work.enumerated_below(smallest)
    return Smallest(
        workload=smallest.workload,
        counterexample=work.ask(smallest.workload).counterexample(smallest.run, smallest.runs),
        minimality=work.minimality(smallest, below),
    )


def shrink_workload(subject: Subject, smallest: Smallest, prop: Property) -> Smallest:
    """Reduce the workload while it still breaks."""
    work = Shrinking(subject, oracles_of(subject, prop))
    before = Spotted.of(smallest.workload, smallest.counterexample)
    after = work.in_smaller_workloads(before)
    if after is before:
        return smallest
    counterexample = work.ask(after.workload).counterexample(after.run, after.runs)
    return Smallest(workload=after.workload, counterexample=counterexample)


def minimality_of(subject: Subject, smallest: Smallest, prop: Property) -> Minimality:
    """Return the known minimality."""
    work = Shrinking(subject, oracles_of(subject, prop))
    spotted = Spotted.of(smallest.workload, smallest.counterexample)
    return work.minimality(spotted, work.enumerated_below(spotted))


@dataclass(frozen=True, slots=True)
class Shrinking:
    """Shrinks runs of a subject."""

    subject: Subject
    ask: OracleOf

    @property
    def sizes(self) -> tuple[str, ...]:
        """Return what can be reduced, in the order of trying."""
        return *SIZES, *(one.name for one in self.subject.options)

    def drawn_in_smaller_workloads(self, found: Spotted, seed: int) -> Spotted:
        """Reduce sizes but transactions, as far as a few random runs break; take such a run.

        A random run of a small workload is shrunk sooner than a run of a large one. What breaks
        one workload often breaks the next, so its number is tried first.
        """
        # A hunt makes RUNS_BELOW runs of each smaller number of transactions before.
        first = (found.runs - 1) % RUNS_BELOW
        for size in self.sizes[1:]:
            while (drawn := self._drawn_with_less(found, size, seed, first)) is not None:
                found, first = drawn
        return found

    def in_smaller_workloads(self, smallest: Spotted) -> Spotted:
        """Reduce sizes until a whole round changes nothing.

        Transactions, rows, members, then options: each has its default, or a smaller number, unless
        the breach needs it.
        """
        sizes, in_vain = self.sizes, 0
        for size in cycle(sizes):
            while (smaller := self._with_less(smallest, size)) is not None:
                smallest, in_vain = smaller, 0
            in_vain += 1
            if in_vain >= len(sizes):
                break
        return smallest

    def enumerated_below(self, smallest: Spotted) -> Enumerated:
        """Enumerate one transaction less, or some of it and draw others; shrink breaches."""
        transactions = smallest.workload.transactions - 1
        if not transactions:
            return Enumerated(None, 0, False)
        oracle = self.ask(replace(smallest.workload, transactions=transactions))
        below = oracle.enumerated(RUNS_BELOW_MAX)
        if below.run is None and not below.is_complete:
            made, run = oracle.drawn(0, RUNS_BELOW_MAX)
            below = Enumerated(run, below.runs + made, False)
        return below if below.run is None else below._replace(run=shrink_run(oracle, below.run))

    def minimality(self, smallest: Spotted, below: Enumerated) -> Minimality:
        """Return the minimality without enumeration."""
        run = smallest.run
        again = shrink_run(self.ask(smallest.workload), run, runs_max=CHECK_RUNS_MAX)
        return Minimality(
            is_one_minimal=again == run and len(run.choices) < CHECK_CHOICES_MAX,
            runs_below=0 if below.run is not None else below.runs,
            is_exhausted=below.run is None and below.is_complete,
        )

    def _drawn_with_less(
        self, found: Spotted, size: str, seed: int, first: int
    ) -> tuple[Spotted, int] | None:
        """Return a breaking random run of a smaller workload, and its number."""
        for workload in _lowered(self.subject, found.workload, size):
            try:
                made, run = self.ask(workload).drawn(seed, RUNS_BELOW, first)
            except ParaplyError:
                continue  # Not every combination of options is a system.
            if run is not None:
                drawn = Spotted(workload=workload, run=run, runs=found.runs)
                return drawn, (first + made - 1) % RUNS_BELOW
        return None

    def _with_less(self, smallest: Spotted, size: str) -> Spotted | None:
        for workload in _lowered(self.subject, smallest.workload, size):
            choices = smallest.run.choices
            try:
                oracle = self.ask(workload)
                _, run = oracle.edited(choices, _shorter(choices))
                if run is None and self._is_default(workload, size):
                    # The same choices mean something else where there are others to make.
                    _, run = oracle.drawn(0, RUNS_BELOW)
            except ParaplyError:
                continue  # Not every combination of options is a system.
            if run is not None:
                return Spotted(workload=workload, run=shrink_run(oracle, run), runs=smallest.runs)
        return None

    def _is_default(self, workload: Workload, size: str) -> bool:
        return any(
            option.name == size and workload.options[size] == option.default
            for option in self.subject.options
        )


def _fewer(smallest: Spotted, run: BreakingRun) -> Spotted:
    less = replace(smallest.workload, transactions=smallest.workload.transactions - 1)
    return Spotted(workload=less, run=run, runs=smallest.runs)


def _is_number(option: Option) -> bool:
    return isinstance(option.default, int) and not isinstance(option.default, bool)


def _lowered(subject: Subject, workload: Workload, size: str) -> Iterator[Workload]:
    if size in SIZES:
        count = getattr(workload, size)
        if count > 1:
            yield replace(workload, **{size: count - 1})
        return
    (option,) = (one for one in subject.options if one.name == size)
    value = workload.options.get(size, option.default)
    if not _is_number(option):
        if value != option.default:
            yield replace(workload, options={**workload.options, size: option.default})
        return
    value, least, default = int(value), option.least, int(option.default)
    # Do not count down sizes like 25,000.
    for smaller in sorted({least, default, (least + value) // 2, value - 1}):
        if least <= smaller < value:
            yield replace(workload, options={**workload.options, size: smaller})


@lru_cache(maxsize=1)
def _shorter(choices: Choices) -> tuple[Edit, ...]:
    """Return the first edits that make a program shorter, for many workloads."""
    return UNCHANGED, *islice(_cut(choices), ATTEMPTS_MAX - 1)


def _cut(choices: Choices) -> Iterator[Edit]:
    for start in range(len(choices)):
        for length in range(1, min(CUT_LENGTH_MAX, len(choices) - start) + 1):
            if start == 0 or choices[start - 1] != choices[start + length - 1]:
                yield Edit(start, length)
