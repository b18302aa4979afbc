"""A right writer of one report, and wrong ones that the simulated system must catch."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

TEXT = json.dumps({"verdict": "holds", "rows": [*range(2000)]}, indent=1) + "\n"
REPORT = Path("r.json")
PART = Path("tmp/part")


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _report(
    text: str = TEXT,
    *,
    write: Callable[[int, bytes], object] = _write,
    place: Path = PART,
    syncs_file: bool = True,
    syncs_folder: bool = True,
    removes: bool = True,
) -> None:
    try:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            write(handle, text.encode())
            if syncs_file:
                os.fsync(handle)
        finally:
            os.close(handle)
        if place != REPORT:
            os.replace(place, REPORT)
        if syncs_folder:
            _sync_folder()
    finally:
        if removes and place != REPORT:
            place.unlink(missing_ok=True)


def _sync_folder() -> None:
    handle = os.open(".", os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _code(work: Callable[[], None]) -> int:
    try:
        work()
    except (OSError, MemoryError):
        REPORT.unlink(missing_ok=True)
        return 70
    return 0


def right(_: list[str]) -> int:
    """Write elsewhere, sync, rename, sync the folder."""
    return _code(_report)


def in_place(_: list[str]) -> int:
    """Write under the final name."""
    return _code(lambda: _report(place=REPORT))


def without_sync(_: list[str]) -> int:
    """Rename a file that is not synced."""
    return _code(lambda: _report(syncs_file=False))


def without_folder_sync(_: list[str]) -> int:
    """Leave the new name to the disk's discretion."""
    return _code(lambda: _report(syncs_folder=False))


def short_writes(_: list[str]) -> int:
    """Take one write as the whole."""
    return _code(lambda: _report(write=os.write))


def left_over(_: list[str]) -> int:
    """Leave the unfinished file after an error."""
    return _code(lambda: _report(removes=False))


def swallowed(_: list[str]) -> int:
    """End with a verdict though the report could not be written."""
    _code(_report)
    return 0


def verdict_beside_an_error(_: list[str]) -> int:
    """Print the verdict before the report is written."""
    print("holds", flush=True)
    return _code(_report)


def traceback(_: list[str]) -> int:
    """End as Python does after an uncaught exception: 1, which means violated."""
    return 1 if _code(_report) else 0


def clock(_: list[str]) -> int:
    """Measure by a clock that people set."""
    began = time.time()
    seconds = time.time() - began
    return _code(lambda: _report(TEXT if seconds >= 0 else "{}\n"))


def repeated(_: list[str]) -> int:
    """Append all results again after a restart."""

    def append() -> None:
        for number in range(3):
            with open("log.txt", "a", encoding="utf-8") as file:
                file.write(f"{number}\n")
                file.flush()
                os.fsync(file.fileno())
            _sync_folder()

    return _code(append)


def changed_input(_: list[str]) -> int:
    """Mark the input as read."""
    with open("input", "a", encoding="utf-8") as file:
        file.write("read\n")
    return _code(_report)


WRONG = {
    in_place: "neither whole nor absent",
    without_sync: "neither whole nor absent",
    without_folder_sync: "lost after the end",
    short_writes: "a verdict with other files",
    left_over: "left over",
    swallowed: "a verdict with other files",
    verdict_beside_an_error: "standard output has a verdict",
    traceback: "another output",
    clock: "a verdict with other files",
    repeated: "the restart differs",
    changed_input: "the input",
}
"""What must be said of each wrong writer."""
