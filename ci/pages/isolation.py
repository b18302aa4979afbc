"""The tables of ``docs/isolation.md``, with smallest histories."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from ci.pages.writing import filled, pages_main, table
from paraply.adapters.elle.histories import client_history, with_log
from paraply.adapters.elle.operations import read_operations
from paraply.properties.isolation.judging import Finding, Isolation, judge
from paraply.properties.isolation.objects import judge_objects
from paraply.properties.isolation.phenomena import LEVELS
from paraply.vocabulary.client_history import ClientHistory
from paraply.vocabulary.verdict import Verdict

PAGE = "docs/isolation.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A smallest history in time order."""

    label: str
    does: tuple[str, ...]
    """``session@server: micro-operations``; ``fail`` aborts, ``info`` leaves the outcome open."""
    log: str = ""

    @property
    def operations(self) -> str:
        """Return the history in Jepsen's format."""
        lines = []
        for text in self.does:
            who, outcome, done = _parts(text)
            session, _, node = who.partition("@")
            for kind in ("invoke", outcome):
                lines.append(
                    f"{{:process {session}, :type :{kind}, :f :txn, :value [{done}],"
                    f" :node {json.dumps(node)}}}"
                )
        return "\n".join(lines)

    @property
    def history(self) -> ClientHistory:
        """Return the history with its log."""
        history = client_history(read_operations(self.operations, is_json=False))
        assert isinstance(history, ClientHistory)
        return with_log(history, self.log) if self.log else history

    def judged(self) -> Isolation:
        """Judge the history of lists or registers."""
        return judge(self.history)


def _parts(text: str) -> tuple[str, str, str]:
    who, _, done = text.partition(": ")
    for outcome in ("fail", "info"):
        if done.startswith(f"{outcome} "):
            return who, outcome, done.removeprefix(f"{outcome} ")
    return who, "ok", done


EXAMPLES = (
    Example(label="G0", does=(
        "0: [:append x 1] [:append y 1]", "1: [:append x 2] [:append y 2]",
        "2: [:r x [1 2]] [:r y [2 1]]",
    )),
    Example(label="orders", does=(
        "0: [:append x 1]", "1: [:append x 2]", "2: [:r x [1 2]]", "3: [:r x [2]]",
    )),
    Example(label="G1a", does=("0: fail [:w x 1]", "1: [:r x 1]")),
    Example(label="G1b", does=("0: [:w x 1] [:w x 2]", "1: [:r x 1]")),
    Example(label="G1c", does=("0: [:w x 1] [:r y 2]", "1: [:w y 2] [:r x 1]")),
    Example(label="garbage", does=("0: [:r x 7]",)),
    Example(label="internal", does=("0: [:w x 1] [:r x nil]",)),
    Example(label="P4", does=(
        "0: [:w x 1]", "1: [:r x 1] [:w x 2]", "2: [:r x 1] [:w x 3]",
    )),
    Example(label="G-single", does=("0: [:w x 1] [:w y 1]", "1: [:r x 1] [:r y nil]")),
    Example(label="G-nonadjacent", does=(
        "0: [:w x 1]", "1: [:w y 2]", "2: [:r x 1] [:r y nil]", "3: [:r x nil] [:r y 2]",
    )),
    Example(label="G2-item", does=(
        "0: [:r x nil] [:r y nil] [:w x 1]", "1: [:r x nil] [:r y nil] [:w y 2]",
    )),
    Example(
        label="prefix", log='[["x", 1]]\n[["y", 2]]',
        does=("0: [:w x 1]", "1: [:w y 2]", "2: [:r x nil] [:r y 2]"),
    ),
    Example(
        label="monotonic prefix", log='[["x", 1]]', does=("0: [:w x 1]", "1: [:r x 1]",
                                                          "1: [:r x nil]"),
    ),
    Example(label="read your writes", does=("0: [:w x 1]", "0: [:r x nil]")),
    Example(label="monotonic reads", does=(
        "0: [:append x 1]", "1: [:append x 2]", "2: [:r x [1 2]]", "2: [:r x [1]]",
    )),
    Example(label="monotonic writes", does=(
        "0: [:append x 1]", "0: [:append x 2]", "1: [:r x [2 1]]",
    )),
    Example(
        label="writes follow reads", log='[["x", 2]]\n[["x", 1]]',
        does=("0: [:w x 1]", "1: [:r x 1]", "1: [:w x 2]"),
    ),
    Example(label="SI-session", does=("0: [:w x 1]", "0: [:r x nil]")),
    Example(label="cycle-session", does=(
        "0: [:r x nil] [:w y 1]", "1: [:w x 2]", "1: [:r y nil]",
    )),
    Example(label="SI-realtime", does=("0: [:w x 1]", "1: [:r x nil]")),
    Example(label="cycle-realtime", does=("0: [:w x 1]", "1: [:r x nil]")),
)  # fmt: skip
"""One per phenomenon; the build checks them."""

OBJECTS = (
    Example(label="lost element", does=("0@m1: [:add x 1]", "1@m1: [:r x []]", "2@m2: [:r x []]")),
    Example(label="vanished element", does=(
        "0: [:add x 1]", "0: info [:add x 2]", "1: [:r x [1 2]]", "1: [:r x [1]]",
    )),
    Example(label="duplicate element", does=("0: [:add x 1]", "1: [:r x [1 1]]")),
    Example(label="lost increment", does=(
        "0@m1: [:inc x 1]", "1@m1: [:inc x 1]", "2@m1: [:r x 1]", "3@m2: [:r x 1]",
    )),
    Example(label="counter too high", does=(
        "0: [:inc x 1]", "1: fail [:inc x 1]", "2: [:r x 2]",
    )),
    Example(label="final reads", does=("0@m1: [:add x 1]", "1@m1: [:r x [1]]", "2@m2: [:r x []]")),
    Example(label="stale read", does=("0: [:inc x 1]", "1: [:inc x 1]", "2: [:r x 1]")),
    Example(label="monotonic reads at one server", does=(
        "0@m1: [:inc x 1]", "1@m1: [:r x 1]", "1@m1: [:r x 0]",
    )),
)  # fmt: skip
"""One per phenomenon of sets and counters."""

LOG = '[["x", 1]]\n[["y", 2]]'
ROWS = (
    ("two readers disagree (long fork)", "2: [:r x 1] [:r y nil]", "3: [:r x nil] [:r y 2]"),
    ("a gap: T2 is visible and T1 is not", "2: [:r x nil] [:r y 2]"),
    ("a reader goes back", "2: [:r x 1] [:r y 2]", "2: [:r x 1] [:r y nil]"),
    ("a stale read, which a replica may show", "2: [:r x 1] [:r y nil]"),
)
"""Reads of T1, then T2; T1 writes x, T2 writes y."""
COMPARED = (
    "snapshot-isolation", "serializable", "strong-session-serializable", "strict-serializable",
    "prefix", "monotonic-prefix",
)  # fmt: skip


def page() -> str:
    """Return the page."""
    blocks = {
        "phenomena": [line for example in EXAMPLES for line in _section(example)][:-1],
        "objects": [line for example in OBJECTS for line in _object_section(example)][:-1],
        "levels": table(
            ["level", "forbids"], [[level.name, ", ".join(level.forbids)] for level in LEVELS]
        ),
        "readers": table(["reads", *COMPARED], _rows()),
    }
    return filled(PAGE, blocks)


def _section(example: Example) -> list[str]:
    refuted = [level.name for level in LEVELS if example.label in level.forbids]
    shown = _shown(example, example.judged().finding(example.label))
    return [*shown, f"Refutes {', '.join(refuted)}.", ""]


def _object_section(example: Example) -> list[str]:
    findings = judge_objects(example.history)
    return _shown(example, next(one for one in findings if one.phenomenon.label == example.label))


def _shown(example: Example, finding: Finding) -> list[str]:
    if finding.verdict is not Verdict.VIOLATED:
        raise AssertionError(f"the example of {example.label} does not show it")
    phenomenon = finding.phenomenon
    return [
        f"### {phenomenon.label}",
        "",
        f"{phenomenon.meaning[0].upper()}{phenomenon.meaning[1:]}. Property: `{phenomenon.fact}`.",
        "",
        "```text",
        *(_operation_line(number, text) for number, text in enumerate(example.does, start=1)),
        *(f"log:  {line}" for line in example.log.splitlines()),
        "```",
        "",
        f"> {finding.breaches[0]}",
        "",
    ]


def _operation_line(number: int, text: str) -> str:
    who, outcome, done = _parts(text)
    session, _, node = who.partition("@")
    place = f" at {node}" if node else ""
    ending = {"ok": "", "fail": " (aborted)", "info": " (unknown outcome)"}[outcome]
    return f"T{number}, session {session}{place}:  {done}{ending}"


def _rows() -> Iterator[list[str]]:
    for name, *reads in ROWS:
        result = Example(label="", does=("0: [:w x 1]", "1: [:w y 2]", *reads), log=LOG).judged()
        yield [name, *(result.level(level).verdict.word for level in COMPARED)]


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.isolation", {PAGE: page()}))
