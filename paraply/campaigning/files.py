"""Counterexample files: history, page and index."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraply.counterexamples.foreign_systems import ForeignSystem
from paraply.counterexamples.replaying import replay_command
from paraply.counterexamples.shrinking import Smallest
from paraply.mining.clusters import Minimal
from paraply.mining.plan import Plan
from paraply.mining.store import DOCUMENT_BYTES_MAX, Store, store_at
from paraply.mining.systems import ALL, System
from paraply.properties.registry import Property
from paraply.properties.search import Counterexample
from paraply.registries import mutant_named, property_named
from paraply.reporting.counterexample_text import counterexample_lines
from paraply.reporting.escape import visible
from paraply.reporting.files import make_folder, write_report
from paraply.reporting.json_document import json_document
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.input_documents import parse_json
from paraply.vocabulary.shapes import require_shape

FOLDER = "counterexamples"
INDEX = f"{FOLDER}/index.json"

NO_COUNTEREXAMPLES = register(
    "P322",
    "there is nothing to promote: {reason}",
    "name a folder that paraply mine wrote, and counterexamples that its index lists",
)
INDEX_DAMAGED = register(
    "P323",
    "the index of the counterexamples is damaged",
    "let `paraply mine --resume --out {folder}` write it again: what is whole is not run again",
)

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]+")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """An index entry; ``name`` has no suffix."""

    name: str
    subject: str
    mutant: str
    dialect: str
    prop: str
    signature: str
    digest: str
    count: int
    transactions: int
    events: int
    choices: int
    is_confirmed: bool
    is_expected: bool
    violations: tuple[str, ...]
    command: str

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        value = {name: getattr(self, name) for name in self.__slots__}
        return {**value, "violations": list(self.violations)}


_SHAPE = {
    **dict.fromkeys(
        ("name", "subject", "mutant", "dialect", "prop", "signature", "digest", "command"), str
    ),
    **dict.fromkeys(("count", "transactions", "events", "choices"), int),
    **dict.fromkeys(("is_confirmed", "is_expected"), bool),
    "violations": [str],
}


def filed_from_json(value: dict[str, Any]) -> Filed:
    """Read :meth:`Filed.as_json`; ``ValueError`` for unsafe names."""
    require_shape(value, _SHAPE, "an entry")
    if not _NAME.fullmatch(value["name"]):
        raise ValueError("a name leads out of the folder")
    return Filed(**{**value, "violations": tuple(value["violations"])})


def write_counterexamples(store: Store, plan: Plan, minimals: Sequence[Minimal]) -> list[Filed]:
    """Write histories, pages and index; return its entries."""
    filed = []
    numbers: dict[str, int] = {}
    for one in minimals:
        system = plan.systems[one.cluster.system]
        stem = _NOT_IN_NAMES.sub("-", f"{system.name}-{one.cluster.prop}")
        numbers[stem] = numbers.get(stem, 0) + 1
        name = f"{stem}-{numbers[stem]}"
        entry = _filed(name, store, system, one)
        lines = "".join(f"{line}\n" for line in write_history(one.history))
        store.write(f"{FOLDER}/{name}.jsonl", lines.encode())
        store.write(f"{FOLDER}/{name}.md", page(plan, system, one, entry).encode())
        filed.append(entry)
    index = {"counterexamples": [entry.as_json() for entry in filed]}
    store.write(INDEX, (json.dumps(index, indent=1) + "\n").encode())
    return filed


def read_index(store: Store) -> list[Filed]:
    """Return the index entries, if any."""
    written = store.read(INDEX, DOCUMENT_BYTES_MAX)
    if written is None:
        return []
    try:
        return [filed_from_json(value) for value in parse_json(written)["counterexamples"]]
    except (ValueError, KeyError, TypeError):
        raise ParaplyError(INDEX_DAMAGED, where=f"{store.url}/{INDEX}", folder=store.url) from None


def _filed(name: str, store: Store, system: System, one: Minimal) -> Filed:
    prop = property_named(one.cluster.prop)
    violations = prop.violations(one.history)
    return Filed(
        name=name,
        subject=system.subject,
        mutant=system.mutant,
        dialect=system.workload.dialect,
        prop=prop.name,
        signature=one.signature.text,
        digest=one.digest,
        count=one.cluster.specimen.count,
        transactions=one.size[0],
        events=one.size[1],
        choices=one.size[2],
        is_confirmed=one.is_confirmed,
        is_expected=_is_expected(system, prop, one),
        violations=tuple(str(violation) for violation in violations),
        command=_command(one, prop, f"{store.url}/{FOLDER}/{name}.jsonl"),
    )


def _is_expected(system: System, prop: Property, one: Minimal) -> bool:
    if system.mutant:
        return prop.name in (system.goals | system.known_breaches)
    return prop.name in system.known_breaches and not one.cluster.is_unexplained


def _command(one: Minimal, prop: Property, file: str) -> str:
    system = one.system
    if isinstance(system, ForeignSystem):
        return system.replay_command(prop, one.choices, one.cluster.specimen.run, file)
    smallest = Smallest(
        workload=system.workload,
        counterexample=Counterexample(
            choices=one.choices, history=one.history, violations=(), runs=1
        ),
    )
    return replay_command(system.runner, smallest, prop, file=file, mutant=system.mutant)


def page(plan: Plan, system: System, one: Minimal, entry: Filed) -> str:
    """Return the Markdown page of a counterexample."""
    prop = property_named(one.cluster.prop)
    who = "the reference" if system.is_ours else system.subject
    made = "was made smaller to" if system.is_ours or one.choices else "has"
    confirmed = (
        f"replayed by {who}: the same events, and the property is broken again"
        if one.is_confirmed
        else f"**not confirmed**: a replay by {who} is not the same run again"
    )
    lines = [
        f"# {entry.name}",
        "",
        f"**Result.** {system.name} breaks `{prop.name}`; {confirmed}.",
        "",
        f"**Property.** {visible(prop.meaning)} ({prop.source})",
        "",
        f"**Whose fault.** {whose_fault(system, is_expected=entry.is_expected)}",
        "",
        f"**Found.** {entry.count:,} breaches of this sort in the campaign of seed {plan.seed}; "
        f"the smallest {made} {entry.transactions} transactions, {entry.events} "
        f"events and {entry.choices} choices"
        + (f" ({one.minimality})." if one.minimality else "."),
        "",
        f"**Sort.** {entry.signature}",
        "",
        "```text",
        *counterexample_lines(prop, one.history),
        "```",
        "",
        "**Run it again.**",
        "",
        "```sh",
        entry.command,
        "```",
        "",
    ]
    return "\n".join(lines)


def whose_fault(system: System, *, is_expected: bool) -> str:
    """Return a sentence on the breach's origin."""
    if isinstance(system, ForeignSystem):
        return system.whose_fault()
    if system.mutant:
        mutant = mutant_named(system.mutant)
        return f"The mutant's, on purpose: {mutant.fault} ({mutant.source})"
    if is_expected:
        return f"The dialect {system.workload.dialect} is known for it."
    return "Not known: the subject, the property or the search; it is new."


def promotable(place: Path | str) -> dict[str, Filed]:
    """Return counterexamples by name; P322 if none."""
    filed = {entry.name: entry for entry in read_index(store_at(str(place)))}
    if not filed:
        reason = f"there is no {INDEX}, or nothing is in it"
        raise ParaplyError(NO_COUNTEREXAMPLES, where=str(place), reason=reason)
    return filed


def promote(place: Path | str, names: Sequence[str], target: Path) -> list[Path]:
    """Copy counterexamples, with properties to break, into a folder; return the files.

    ``all`` selects confirmed ones. Raises ``ParaplyError`` P322 for an unknown name.
    """
    store = store_at(str(place))
    filed = promotable(place)
    wanted = [
        each
        for name in names
        for each in ([one for one in filed if filed[one].is_confirmed] if name == ALL else [name])
    ]
    written = []
    for name in wanted:
        if name not in filed:
            raise ParaplyError(
                NO_COUNTEREXAMPLES, where=str(place), reason=f"the index does not list {name}"
            )
        history = store.read(f"{FOLDER}/{name}.jsonl", DOCUMENT_BYTES_MAX)
        if history is None:
            raise ParaplyError(NO_COUNTEREXAMPLES, where=str(place), reason=f"{name} has no file")
        try:
            text = history.decode()
        except ValueError:
            raise ParaplyError(
                NO_COUNTEREXAMPLES, where=str(place), reason=f"the file of {name} is no text"
            ) from None
        entry = filed[name]
        expected = {
            "subject": entry.subject,
            "mutant": entry.mutant,
            "property": entry.prop,
            "signature": entry.signature,
            "violations": list(entry.violations),
        }
        make_folder(str(target))
        write_report(str(target / f"{name}.jsonl"), text)
        write_report(str(target / f"{name}.json"), json_document(expected))
        written += [target / f"{name}.jsonl", target / f"{name}.json"]
    return written
