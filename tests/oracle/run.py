"""A run of the oracle: cases from a seed, tallies that a later run goes on from."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import pymysql

from paraply.adapters.servers import ServerRoom, find_mariadb, find_mariadb_11_8, find_mysql
from tests.oracle.generator import FAMILIES, Case, draw_case
from tests.oracle.judge import COMPLETE, KNOWLEDGE, judge
from tests.oracle.recorder import OPTIONS, Recorder
from tests.oracle.shrinking import shrink

_LOST = (2006, 2013)
"""Errors of a client whose server is gone."""
_CRASHES_MAX = 20
FLAVOURS = {"mariadb": find_mariadb, "mariadb-11.8": find_mariadb_11_8, "mysql": find_mysql}
FALSE_ALARMS_MAX = 0.001
UNKNOWN_MAX = 0.10
_SHRUNK_MAX = 12


def memory() -> Path | None:
    """Return a folder in memory, for servers whose data need not last; None if there is none."""
    folder = Path("/dev/shm")
    return folder if folder.is_dir() else None


@dataclass(slots=True)
class Tally:
    """What a run has counted; it is written after each case."""

    flavour: str
    seed: int
    cases: int = 0
    pairs: int = 0
    broken: int = 0
    """Cases that ended early, because the server cannot apply its own log."""
    crashes: list[int] = field(default_factory=list)
    """Cases that the server did not survive."""
    truth: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    """By state of knowledge, truth and answer."""
    families: Counter[str] = field(default_factory=Counter)
    """By family and answer with the log from CREATE on."""
    reasons: Counter[str] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)
    compiled: Counter[str] = field(default_factory=Counter)
    """How the compiled engine judged: whole, with tables left to the readable one, or refused."""
    disagreements: list[dict[str, object]] = field(default_factory=list)

    @classmethod
    def resumed(cls, path: Path, flavour: str, seed: int) -> Tally:
        """Return the tally in a file, or a new one."""
        if not path.exists():
            return cls(flavour, seed)
        stored = json.loads(path.read_text())
        counters = ("truth", "answers", "families", "reasons", "waits", "compiled")
        return cls(**{k: Counter(v) if k in counters else v for k, v in stored.items()})

    def save(self, path: Path) -> None:
        """Write the tally, whole or not at all."""
        draft = path.with_suffix(".new")
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        draft.write_text(json.dumps(values, indent=1, ensure_ascii=False))
        draft.replace(path)

    def count(self, kind: str) -> int:
        """Return how many cases have a disagreement of a kind, in any state of knowledge."""
        return len({str(each.get("number")) for each in self.disagreements if each["kind"] == kind})

    def unknown_share(self, name: str) -> float:
        """Return which part of the pairs is unknown in a state of knowledge."""
        answers = Counter[str]()
        for line, number in self.answers.items():
            known, _, word = line.split(" | ")
            if known == name:
                answers[word] += number
        return answers["unknown"] / max(1, answers.total())

    def too_often_unknown(self) -> dict[str, float]:
        """Return the shares above the limit, of the states that have all knowledge.

        The slack is three standard errors of the limit in a sample of as many draws as cases, not
        pairs: those of one case share a schema.
        """
        slack = 3 * (UNKNOWN_MAX * (1 - UNKNOWN_MAX) / max(1, self.cases)) ** 0.5
        shares = {name: self.unknown_share(name) for name in sorted(COMPLETE)}
        return {name: share for name, share in shares.items() if share > UNKNOWN_MAX + slack}

    def table(self) -> str:
        """Return the tally as text."""
        lines = [
            f"{self.flavour}, seed {self.seed}: {self.pairs:,} pairs of {self.cases:,} cases "
            f"({self.broken:,} broken off; server crashes in {self.crashes or 'none'}); "
            + ", ".join(f"{number:,} {word}" for word, number in sorted(self.truth.items())),
            f"{'knowledge':22}{'pairs':>7}{'unknown':>9}{'holds':>8}{'waits':>7}{'violated':>9}"
            f"{'unsound':>9}{'false':>7}{'replay':>7}",
        ]
        for knowledge in (each.name for each in KNOWLEDGE):
            words = Counter[str]()
            for line, number in self.answers.items():
                if line.startswith(f"{knowledge} | "):
                    words[line.split(" | ")[2]] += number
            wrong = Counter(d["kind"] for d in self.disagreements if d["knowledge"] == knowledge)
            lines.append(
                f"{knowledge:22}{words.total():7,}{self.unknown_share(knowledge):9.1%}"
                f"{words['holds']:8,}{words['may wait']:7,}{words['violated']:9,}"
                f"{wrong['unsound']:9,}{wrong['false alarm']:7,}{wrong['replay']:7,}"
            )
        lines.append(
            "with the log from CREATE on, by family: "
            + ", ".join(f"{name} {number:,}" for name, number in sorted(self.families.items()))
        )
        lines.append(
            "waits (server / audit): "
            + ", ".join(f"{name} {number:,}" for name, number in sorted(self.waits.items()))
        )
        lines.append(
            "compiled engine: "
            + ", ".join(f"{name} {number:,}" for name, number in sorted(self.compiled.items()))
            + f"; differs {self.count('engines'):,}"
        )
        lines.append("most frequent reasons with complete knowledge:")
        lines += [f"  {number:6,} {reason}" for reason, number in self.reasons.most_common(8)]
        return "\n".join(lines)


def run(
    flavour: str,
    seed: int,
    *,
    pairs: int,
    seconds: float,
    store: Path | None = None,
    shrinks: bool = True,
    families: Sequence[str] = FAMILIES,
) -> Tally:
    """Judge pairs until there are ``pairs`` of them or the time is over; return the tally."""
    ends = time.monotonic() + seconds
    tally = Tally(flavour, seed) if store is None else Tally.resumed(store, flavour, seed)
    with (
        ServerRoom(parent=memory()) as room,
        tempfile.TemporaryDirectory(dir=memory()) as folder,
    ):
        oracle = _Oracle(_recorder(room, flavour), Path(folder), tally, shrinks)
        while tally.pairs < pairs and time.monotonic() < ends:
            before = oracle.recorder.broken
            try:
                oracle.take(draw_case(tally.seed, tally.cases, flavour, families=families))
                tally.broken += oracle.recorder.broken - before
            except pymysql.OperationalError as fault:
                if fault.args[0] not in _LOST or len(tally.crashes) >= _CRASHES_MAX:
                    raise
                sys.stderr.write(f"the server crashed: case {tally.cases}\n")
                tally.crashes.append(tally.cases)
                oracle.recorder = _recorder(room, flavour)
            tally.cases += 1
            if store is not None:
                tally.save(store)
    return tally


def _recorder(room: ServerRoom, flavour: str) -> Recorder:
    return Recorder(room.start(FLAVOURS[flavour](), options=OPTIONS))


@dataclass(slots=True)
class _Oracle:
    recorder: Recorder
    folder: Path
    tally: Tally
    shrinks: bool

    def take(self, case: Case) -> None:
        """Record and judge one case."""
        tally = self.tally
        found = set()
        for pair in self.recorder.record(case):
            tally.pairs += 1
            tally.truth[pair.truth.answer] += 1
            for answer in judge(pair, self.folder, is_mariadb=self.recorder.is_mariadb):
                tally.answers[f"{answer.knowledge} | {pair.truth.answer} | {answer.word}"] += 1
                if answer.compiled:
                    tally.compiled[answer.compiled] += 1
                if answer.knowledge == "created":
                    tally.families[f"{case.family} {answer.word}"] += 1
                    if pair.waits is not None and answer.word in ("holds", "may wait"):
                        said = "waits" if answer.word == "may wait" else "not"
                        tally.waits[f"{'waits' if pair.waits else 'not'}/{said}"] += 1
                if answer.knowledge in COMPLETE and answer.word == "unknown":
                    tally.reasons[_general(answer.reasons[0])] += 1
                if answer.disagreement:
                    found.add((answer.disagreement, answer.knowledge, answer.reasons[:1]))
        shrunk: dict[str, Case] = {}
        for kind, knowledge, reasons in sorted(found):
            smallest = shrunk.get(kind, case)
            sys.stderr.write(f"{kind}, {knowledge}: case {tally.cases}: {reasons}\n")
            if self.shrinks and kind not in shrunk and len(tally.disagreements) < _SHRUNK_MAX:
                smallest = shrink(case, lambda c, k=kind, n=knowledge: self.shows(c, k, n), 60)
                shrunk[kind] = smallest
            tally.disagreements.append(
                {
                    "kind": kind,
                    "knowledge": knowledge,
                    "number": tally.cases,
                    "reasons": list(reasons),
                    "case": asdict(smallest),
                }
            )

    def shows(self, case: Case, kind: str, knowledge: str) -> bool:
        """Return whether a case shows a disagreement in a state of knowledge."""
        return any(
            (answer.disagreement, answer.knowledge) == (kind, knowledge)
            for pair in self.recorder.record(case)
            for answer in judge(pair, self.folder, is_mariadb=self.recorder.is_mariadb)
        )


def _general(reason: str) -> str:
    """Return a reason without names and places."""
    return " ".join(w for w in reason.split("(first")[0].split() if "." not in w)[:150]
