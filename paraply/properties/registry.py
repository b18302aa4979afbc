"""Properties: facts of every history, and situations that some history must reach.

An ALWAYS property is a pure function from a history to its breaches; without a situation
(*witness*) the verdict is UNKNOWN. Some history of a campaign must reach each SOMETIMES situation.
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
    """How often a property must be true."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"


class Violation:
    """A breach; ``str()`` returns a sentence."""

    __slots__ = ()


Check = Callable[[History], Sequence[Violation]]
Situation = Callable[[History], int]
"""Counts situations, or returns a bool."""
Gap = Callable[[History], Iterable[str]]
"""Yields what each undecidable situation lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Counts of a property's situations.

    Attributes:
        missing: what the first undecided one lacks.
    """

    relevant: int = 0
    decided: int = 0
    missing: str = ""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict, assuming no breach."""
        is_whole = 0 < self.relevant == self.decided
        return Verdict.HOLDS if is_whole else Verdict.UNKNOWN

    @property
    def reason(self) -> str:
        """Return why the verdict is UNKNOWN."""
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
"""Whether a history records what a property reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemption:
    """Histories to which an understood property does not apply."""

    applies: Callable[[History], bool]
    because: str


def any_history(history: History) -> bool:
    """Events of any kind."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A named fact about histories.

    Attributes:
        name: also the checking function's name.
        source: document section, server function, bug number or paper.
        check: None for SOMETIMES.
        witness: counts its situations.
        of: the required vocabulary.
        needs: kinds of events without which nothing is decided: neither held nor broken.
        gaps: single undecidable situations.
        is_safety: False for precision and speed, which a correct but slower subject may break.
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
        """Return the registering module: ``apply/commit_order``."""
        module = (self.check or self.witness).__module__
        return module.removeprefix("paraply.properties.").replace(".", "/")

    def except_where(self, exemptions: Iterable[Exemption]) -> Property:
        """Return a copy with further exemptions."""
        return replace(self, exemptions=(*self.exemptions, *exemptions))

    def applies_to(self, history: History) -> bool:
        """Return whether the property applies to the history."""
        return _understands(self.of, history) and not any(
            _understands(one.applies, history) for one in self.exemptions
        )

    def violations(self, history: History) -> tuple[Violation, ...]:
        """Return the breaches."""
        if self.check is None or self._absent(history) or not self.applies_to(history):
            return ()
        return tuple(self.check(history))

    def _absent(self, history: History) -> list[str]:
        return [f"no {kind.value} events" for kind in self.needs if kind not in history.kinds]

    def evidence(self, history: History, breaches: Sequence[Violation] | None = None) -> Evidence:
        """Return the counts of situations; ``breaches`` saves asking for them again."""
        if not self.applies_to(history):
            return NO_EVIDENCE
        counted = int(self.witness(history))
        missing = [text for gap in self.gaps for text in gap(history)]
        absent = self._absent(history)
        decided = 0 if absent else counted
        if not decided and not absent:
            # Witnesses count where sound subjects show themselves; others also break elsewhere.
            decided = len(self.violations(history) if breaches is None else breaches)
        relevant = max(counted, decided) + len(missing)
        if absent and counted:
            missing = absent
        return Evidence(relevant=relevant, decided=decided, missing=missing[0] if missing else "")


_LAST: list[tuple[History, dict[Vocabulary, bool]]] = []


def _understands(vocabulary: Vocabulary, history: History) -> bool:
    if not _LAST or _LAST[0][0] is not history:
        _LAST[:] = [(history, {})]
    known = _LAST[0][1]
    if vocabulary not in known:
        known[vocabulary] = vocabulary(history)
    return known[vocabulary]


_ABSENT: tuple[object, ...] = (None, "", (), frozenset())


def write_sets(history: History) -> Iterator[str]:
    """Yield row transactions without write set."""
    for one in history.transactions:
        if one.kind is TransactionKind.ROWS and not one.write_set:
            yield f"no write set of T{one.id}"


def fields(kind: EventKind, *names: str, where: Callable[[Event], bool] | None = None) -> Gap:
    """Return the gap of events without a field."""

    def lacking(history: History) -> Iterator[str]:
        for event in history.events_of(kind):
            if where is None or where(event):
                missing = [name for name in names if getattr(event, name) in _ABSENT]
                if missing:
                    yield f"{kind.value} without {' and '.join(missing)}"

    return lacking


def verdict_of(history: History, prop: Property) -> Verdict:
    """Return one history's verdict; SOMETIMES is never VIOLATED."""
    return Verdict.VIOLATED if prop.violations(history) else prop.evidence(history, ()).verdict


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
    """Register the decorated check as a property of every history.

    The docstring's first paragraph becomes its meaning.
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
    """Register the decorated predicate as a situation."""

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
    """Return the properties by module, in the order of their definitions."""
    # Which module was imported first differs between processes.
    return tuple(sorted(_PROPERTIES.values(), key=lambda each: each.area))


def property_named(name: str) -> Property:
    """Return the property, applicable to every history.

    Raises ``ParaplyError`` P520 for an unknown name.
    """
    if name not in _PROPERTIES:
        raise ParaplyError(UNKNOWN_PROPERTY, name=name)
    return replace(_PROPERTIES[name], of=any_history, exemptions=())


def _register(prop: Property) -> None:
    if prop.name in _PROPERTIES:
        raise ValueError(f"property {prop.name} is registered twice")
    _PROPERTIES[prop.name] = prop


def _first_paragraph(docstring: str | None) -> str:
    return " ".join((docstring or "").strip().partition("\n\n")[0].split())
