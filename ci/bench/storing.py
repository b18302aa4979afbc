"""Results of benchmarks in ``docs/speed.jsonl``, one line for each benchmark."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from ci.bench.registry import Goal, Measured, Report

_LOOPS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A benchmark's report, and when and where it was made."""

    report: Report
    day: date
    machine: str

    def as_line(self) -> str:
        """Return the line of the file."""
        data = {"day": str(self.day), "machine": self.machine, **self.report.as_json()}
        return json.dumps(data, ensure_ascii=False) + "\n"


def machine() -> str:
    """Return the number of cores, and how fast one is."""
    began = time.process_time()
    total = 0
    for number in range(_LOOPS):
        total += number
    took = time.process_time() - began
    return f"{os.cpu_count()} cores; a loop of {_LOOPS:,} additions takes {took:.2f} CPU s"


def read(path: Path) -> list[Stored]:
    """Return what a file holds, in the order of names."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [_stored(json.loads(line)) for line in lines]


def store(path: Path, new: Stored) -> None:
    """Put a result into a file, in the place of an older one of the same benchmark."""
    found = {one.report.benchmark: one for one in [*read(path), new]}
    text = "".join(found[name].as_line() for name in sorted(found))
    path.write_text(text, encoding="utf-8")


def _stored(data: dict[str, object]) -> Stored:
    day, made_on = date.fromisoformat(str(data.pop("day"))), str(data.pop("machine"))
    report = Report(**data)  # type: ignore[arg-type]
    report.measured = [Measured(**one) for one in report.measured]  # type: ignore[arg-type]
    goals: list[dict[str, object]] = report.goals  # type: ignore[assignment]
    for goal in goals:
        goal.pop("result")
    report.goals = [Goal(**goal) for goal in goals]  # type: ignore[arg-type]
    return Stored(report=report, day=day, machine=made_on)
