"""Subjects under test: named systems that turn a schedule and a workload into a history.

Whoever adds a subject registers it here and gets every property, the search for
counterexamples and the reports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
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
"""Runs keep every snapshot in memory; longer ones teach nothing that a thousand do not."""
ROWS_MAX = 64
MEMBERS_MAX = 9
"""A group has at most nine members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """How much is run: what is done, and in which order, is chosen by the schedule.

    Attributes:
        transactions: how many are submitted.
        rows: how many rows there are to write, named ``a``, ``b``, ``c``, ...
        members: servers, where the subject has several.
        dialect: name of the dialect, empty for the subject's first.
        options: the subject's own options by name; those not named have their defaults.
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
        """Return the rows' names: ``a`` to ``z``, then ``a1``, ``b1``, ..."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        return tuple(
            letters[row % 26] + (str(row // 26) if row >= 26 else "") for row in range(self.rows)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a subject; ``default`` also tells its type.

    A number lies in ``[least, greatest]``; a text is one of ``choices``, where there are any.
    ``small`` is what an enumeration of every run takes where nobody says otherwise.
    """

    name: str
    default: OptionValue
    meaning: str
    least: int = 0
    greatest: int = 1_000
    choices: tuple[str, ...] = ()
    small: OptionValue | None = None

    def allows(self, value: OptionValue) -> bool:
        """Return whether a value of the right type is in range."""
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
    """What happens in a run before a breach of it is expected.

    Attributes:
        meaning: what that is.
        occurs: whether it happens in a history.
    """

    meaning: str
    occurs: Callable[[History], bool]


NO_CAUSE_ASKED = Cause("the rules of the dialect or option", lambda _: True)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBreaches:
    """Properties that a subject is known to break where its options ask for it.

    Attributes:
        where: the options, as one would say them.
        applies: whether options are such; sizes of the workload are among them, by their names.
        breaks: names of the properties.
        because: why that is right of the subject.
        cause: what happens first in a run that breaks them.
        dialects: those it is true of; none named means all.
        scope: sizes, and options beside these, in which it shows soon.
    """

    where: str
    applies: Callable[[Mapping[str, OptionValue]], bool]
    breaks: frozenset[str]
    because: str
    cause: Cause = NO_CAUSE_ASKED
    dialects: frozenset[str] = frozenset()
    scope: Workload = field(default_factory=Workload)

    def includes(self, name: str, dialect: str, settings: Mapping[str, OptionValue]) -> bool:
        """Return whether a property is among them in a dialect, with options and sizes."""
        return name in self.breaks and self.is_of(dialect, settings)

    def is_of(self, dialect: str, settings: Mapping[str, OptionValue]) -> bool:
        """Return whether they are those of a dialect, with options and sizes."""
        return (not self.dialects or dialect in self.dialects) and self.applies(settings)


class Subject(ABC):
    """A system under test. It makes every choice through the schedule and keeps no state.

    Attributes:
        name: as the command line spells it.
        meaning: what it is, in one sentence.
        source: document, section or server function that it follows.
        dialects: the rules it can follow, the default first.
        options: what can be set beside the size of the workload.
        breaks: dialect -> names of properties that it is known to break, each explained in the
            documentation; to find them is expected, not to find them is a fault of the search.
        causes: property -> what must happen in a run before its breach is that of ``breaks``.
        breaks_where: what it is known to break in addition, with some options.
        follows: what breaks besides, too rarely to be sought, as a consequence of a cause.
        schema: the tables it writes, where its histories have rows.
        unreachable: dialect (empty for all) -> names of properties whose situation no run can
            reach, whatever its options. A campaign that does refutes the claim.
    """

    name: ClassVar[str] = ""
    meaning: ClassVar[str] = ""
    source: ClassVar[str] = ""
    dialects: ClassVar[tuple[str, ...]] = ("",)
    options: ClassVar[tuple[Option, ...]] = ()
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {}
    causes: ClassVar[Mapping[str, Cause]] = {}
    breaks_where: ClassVar[tuple[KnownBreaches, ...]] = ()
    follows: ClassVar[tuple[KnownBreaches, ...]] = ()
    schema: ClassVar[tuple[TableSchema, ...]] = ()
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {}

    def run(self, schedule: Schedule, workload: Workload) -> History:
        """Run once and return what happened; the history names the choices that made it.

        Raises ``ParaplyError`` P404, P405, P406 or P409 for a dialect or an option that does not
        fit.
        """
        options = self.options_of(workload)
        dialect = self.dialect_of(workload)
        recorder = Recorder()
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
        """Run once, tell ``recorder`` what happens, and return the members' names."""

    def small_scope(self, workload: Workload) -> Workload:
        """Return the workload with the options that it does not say small enough to enumerate."""
        small = {one.name: one.small for one in self.options if one.small is not None}
        return replace(workload, options={**small, **workload.options})

    def known_breaches(self, workload: Workload) -> frozenset[str]:
        """Return the properties that it is known to break in the workload's dialect and options.

        Raises ``ParaplyError`` P404, P405, P406 or P409 for a dialect or an option that does not
        fit.
        """
        dialect, settings = self.dialect_of(workload), self.settings_of(workload)
        with_options = (
            known.breaks for known in self.breaks_where if known.is_of(dialect, settings)
        )
        return self.breaks.get(dialect, frozenset()).union(*with_options)

    def causes_of(self, workload: Workload, name: str) -> tuple[Cause, ...]:
        """Return what may cause an expected breach of a property; none if none is expected."""
        dialect, settings = self.dialect_of(workload), self.settings_of(workload)
        found = [
            known.cause
            for known in (*self.breaks_where, *self.follows)
            if known.includes(name, dialect, settings)
        ]
        if name in self.breaks.get(dialect, ()):
            found.append(self.causes.get(name, NO_CAUSE_ASKED))
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
        """Return the properties whose situation no run in the dialect can reach."""
        return self.unreachable.get("", frozenset()) | self.unreachable.get(dialect, frozenset())

    def dialect_of(self, workload: Workload) -> str:
        """Return the dialect to run; P405 if the subject does not have the one named."""
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
        """Return every option with its value; P404, P406 or P409 for one that does not fit."""
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
    """Make a subject known by its name; a name that is taken raises ``ValueError``."""
    if subject.name in _SUBJECTS:
        raise ValueError(f"subject {subject.name} is registered twice")
    _SUBJECTS[subject.name] = subject
    return subject


def registered_subjects() -> tuple[Subject, ...]:
    """Return the subjects registered so far, by name; import ``reference_impl.subjects`` first."""
    return tuple(_SUBJECTS[name] for name in sorted(_SUBJECTS))


def subject_named(name: str) -> Subject:
    """Return a subject by name; ``ParaplyError`` P403 if there is none."""
    if name not in _SUBJECTS:
        raise ParaplyError(UNKNOWN_SUBJECT, name=name, known=", ".join(sorted(_SUBJECTS)))
    return _SUBJECTS[name]
