"""Subjects under test: named systems that turn a schedule and a workload into a history.

Registration adds properties, counterexample search and reports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeVar

from paraply.reference_impl.recorder import Recorder, program_of, seed_of
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.history import History, HistoryHeader, OptionValue
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.schema import TableSchema

UNKNOWN_SUBJECT = register(
    "P403",
    "there is no subject '{name}'",
    "choose one of: {known}",
)
UNKNOWN_OPTION = register(
    "P404",
    "subject {subject} has no option '{name}'",
    "choose one of: {known}",
)
UNKNOWN_SUBJECT_DIALECT = register(
    "P405",
    "subject {subject} has no dialect '{name}'",
    "choose one of: {known}",
)
OPTION_OF_WRONG_TYPE = register(
    "P406",
    "option {name} of subject {subject} is {value!r}, which is not a {expected}",
    "give it a {expected}; its default is {default}",
)
OPTION_OUT_OF_RANGE = register(
    "P409",
    "option {name} of subject {subject} is {value}",
    "choose {range}; its default is {default}",
)
WORKLOAD_OUT_OF_RANGE = register(
    "P407",
    "a workload of {count} {what} is out of range",
    "choose a number in [{least}, {greatest}]",
)

TRANSACTIONS_MAX = 1_000
ROWS_MAX = 64
MEMBERS_MAX = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Size of a run.

    Attributes:
        rows: rows to write, named ``a``, ``b``, ``c``, ...
        members: servers, where the subject has several.
        dialect: empty for the subject's first.
        options: missing ones have their defaults.
    """

    transactions: int = 4
    rows: int = 3
    members: int = 2
    dialect: str = ""
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, count, least, greatest in (
            ("transactions", self.transactions, 0, TRANSACTIONS_MAX),
            ("rows", self.rows, 1, ROWS_MAX),
            ("members", self.members, 1, MEMBERS_MAX),
        ):
            if not least <= count <= greatest:
                raise ParaplyError(
                    WORKLOAD_OUT_OF_RANGE, what=what, count=count, least=least, greatest=greatest
                )

    @property
    def row_names(self) -> tuple[str, ...]:
        """Return ``a`` to ``z``, then ``a1``, ``b1``, ..."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        return tuple(
            letters[row % 26] + (str(row // 26) if row >= 26 else "") for row in range(self.rows)
        )


SIZES = ("transactions", "rows", "members")
_NUMBER_DIGITS_MAX = 9
_BOOLEANS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


def workload_of_header(header: HistoryHeader) -> Workload:
    """Return a recorded history's workload; ``ParaplyError`` P406 for a size that is no number."""
    for name in SIZES:
        value = header.options.get(name, 0)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ParaplyError(
                OPTION_OF_WRONG_TYPE, name=name, subject=header.subject, value=value,
                expected="number", default=getattr(Workload(), name),
            )  # fmt: skip
    sizes = {name: int(header.options[name]) for name in SIZES if name in header.options}
    options = {name: value for name, value in header.options.items() if name not in SIZES}
    return Workload(dialect=header.dialect, options=options, **sizes)


def number_from_0(text: str) -> int:
    """Return a text as a number; ``ValueError`` has the reason."""
    if not (text.isascii() and text.isdigit() and len(text) <= _NUMBER_DIGITS_MAX):
        raise ValueError(f"it is a number from 0 of at most {_NUMBER_DIGITS_MAX} digits")
    return int(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A subject's option; ``default`` defines its type.

    A number lies in ``[least, greatest]``; a text is one of ``choices``, if any. ``small`` is for
    full enumeration.
    """

    name: str
    default: OptionValue
    meaning: str
    least: int = 0
    greatest: int = 1_000
    choices: tuple[str, ...] = ()
    small: OptionValue | None = None

    def parsed(self, text: str) -> OptionValue:
        """Return a text as a value of the option's type; ``ValueError`` has the reason."""
        if isinstance(self.default, bool):
            if text.lower() not in _BOOLEANS:
                raise ValueError("it is true or false")
            return _BOOLEANS[text.lower()]
        return number_from_0(text) if isinstance(self.default, int) else text

    def allows(self, value: OptionValue) -> bool:
        """Return whether a value is in range."""
        if isinstance(value, int) and not isinstance(value, bool):
            return self.least <= value <= self.greatest
        return not self.choices or value in self.choices

    @property
    def range(self) -> str:
        """Return the range for a message."""
        return (
            f"one of {', '.join(self.choices)}"
            if self.choices
            else (f"a number in [{self.least}, {self.greatest}]")
        )


@dataclass(frozen=True, slots=True)
class Cause:
    """An event that precedes an expected breach."""

    meaning: str
    occurs: Callable[[History], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBreaches:
    """Properties that a subject breaks under some options.

    Attributes:
        where: the options in words.
        applies: whether options and sizes, by name, match.
        because: why the breach is correct.
        dialects: empty for all.
        scope: sizes and further options that show it soon.
    """

    where: str
    applies: Callable[[Mapping[str, OptionValue]], bool]
    breaks: frozenset[str]
    because: str
    cause: Cause
    dialects: frozenset[str] = frozenset()
    scope: Workload = field(default_factory=Workload)

    def includes(self, name: str, dialect: str, settings: Mapping[str, OptionValue]) -> bool:
        """Return whether the property breaks here."""
        return name in self.breaks and self.is_of(dialect, settings)

    def is_of(self, dialect: str, settings: Mapping[str, OptionValue]) -> bool:
        """Return whether dialect and settings match."""
        return (not self.dialects or dialect in self.dialects) and self.applies(settings)


class Subject(ABC):
    """A stateless system under test; the schedule makes every choice.

    Attributes:
        source: document, section or server function.
        dialects: its rules, the default first.
        breaks: dialect -> properties that a search must find broken, as documented.
        causes: property -> event that must precede its breach.
        causes_in: dialect -> the same, where the dialect has a cause of its own.
        breaks_where: additional breaches under some options.
        follows: rare further breaches with the same cause.
        schema: tables of histories with rows.
        unreachable: dialect (empty for all) -> properties whose situation no run reaches. A
            campaign that does refutes the claim.
    """

    name: ClassVar[str] = ""
    meaning: ClassVar[str] = ""
    source: ClassVar[str] = ""
    dialects: ClassVar[tuple[str, ...]] = ("",)
    options: ClassVar[tuple[Option, ...]] = ()
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {}
    causes: ClassVar[Mapping[str, Cause]] = {}
    causes_in: ClassVar[Mapping[str, Mapping[str, Cause]]] = {}
    breaks_where: ClassVar[tuple[KnownBreaches, ...]] = ()
    follows: ClassVar[tuple[KnownBreaches, ...]] = ()
    schema: ClassVar[tuple[TableSchema, ...]] = ()
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {}

    def run(self, schedule: Schedule, workload: Workload) -> History:
        """Run once and return the history, with its choices.

        Raises ``ParaplyError`` P404, P405, P406 or P409 for an invalid dialect or option.
        """
        options = self.options_of(workload)
        dialect = self.dialect_of(workload)
        recorder = Recorder()
        schedule.watch(recorder.events)
        members = self.simulate(schedule, workload, dialect, options, recorder)
        return recorder.history(
            HistoryHeader(
                subject=self.name,
                dialect=dialect,
                seed=seed_of(schedule),
                program=program_of(schedule),
                options=self.settings_of(workload),
                schema=self.schema,
                members=members,
                recorded_by="reference_impl",
            )
        )

    @abstractmethod
    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Record one run; return the members' names."""

    def small_scope(self, workload: Workload) -> Workload:
        """Fill missing options with small values."""
        small = {one.name: one.small for one in self.options if one.small is not None}
        return replace(workload, options={**small, **workload.options})

    def known_breaches(self, workload: Workload) -> frozenset[str]:
        """Return a workload's known breaches.

        Raises ``ParaplyError`` P404, P405, P406 or P409, as ``run``.
        """
        dialect, settings = self.dialect_of(workload), self.settings_of(workload)
        with_options = (
            known.breaks for known in self.breaks_where if known.is_of(dialect, settings)
        )
        return self.breaks.get(dialect, frozenset()).union(*with_options)

    def causes_of(self, workload: Workload, name: str) -> tuple[Cause, ...]:
        """Return an expected breach's causes."""
        dialect, settings = self.dialect_of(workload), self.settings_of(workload)
        found = [
            known.cause
            for known in (*self.breaks_where, *self.follows)
            if known.includes(name, dialect, settings)
        ]
        if name in self.breaks.get(dialect, ()):
            causes = {**self.causes, **self.causes_in.get(dialect, {})}
            found.append(causes[name])
        return tuple(found)

    def settings_of(self, workload: Workload) -> dict[str, OptionValue]:
        """Return sizes and options, by name."""
        return {
            "transactions": workload.transactions,
            "rows": workload.rows,
            "members": workload.members,
            **self.options_of(workload),
        }

    def unreachable_in(self, dialect: str) -> frozenset[str]:
        """Return properties with unreachable situations."""
        return self.unreachable.get("", frozenset()) | self.unreachable.get(dialect, frozenset())

    def dialect_of(self, workload: Workload) -> str:
        """Return the dialect, or raise P405."""
        if not workload.dialect:
            return self.dialects[0]
        if workload.dialect not in self.dialects:
            raise ParaplyError(
                UNKNOWN_SUBJECT_DIALECT,
                subject=self.name,
                name=workload.dialect,
                known=", ".join(self.dialects),
            )
        return workload.dialect

    def options_of(self, workload: Workload) -> dict[str, OptionValue]:
        """Return all options; raises P404, P406 or P409."""
        known = {option.name: option for option in self.options}
        values = {option.name: option.default for option in self.options}
        for name, value in workload.options.items():
            if name not in values:
                raise ParaplyError(
                    UNKNOWN_OPTION,
                    subject=self.name,
                    name=name,
                    known=", ".join(values) or "none, it has no options",
                )
            if type(value) is not type(values[name]):
                raise ParaplyError(
                    OPTION_OF_WRONG_TYPE,
                    subject=self.name,
                    name=name,
                    value=value,
                    expected=type(values[name]).__name__,
                    default=values[name],
                )
            if not known[name].allows(value):
                raise ParaplyError(
                    OPTION_OUT_OF_RANGE,
                    subject=self.name,
                    name=name,
                    value=value,
                    range=known[name].range,
                    default=known[name].default,
                )
            values[name] = value
        return values


SubjectT = TypeVar("SubjectT", bound=Subject)

_SUBJECTS: dict[str, Subject] = {}


def register_subject(subject: SubjectT) -> SubjectT:
    """Register a subject; ``ValueError`` for a duplicate."""
    if subject.name in _SUBJECTS:
        raise ValueError(f"subject {subject.name} is registered twice")
    _SUBJECTS[subject.name] = subject
    return subject


@contextmanager
def registering_apart() -> Iterator[None]:
    """Forget at the end what is registered meanwhile."""
    global _SUBJECTS
    before, _SUBJECTS = _SUBJECTS, {}
    try:
        yield
    finally:
        _SUBJECTS = before


def registered_subjects() -> tuple[Subject, ...]:
    """Return subjects by name; import ``reference_impl.subjects`` first."""
    return tuple(_SUBJECTS[name] for name in sorted(_SUBJECTS))


def subject_named(name: str) -> Subject:
    """Return a subject, or raise ``ParaplyError`` P403."""
    if name not in _SUBJECTS:
        raise ParaplyError(UNKNOWN_SUBJECT, name=name, known=", ".join(sorted(_SUBJECTS)))
    return _SUBJECTS[name]
