"""Properties: facts that hold for every history, and situations that some history must reach.

An ALWAYS property is a pure function from a history to its breaches. Its *witness* returns whether
the situation of the property occurred; without it the verdict is UNKNOWN. A SOMETIMES property is
such a situation under its own name: a campaign that never reaches it has not tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionKind
from paraply.vocabulary.verdict import Verdict

UNKNOWN_PROPERTY = register(
    "P520",
    "there is no property '{name}'",
    "`paraply list properties` has their names",
)


class Expectation(Enum):
    """How often a property is expected to be true."""

    ALWAYS = "always"
    """Of every history of a correct subject."""
    SOMETIMES = "sometimes"
    """Of some history of a campaign: shows that the interesting case was reached."""


class Violation:
    """What a property found: subclasses are small frozen dataclasses, named as the breach.

    ``str()`` of one is a sentence for a reader.
    """

    __slots__ = ()


Check = Callable[[History], Sequence[Violation]]
Situation = Callable[[History], int]
"""How many situations of a kind occurred; a bool where they are not counted."""
Gap = Callable[[History], Iterable[str]]
"""Yields, for each situation that a history cannot decide, what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How many of the relevant situations of a property were decidable.

    Attributes:
        relevant: situations of which the property speaks.
        decided: those of them that the recorded events and fields decide.
        missing: what the first of the others lacks.
    """

    relevant: int = 0
    decided: int = 0
    missing: str = ""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict where there is no breach."""
        is_whole = 0 < self.relevant == self.decided
        return Verdict.HOLDS if is_whole else Verdict.UNKNOWN

    @property
    def reason(self) -> str:
        """Return why the verdict is UNKNOWN; empty where it is not."""
        if not self.relevant:
            return "its situation does not occur"
        return f"{self}: {self.missing}" if self.decided < self.relevant else ""

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(
            relevant=self.relevant + other.relevant,
            decided=self.decided + other.decided,
            missing=self.missing or other.missing,
        )

    def __str__(self) -> str:
        return f"{self.decided:,} of {self.relevant:,}"


NO_EVIDENCE = Evidence()

Vocabulary = Callable[[History], bool]
"""Whether a history records what a property reads; its docstring says what that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """Histories to which a property does not apply although it understands them.

    Attributes:
        applies: whether a history is one of them.
        because: why the property is no requirement there.
    """

    applies: Callable[[History], bool]
    because: str


def any_history(history: History) -> bool:
    """Events of any kind."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A named fact about histories.

    Attributes:
        name: the fact, in the present tense; the name of the function that checks it.
        meaning: one sentence.
        source: document and section, server function, bug number or paper.
        expectation: ALWAYS or SOMETIMES.
        check: for ALWAYS, returns the breaches.
        witness: how many situations it judges; for SOMETIMES, the situation.
        of: the vocabulary that it understands; it applies to every history that has it.
        exemptions: histories to which it does not apply all the same.
        needs: kinds of events without which none of its situations is decidable.
        gaps: single situations that a history cannot decide, by what is missing.
        is_safety: False for properties of precision and speed, which a correct but slower
            subject may break.
    """

    name: str
    meaning: str
    source: str
    expectation: Expectation
    witness: Situation
    check: Check | None = None
    is_safety: bool = True
    of: Vocabulary = any_history
    exemptions: tuple[Exemption, ...] = ()
    needs: tuple[EventKind, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def area(self) -> str:
        """Return the module that registered it, as room and name: ``apply/commit_order``."""
        module = (self.check or self.witness).__module__
        return module.removeprefix("paraply.properties.").replace(".", "/")

    def except_where(self, exemptions: Iterable[Exemption]) -> Property:
        """Return the property with further exemptions."""
        return replace(self, exemptions=(*self.exemptions, *exemptions))

    def applies_to(self, history: History) -> bool:
        """Return whether the property is a requirement on such a history."""
        return _understands(self.of, history) and not any(
            _understands(one.applies, history) for one in self.exemptions
        )

    def violations(self, history: History) -> tuple[Violation, ...]:
        """Return the breaches in the history; none where the property is no requirement."""
        if self.check is None or not self.applies_to(history):
            return ()
        return tuple(self.check(history))

    def evidence(self, history: History) -> Evidence:
        """Return how many situations the history has for the property, and decides."""
        if not self.applies_to(history):
            return NO_EVIDENCE
        decided = int(self.witness(history))
        missing = [text for gap in self.gaps for text in gap(history)]
        relevant = decided + len(missing)
        absent = [f"no {kind.value} events" for kind in self.needs if kind not in history.kinds]
        if absent and decided:
            decided, missing = 0, absent
        return Evidence(relevant=relevant, decided=decided, missing=missing[0] if missing else "")


_LAST: list[tuple[History, dict[Vocabulary, bool]]] = []
"""The history judged last: many properties share a vocabulary."""


def _understands(vocabulary: Vocabulary, history: History) -> bool:
    if not _LAST or _LAST[0][0] is not history:
        _LAST[:] = [(history, {})]
    known = _LAST[0][1]
    if vocabulary not in known:
        known[vocabulary] = vocabulary(history)
    return known[vocabulary]


_ABSENT: tuple[object, ...] = (None, "", (), frozenset())


def write_sets(history: History) -> Iterator[str]:
    """Yield the transactions that change rows and whose write set is not recorded."""
    for one in history.transactions:
        if one.kind is TransactionKind.ROWS and not one.write_set:
            yield f"no write set of T{one.id}"


def fields(kind: EventKind, *names: str, where: Callable[[Event], bool] | None = None) -> Gap:
    """Return the gap of events of a kind that lack one of the fields named."""

    def lacking(history: History) -> Iterator[str]:
        for event in history.events_of(kind):
            if where is None or where(event):
                missing = [name for name in names if getattr(event, name) in _ABSENT]
                if missing:
                    yield f"{kind.value} without {' and '.join(missing)}"

    return lacking


def verdict_of(history: History, prop: Property) -> Verdict:
    """Return what one history says about one property.

    A SOMETIMES property is never VIOLATED by one history.
    """
    return Verdict.VIOLATED if prop.violations(history) else prop.evidence(history).verdict


def verdict_over(histories: Iterable[History], prop: Property) -> Verdict:
    """Return what many histories say together: a breach decides, then a gap."""
    evidence = NO_EVIDENCE
    for history in histories:
        if prop.violations(history):
            return Verdict.VIOLATED
        evidence += prop.evidence(history)
    return evidence.verdict


_PROPERTIES: dict[str, Property] = {}


def always(
    *,
    source: str,
    witness: Situation,
    is_safety: bool = True,
    of: Vocabulary = any_history,
    exemptions: Iterable[Exemption] = (),
    needs: Iterable[EventKind] = (),
    gaps: Iterable[Gap] = (),
) -> Callable[[Check], Check]:
    """Register the decorated check as a property that every history must have.

    Its name is the function's, its meaning the first paragraph of the function's docstring.
    """

    def register_check(check: Check) -> Check:
        _register(
            Property(
                name=check.__name__,
                meaning=_first_paragraph(check.__doc__),
                source=source,
                expectation=Expectation.ALWAYS,
                witness=witness,
                check=check,
                is_safety=is_safety,
                of=of,
                exemptions=tuple(exemptions),
                needs=tuple(needs),
                gaps=tuple(gaps),
            )
        )
        return check

    return register_check


def sometimes(*, source: str, of: Vocabulary = any_history) -> Callable[[Situation], Situation]:
    """Register the decorated predicate as a situation that a campaign must reach."""

    def register_situation(situation: Situation) -> Situation:
        _register(
            Property(
                name=situation.__name__,
                meaning=_first_paragraph(situation.__doc__),
                source=source,
                expectation=Expectation.SOMETIMES,
                witness=situation,
                of=of,
            )
        )
        return situation

    return register_situation


def registered_properties() -> tuple[Property, ...]:
    """Return the properties registered so far, in the order of registration."""
    return tuple(_PROPERTIES.values())


def property_named(name: str) -> Property:
    """Return a property that was asked for, to be judged whatever the history is.

    Raises ``ParaplyError`` P520 if there is none.
    """
    if name not in _PROPERTIES:
        raise ParaplyError(UNKNOWN_PROPERTY, name=name)
    return replace(_PROPERTIES[name], of=any_history, exemptions=())


def _register(prop: Property) -> None:
    if prop.name in _PROPERTIES:
        raise ValueError(f"property {prop.name} is registered twice")
    _PROPERTIES[prop.name] = prop


def _first_paragraph(docstring: str | None) -> str:
    """Return what stands before the first empty line, on one line."""
    return " ".join((docstring or "").strip().partition("\n\n")[0].split())
