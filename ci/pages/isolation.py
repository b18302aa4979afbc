"""``docs/isolation.md``: every phenomenon with a smallest history that has it, judged here.

``python -m ci.pages.isolation --check`` compares the page with what the code says.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from ci.pages.isolation_words import AFTER, BEFORE, BETWEEN, ROWS_AFTER
from ci.pages.writing import pages_main
from paraply.adapters.elle.histories import client_history, with_log
from paraply.adapters.elle.operations import read_operations
from paraply.properties.isolation.judging import Isolation, judge
from paraply.properties.isolation.phenomena import LEVELS, PHENOMENA
from paraply.vocabulary.client_history import ClientHistory
from paraply.vocabulary.verdict import Verdict

PAGE = "docs/isolation.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A smallest history: what each client did, in the order in which it was done."""

    label: str
    """The phenomenon that it shows."""
    does: tuple[str, ...]
    """``session: micro-operations``; ``fail`` before them for an aborted transaction."""
    log: str = ""

    @property
    def operations(self) -> str:
        """Return it as Jepsen would record it."""
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
        """Return what is found in it."""
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
"""One for each phenomenon; the page fails to build where one does not show it."""

LOG = '[["x", 1]]\n[["y", 2]]'
ROWS = (
    ("two readers disagree (long fork)", "2: [:r x 1] [:r y nil]", "3: [:r x nil] [:r y 2]"),
    ("a gap: T2 is seen and T1 is not", "2: [:r x nil] [:r y 2]"),
    ("a reader goes back", "2: [:r x 1] [:r y 2]", "2: [:r x 1] [:r y nil]"),
    ("a stale read, which a replica may show", "2: [:r x 1] [:r y nil]"),
)
"""What readers see of T1, which writes x, and T2, which writes y, in this order."""
COMPARED = (
    "snapshot-isolation", "serializable", "strong-session-serializable", "strict-serializable",
    "prefix", "monotonic-prefix",
)  # fmt: skip


def page() -> str:
    """Return the page."""
    lines = [BEFORE]
    for example in EXAMPLES:
        lines += _section(example)
    lines += [BETWEEN, *_levels(), "", ROWS_AFTER, *_rows(), AFTER]
    return "\n".join(lines)


def _section(example: Example) -> list[str]:
    phenomenon = next(one for one in PHENOMENA if one.label == example.label)
    finding = example.judged().finding(example.label)
    if finding.verdict is not Verdict.VIOLATED:
        raise AssertionError(f"the example of {example.label} does not show it")
    refuted = [level.name for level in LEVELS if example.label in level.forbids]
    return [
        f"### {phenomenon.label}",
        "",
        f"{phenomenon.meaning[0].upper()}{phenomenon.meaning[1:]}. Without it, "
        f"`{phenomenon.fact}`.",
        "",
        "```",
        *(_told(number, text) for number, text in enumerate(example.does, start=1)),
        *(f"log:  {line}" for line in example.log.splitlines()),
        "```",
        "",
        f"> {finding.breaches[0]}",
        "",
        f"Refutes {', '.join(refuted)}.",
        "",
    ]


def _told(number: int, text: str) -> str:
    session, _, done = text.partition(": ")
    aborted = " (aborted)" if done.startswith("fail ") else ""
    return f"T{number}, session {session}:  {done.removeprefix('fail ')}{aborted}"


def _levels() -> list[str]:
    lines = ["| level | forbids |", "| --- | --- |"]
    return lines + [f"| {level.name} | {', '.join(level.forbids)} |" for level in LEVELS]


def _rows() -> list[str]:
    lines = [
        f"| what readers see | {' | '.join(COMPARED)} |",
        f"| --- |{' --- |' * len(COMPARED)}",
    ]
    for name, *reads in ROWS:
        result = Example(label="", does=("0: [:w x 1]", "1: [:w y 2]", *reads), log=LOG).judged()
        words = [result.level(level).verdict.word for level in COMPARED]
        lines.append(f"| {name} | {' | '.join(words)} |")
    return [*lines, ""]


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.isolation", {PAGE: page()}))
