"""The tables of ``docs/isolation.md``, with smallest histories."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from ci.pages.writing import filled, pages_main, table
from paraply.adapters.elle.histories import client_history, with_log
from paraply.adapters.elle.operations import read_operations
from paraply.properties.isolation.judging import Isolation, judge
from paraply.properties.isolation.phenomena import LEVELS, PHENOMENA
from paraply.vocabulary.client_history import ClientHistory
from paraply.vocabulary.verdict import Verdict

PAGE = "docs/isolation.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A smallest history in time order."""

    label: str
    does: tuple[str, ...]
    """``session: micro-operations``; ``fail`` aborts."""
    log: str = ""

    @property
    def operations(self) -> str:
        """Return the history in Jepsen's format."""
        lines = []
        for text in self.does:
            session, _, done = text.partition(": ")
            outcome = "ok"
            if done.startswith("fail "):
                outcome, done = "fail", done.removeprefix("fail ")
            for kind in ("invoke", outcome):
                lines.append(f"{{:process {session}, :type :{kind}, :f :txn, :value [{done}]}}")
        return "\n".join(lines)

    def judged(self) -> Isolation:
        """Judge the history."""
        history = client_history(read_operations(self.operations, is_json=False))
        assert isinstance(history, ClientHistory)
        return judge(with_log(history, self.log) if self.log else history)


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
        "levels": table(
            ["level", "forbids"], [[level.name, ", ".join(level.forbids)] for level in LEVELS]
        ),
        "readers": table(["reads", *COMPARED], _rows()),
    }
    return filled(PAGE, blocks)


def _section(example: Example) -> list[str]:
    phenomenon = next(one for one in PHENOMENA if one.label == example.label)
    finding = example.judged().finding(example.label)
    if finding.verdict is not Verdict.VIOLATED:
        raise AssertionError(f"the example of {example.label} does not show it")
    refuted = [level.name for level in LEVELS if example.label in level.forbids]
    return [
        f"### {phenomenon.label}",
        "",
        f"{phenomenon.meaning[0].upper()}{phenomenon.meaning[1:]}. Property: `{phenomenon.fact}`.",
        "",
        "```",
        *(_operation_line(number, text) for number, text in enumerate(example.does, start=1)),
        *(f"log:  {line}" for line in example.log.splitlines()),
        "```",
        "",
        f"> {finding.breaches[0]}",
        "",
        f"Refutes {', '.join(refuted)}.",
        "",
    ]


def _operation_line(number: int, text: str) -> str:
    session, _, done = text.partition(": ")
    aborted = " (aborted)" if done.startswith("fail ") else ""
    return f"T{number}, session {session}:  {done.removeprefix('fail ')}{aborted}"


def _rows() -> Iterator[list[str]]:
    for name, *reads in ROWS:
        result = Example(label="", does=("0: [:w x 1]", "1: [:w y 2]", *reads), log=LOG).judged()
        yield [name, *(result.level(level).verdict.word for level in COMPARED)]


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.isolation", {PAGE: page()}))
