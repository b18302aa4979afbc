"""Runs a scenario with one failing call, and lists what must not be found after it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random

from tests.conftest import REPOSITORY
from tests.simulated_os.system import CRASHES, Fault, faults_of

VERDICTS = (0, 1, 2)
UNKNOWN = 2
NO_VERDICT = (3, 70)
TEMPORARY = "tmp/"
OF_A_CRASH = "tmp/paraply-crash-"
"""The traceback of an internal error, which its message names."""

Files = dict[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A command with its inputs.

    ``setup`` writes the inputs into the world. ``restart`` are more words for the run after a
    fault. ``keeps`` is the store that a later run continues; ``read`` returns what a user finds in
    it, as bytes by name. ``grows`` is a file that is appended to. ``times`` are measured times in
    the files, which differ between runs.
    """

    name: str
    words: tuple[str, ...]
    setup: Callable[[Path], None]
    target: str = "paraply.__main__:main"
    restart: tuple[str, ...] = ()
    keeps: str = ""
    grows: str = ""
    times: re.Pattern[bytes] = re.compile(rb"(?!)")
    read: Callable[[Path], Files] = field(default=lambda _: {})


class Server:
    """The process that forks the runs."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.simulated_os.server"],
            cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=_environment(),
        )  # fmt: skip

    def run(self, job: Mapping[str, object]) -> dict:
        """Run one job; return its notes."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the server ended at {job}"
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _environment() -> dict[str, str]:
    fixed = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "100"}
    return {**os.environ, **fixed}


@dataclass(frozen=True, slots=True)
class Run:
    """How a run ended, and the files of its world after it."""

    code: int | None
    calls: list[str]
    stdout: str
    stderr: str
    files: Files


class Lab:
    """Runs one scenario again and again, each time in a new world of the same name."""

    def __init__(self, server: Server, scenario: Scenario, folder: Path) -> None:
        self.server, self.scenario, self.folder = server, scenario, folder
        self.world, self.notes = folder / "world", folder / "notes"

    def begin(self) -> Files:
        """Make the world anew; return its inputs."""
        shutil.rmtree(self.world, ignore_errors=True)
        (self.world / "tmp").mkdir(parents=True)
        self.scenario.setup(self.world)
        return self.files()

    def go(self, *more: str, at: int = 0, fault: Fault | None = None) -> Run:
        """Run the command in the world as it is."""
        shutil.rmtree(self.notes, ignore_errors=True)
        done = self.server.run(
            {
                "world": str(self.world), "notes": str(self.notes), "at": at,
                "target": self.scenario.target, "words": [*self.scenario.words, *more],
                "fault": None if fault is None else fault.name,
            }
        )  # fmt: skip
        return Run(done["code"], done["calls"], done["stdout"], done["stderr"], self.files())

    def files(self) -> Files:
        """Return the files of the world."""
        return {
            str(path.relative_to(self.world)): self.scenario.times.sub(b"", path.read_bytes())
            for path in sorted(self.world.rglob("*"))
            if path.is_file()
        }

    def shown(self, files: Files) -> Files:
        """Return what a user finds: outputs, and the content of a store instead of its files."""
        return self._outputs(files) | (
            self.scenario.read(self.world) if self.scenario.keeps else {}
        )

    def _outputs(self, files: Files) -> Files:
        """Return the finished files outside of the store."""
        keeps = self.scenario.keeps
        return {
            name: data
            for name, data in files.items()
            if not name.startswith(TEMPORARY) and not _is_unfinished(name)
            and not (keeps and name.startswith(keeps))
        }  # fmt: skip

    @cached_property
    def undisturbed(self) -> tuple[Run, Files, Files]:
        """Return the run without a fault, its inputs, and what a user finds after it."""
        # The second run counts: imports of the first make calls of their own.
        for _ in range(2):
            inputs = self.begin()
            run = self.go()
        assert run.code in VERDICTS, run.stderr
        assert not [
            name for name in run.files if name.startswith(TEMPORARY) or _is_unfinished(name)
        ]
        return run, inputs, self.shown(run.files)

    def cases(self) -> list[tuple[int, Fault]]:
        """Return every call with every fault that fits it, and a power failure after the end."""
        run, _, _ = self.undisturbed
        every = [(at, fault) for at, call in enumerate(run.calls, 1) for fault in faults_of(call)]
        end = len(run.calls) + 1
        return [*every, (end, Fault.CONTENTS_LOST), (end, Fault.NAMES_LOST)]

    def faults_found(self, at: int, fault: Fault) -> Iterator[str]:
        """Yield what is wrong after a fault, and after the restart that follows it."""
        clean, inputs, expected = self.undisturbed
        whole = self._outputs(clean.files)
        self.begin()
        run = self.go(at=at, fault=fault)
        yield from self._inputs_changed(inputs, run.files)
        # A watch waits now and then, so its runs differ in length.
        is_end = fault in CRASHES and run.code in VERDICTS and at > len(run.calls)
        failed = run.calls[at - 1] if at <= len(run.calls) else "the end"
        if is_end:
            if self.shown(run.files) != expected:
                yield f"lost after the end: {_differing(self.shown(run.files), expected)}"
        elif fault in CRASHES:
            if run.code is not None or len(run.calls) < at:
                yield f"the run did not crash at call {at}: exit code {run.code}"
            yield from self._half_written(run, inputs, whole)
        elif run.code == UNKNOWN != clean.code and _is_unread(failed, fault, inputs):
            yield from self._unread(run)
        elif run.code in VERDICTS:
            if (run.code, run.stdout) != (clean.code, clean.stdout):
                yield f"exit code {run.code} with another output than undisturbed"
            if self.shown(run.files) != expected:
                yield f"a verdict with other files: {_differing(self.shown(run.files), expected)}"
        elif run.code in NO_VERDICT:
            yield from self._half_written(run, inputs, whole)
            yield from _verdicts(run, inputs, whole)
            yield from self._left_over(run, inputs, failed)
        else:
            yield f"exit code {run.code}: {run.stderr[-500:]}"
        if run.code not in VERDICTS or is_end:
            again = self.go(*self.scenario.restart)
            if again.code != clean.code:
                yield f"the restart ends with {again.code}, not {clean.code}: {again.stderr[-500:]}"
            elif self.shown(again.files) != expected:
                yield f"the restart differs: {_differing(self.shown(again.files), expected)}"

    def _inputs_changed(self, inputs: Files, files: Files) -> Iterator[str]:
        outputs = {word.partition("=")[2] for word in self.scenario.words}
        kept = self.scenario.keeps
        for name in inputs.keys() - outputs:
            is_kept = bool(kept) and name.startswith(kept)
            if files.get(name) != inputs[name] and not is_kept:
                yield f"the input {name} was changed"

    def _unread(self, run: Run) -> Iterator[str]:
        """A verdict is unknown where a part of the input cannot be read; the reason is named."""
        verdict = json.loads(run.files["r.json"])["verdict"]
        if verdict != "unknown" or b"input/output error" not in run.files["r.json"].lower():
            yield f"unknown without the reason: {verdict}"

    def _half_written(self, run: Run, inputs: Files, expected: Files) -> Iterator[str]:
        for name, data in self._outputs(run.files).items():
            if name == self.scenario.grows and expected[name].startswith(data):
                continue
            if data not in (inputs.get(name), expected.get(name)) and not _is_error(name, data):
                yield f"{name} is neither whole nor absent: {data[:60]!r}"

    def _left_over(self, run: Run, inputs: Files, failed: str) -> Iterator[str]:
        if _is_of_a_removal(failed):
            return  # What was to be removed could not be.
        for name in run.files.keys() - inputs.keys():
            is_temporary = name.startswith(TEMPORARY) and not name.startswith(OF_A_CRASH)
            if is_temporary or _is_unfinished(name):
                yield f"left over after exit code {run.code}: {name}"


def _is_unfinished(name: str) -> bool:
    """Return whether the name is one of an unfinished file."""
    return any(part.startswith((".", "paraply-rows-")) for part in Path(name).parts)


def _is_of_a_removal(call: str) -> bool:
    """Return whether a call removes a file, or a folder, which is opened and listed for it."""
    kind, _, name = call.partition(" ")
    is_scratch = kind == "open" and Path(name).name.startswith("paraply-rows-")
    return kind in ("unlink", "rmdir", "scandir") or is_scratch


def _is_unread(call: str, fault: Fault, inputs: Files) -> bool:
    kind, _, name = call.partition(" ")
    return fault is Fault.EIO and kind in ("open", "read") and name in inputs


def _is_error(name: str, data: bytes) -> bool:
    if name.endswith(".sarif"):
        return b'"executionSuccessful": false' in data and data.endswith(b"}\n")
    if name.endswith(".json"):
        try:
            return json.loads(data).get("verdict") == "error"
        except ValueError:
            return False
    return name.endswith(".xml") and b"<error " in data and data.endswith(b"</testsuites>\n")


def _verdicts(run: Run, inputs: Files, expected: Files) -> Iterator[str]:
    for name, data in run.files.items():
        is_new = name in expected and data == expected[name] != inputs.get(name)
        if is_new and name.endswith((".json", ".xml", ".sarif")) and "/" not in name:
            yield f"{name} has a verdict beside exit code {run.code}"
    if run.stdout:
        yield f"standard output has a verdict beside exit code {run.code}: {run.stdout[:60]!r}"


def _differing(found: Files, expected: Files) -> str:
    names = [
        f"{name}: {_brief(found.get(name))} instead of {_brief(expected.get(name))}"
        for name in sorted(found.keys() | expected.keys())
        if found.get(name) != expected.get(name)
    ]
    return "; ".join(names[:4])


def _brief(data: bytes | None) -> str:
    return "nothing" if data is None else f"{len(data)} bytes"


def problems(lab: Lab, cases: list[tuple[int, Fault]]) -> list[str]:
    """Return what is wrong after each case, with the call that failed."""
    clean, _, _ = lab.undisturbed
    found = []
    for at, fault in cases:
        call = clean.calls[at - 1] if at <= len(clean.calls) else "the end"
        for what in lab.faults_found(at, fault):
            found.append(f"call {at} ({call}), {fault.name}: {what}")
    return found


def sample(cases: list[tuple[int, Fault]], most: int, seed: int) -> list[tuple[int, Fault]]:
    """Return some of the cases, each fault among them where there is room, in order."""
    shuffled = Random(seed).sample(cases, len(cases))
    first = {fault: (at, fault) for at, fault in reversed(shuffled)}
    chosen = dict.fromkeys([*first.values(), *shuffled])
    return sorted([*chosen][:most], key=lambda case: (case[0], case[1].name))
