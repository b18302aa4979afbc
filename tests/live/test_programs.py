"""Third-party appliers: each verdict is the declared one, healthy and after SIGKILL."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

import pytest

from ci.programs.__main__ import run, sentence
from ci.programs.program import Program, Task
from ci.programs.registry import PROGRAMS

pytestmark = pytest.mark.live

RUNS = [
    pytest.param(program, kill, id=f"{program.name}{'-killed' if kill else ''}")
    for program in PROGRAMS
    if program.in_ci
    for kill in (False, True)
    if program.can_kill or not kill
]


@pytest.mark.parametrize(("program", "kill"), RUNS)
def test_the_verdict_is_the_declared_one(program: Program, kill: bool) -> None:
    reason = program.missing()
    if reason:
        pytest.skip(reason)
    seed = secrets.randbelow(2**32)
    task = Task(folder=Path(tempfile.gettempdir()), seed=seed, transactions=400, kill=kill)
    record = run(program, task)
    print(f"live: {sentence(record)}")
    assert record.is_as_expected, (
        f"{sentence(record)} Repeat: python -m ci.programs {program.name} --seed {seed} "
        f"--transactions {task.transactions} --kill {'yes' if kill else 'no'}"
    )
