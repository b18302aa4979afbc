"""Properties: what must be true of every history, and what must be reached by some.

An ALWAYS property is a pure function from a history to the breaches it finds. With it goes a
*witness*: whether the situation that it speaks of occurred at all. Without a witness an empty
list of breaches means nothing, and the verdict is UNKNOWN. A SOMETIMES property is such a
situation, registered under its own name: a campaign that never reaches it has not tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.history import History
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
Situation = Callable[[History], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A named fact about histories.

    Attributes:
        name: the fact, in the present tense; the name of the function that checks it.
        meaning: one sentence.
        source: document and section, server function, bug number or paper.
        expectation: ALWAYS or SOMETIMES.
        check: for ALWAYS, returns the breaches.
        witness: whether the situation it speaks of occurred; for SOMETIMES, the situation.
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

    @property
    def area(self) -> str:
        """Return the module that registered it, as room and name: ``apply/commit_order``."""
        module = (self.check or self.witness).__module__
        return module.removeprefix("paraply.properties.").replace(".", "/")

    def violations(self, history: History) -> tuple[Violation, ...]:
        """Return the breaches in the history; none for a SOMETIMES property."""
        return () if self.check is None else tuple(self.check(history))


def verdict_of(history: History, prop: Property) -> Verdict:
    """Return what one history says about one property.

    HOLDS needs a witness: a history in which the situation never occurred is UNKNOWN. A
    SOMETIMES property is never VIOLATED by one history.
    """
    if prop.violations(history):
        return Verdict.VIOLATED
    return Verdict.HOLDS if prop.witness(history) else Verdict.UNKNOWN


def verdict_over(histories: Iterable[History], prop: Property) -> Verdict:
    """Return what many histories say together.

    One violation decides; otherwise one witness among them suffices for HOLDS.
    """
    reached = False
    for history in histories:
        verdict = verdict_of(history, prop)
        if verdict is Verdict.VIOLATED:
            return verdict
        reached = reached or verdict is Verdict.HOLDS
    return Verdict.HOLDS if reached else Verdict.UNKNOWN


_PROPERTIES: dict[str, Property] = {}


def always(*, source: str, witness: Situation, is_safety: bool = True) -> Callable[[Check], Check]:
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
            )
        )
        return check

    return register_check


def sometimes(*, source: str) -> Callable[[Situation], Situation]:
    """Register the decorated predicate as a situation that a campaign must reach."""

    def register_situation(situation: Situation) -> Situation:
        _register(
            Property(
                name=situation.__name__,
                meaning=_first_paragraph(situation.__doc__),
                source=source,
                expectation=Expectation.SOMETIMES,
                witness=situation,
            )
        )
        return situation

    return register_situation


def registered_properties() -> tuple[Property, ...]:
    """Return the properties registered so far, in the order of registration."""
    return tuple(_PROPERTIES.values())


def property_named(name: str) -> Property:
    """Return a property by name; ``ParaplyError`` P520 if there is none."""
    if name not in _PROPERTIES:
        raise ParaplyError(UNKNOWN_PROPERTY, name=name)
    return _PROPERTIES[name]


def _register(prop: Property) -> None:
    if prop.name in _PROPERTIES:
        raise ValueError(f"property {prop.name} is registered twice")
    _PROPERTIES[prop.name] = prop


def _first_paragraph(docstring: str | None) -> str:
    """Return what stands before the first empty line, on one line."""
    return " ".join((docstring or "").strip().partition("\n\n")[0].split())
