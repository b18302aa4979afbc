"""What the judges answer on stored histories, and on logs and histories of clients of one seed.

``python -m tests.properties.answers`` stores the answers of today, if a change of them is meant;
``python -m tests.properties.answers --draw`` draws other histories, too.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2s
from itertools import chain
from pathlib import Path
from random import Random

import hypothesis

import paraply.properties.all  # noqa: F401  (registers the properties)
from paraply.properties.registry import Property, registered_properties
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import read_histories, write_history
from tests.properties.random_inputs import drawn_cases, histories, of_history, seeded_cases
from tests.properties.smallest_examples import again

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
HISTORIES, ANSWERS = FIXTURES / "answered.jsonl.gz", FIXTURES / "answers.json"
SEED, DRAWS = 1, 12
EACH = 80
"""Histories that a property applies to, at least, if so many are drawn."""
CASES = 120
"""Of each kind."""
EVENTS_MAX = 70

DRAWN = f", drawn by Hypothesis {hypothesis.__version__}"
"""Another version draws others."""

Case = tuple[str, Callable[[], object]]


def groups() -> dict[str, list[Case]]:
    """Return all cases by area of the properties, or by kind."""
    return undrawn_groups() | drawn_groups()


@cache
def undrawn_groups() -> dict[str, list[Case]]:
    """Return the cases of stored histories and of those that depend on the seed alone."""
    found: dict[str, list[Case]] = defaultdict(list)
    for at, history in enumerate(stored()):
        for area, judges in judges_by_area().items():
            if applies(judges, history):
                found[area].append((f"history {at}", _asking(history, judges)))
    for at, (name, answer) in enumerate(seeded_cases(SEED, CASES)):
        found[name.partition(",")[0]].append((f"case {at}", answer))
    return found


@cache
def drawn_groups() -> dict[str, list[Case]]:
    """Return the cases that Hypothesis draws, which takes most of the time."""
    found: dict[str, list[Case]] = defaultdict(list)
    for at, (name, answer) in enumerate(drawn_cases(SEED, CASES)):
        found[f"{name}{DRAWN}"].append((f"case {at}", answer))
    return found


def _asking(history: History, judges: list[Property]) -> Callable[[], object]:
    return lambda: of_history(history, judges)


def digests(cases: list[Case]) -> str:
    """Return four digits of each answer."""
    return " ".join(
        blake2s(str(answer()).encode(), digest_size=2).hexdigest() for _, answer in cases
    )


def stored(each: int = 1) -> list[History]:
    """Return the stored histories, or every n-th one."""
    lines = gzip.decompress(HISTORIES.read_bytes()).decode().splitlines()
    return [history for line in lines[::each] for history in read_histories(json.loads(line))]


def drawn() -> Iterator[History]:
    """Yield small runs of all systems and damaged copies, until each property has its share."""
    count: Counter[str] = Counter()
    for _, history, _ in chain.from_iterable(histories(Random(SEED + at)) for at in range(DRAWS)):
        if not 1 < len(history.events) <= EVENTS_MAX or any(history.faults()):
            continue
        names = [prop.name for prop in registered_properties() if prop.applies_to(history)]
        if any(count[name] < EACH for name in names) and again(history) == history:
            count.update(names)
            yield history


def judges_by_area() -> dict[str, list[Property]]:
    """Return the properties by area."""
    found = defaultdict(list)
    for prop in registered_properties():
        found[prop.area].append(prop)
    return found


def applies(judges: list[Property], history: History) -> bool:
    """Return whether one of the properties understands a history."""
    return any(prop.applies_to(history) for prop in judges)


def main() -> int:
    """Store answers."""
    if "--draw" in sys.argv:
        lines = [json.dumps(list(write_history(one))) for one in drawn()]
        HISTORIES.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    answers = {name: digests(cases) for name, cases in sorted(groups().items())}
    ANSWERS.write_text(json.dumps(answers, indent=0) + "\n", encoding="utf-8")
    print({name: len(text.split()) for name, text in answers.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
