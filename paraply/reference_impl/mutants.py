"""Mutants: subjects with one small fault that a property must catch.

A fault is a patch of the reference, in ``mutations/*.toml``. ``["family"]`` has what its mutants
share, ``["family".name]`` one mutant: ``subject``, ``source``, ``fault``, ``caught_by`` or
``survives_because``, ``workload`` (sizes, dialect and options) and ``changes``, each with its place
and texts (:class:`~paraply.mutating.copies.Change`).
"""

from __future__ import annotations

import tomllib
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from paraply.mutating.copies import Change, ChangedCopy, ChangeError
from paraply.reference_impl.subject import (
    SIZES,
    Subject,
    Workload,
    registering_apart,
    subject_named,
)
from paraply.vocabulary.errors import ParaplyError, register

UNKNOWN_MUTANT = register(
    "P408",
    "there is no mutant '{name}'",
    "`paraply list mutants` has their names",
)
_PACKAGE = "paraply.reference_impl"
_FILES = files(_PACKAGE) / "mutations"
"""Spark's workers have them in an archive."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One fault and the property that must find it.

    Attributes:
        name: the fault (``collect_ignores_pending``).
        family: its part (``timestamps``, ``certification``, ``commit order``).
        of: the name of the changed subject.
        source: a bug number or a document's section.
        fault: its effect, in one sentence.
        caught_by: the violated property.
        workload: the scope that shows it.
        changes: what is replaced, by places below ``paraply.reference_impl``.
        survives_because: why no safety property catches it; then ``caught_by`` is empty.
    """

    name: str
    family: str
    of: str
    source: str
    fault: str
    caught_by: str = ""
    workload: Workload
    changes: tuple[Change, ...] = ()
    survives_because: str = ""

    @cached_property
    def subject(self) -> Subject:
        """Return the faulty system, with the original's name; raises ``ChangeError``."""
        original = subject_named(self.of)
        loaded = vars(self.module(type(original).__module__)).values()
        (found,) = (one for one in loaded if isinstance(one, Subject) and one.name == self.of)
        if self.changes and found is original:
            raise ChangeError(f"nothing that {self.name} changes is part of {self.of}")
        return found

    def module(self, name: str) -> types.ModuleType:
        """Return a module on top of the fault, also one of tests; raises ``ChangeError``."""
        with registering_apart():
            return self._copy.module(name)

    @cached_property
    def _copy(self) -> ChangedCopy:
        return ChangedCopy(self.name, _PACKAGE, self.changes)


@cache
def registered_mutants() -> tuple[Mutant, ...]:
    """Return mutants by family and name."""
    texts = [
        file.read_text(encoding="utf-8") for file in _FILES.iterdir() if file.name.endswith(".toml")
    ]
    read = [one for text in texts for one in _read(text)]
    return tuple(sorted(read, key=lambda mutant: (mutant.family, mutant.name)))


def mutant_named(name: str) -> Mutant:
    """Return a mutant, or raise ``ParaplyError`` P408."""
    if name not in _by_name():
        raise ParaplyError(UNKNOWN_MUTANT, name=name)
    return _by_name()[name]


@cache
def _by_name() -> Mapping[str, Mutant]:
    return {mutant.name: mutant for mutant in registered_mutants()}


def _read(text: str) -> Iterator[Mutant]:
    for family, values in tomllib.loads(text).items():
        shared = {key: value for key, value in values.items() if not _is_mutant(value)}
        for name, value in values.items():
            if _is_mutant(value):
                yield _mutant(name, family, shared, value)


def _is_mutant(value: object) -> bool:
    return isinstance(value, dict) and "fault" in value


def _mutant(name: str, family: str, shared: Mapping[str, Any], value: Mapping[str, Any]) -> Mutant:
    fields = {**shared, **value}
    size = {**shared.get("workload", {}), **value.get("workload", {})}
    given = {key: size.pop(key) for key in (*SIZES, "dialect") if key in size}
    return Mutant(
        name=name,
        family=family,
        of=fields["subject"],
        source=fields["source"],
        fault=fields["fault"],
        caught_by=fields.get("caught_by", ""),
        survives_because=fields.get("survives_because", ""),
        workload=Workload(**given, options=size),
        changes=tuple(Change(*change) for change in fields["changes"]),
    )
