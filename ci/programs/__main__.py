"""Run third-party appliers and judge them: ``python -m ci.programs [NAME...] [--publish]``.

Exit code 0 if all verdicts, and what readers saw, are as declared, 1 if not, 3 if a named program
cannot run here. Without names every program that can run here runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from ci.programs.program import Program, Record, Task, record_of
from ci.programs.registry import PROGRAMS
from paraply.adapters.servers.caretaker import remove, temporary_folder

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "programs.jsonl"


def stored() -> list[Record]:
    """Return the published records."""
    if not RECORDS.is_file():
        return []
    return [Record(**json.loads(line)) for line in RECORDS.read_text().splitlines()]


def publish(new: Sequence[Record]) -> None:
    """Store records; a new one replaces that of the same program, faults and size."""
    kept = {(one.program, one.faults, one.is_large): one for one in (*stored(), *new)}
    lines = [json.dumps(asdict(kept[key]), sort_keys=True) for key in sorted(kept)]
    RECORDS.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def run(program: Program, task: Task) -> Record:
    """Return the record of one run in a new folder below ``task.folder``."""
    folder = temporary_folder("paraply-programs-", task.folder)
    folder.chmod(0o755)
    try:
        return record_of(program, task, program.run(replace(task, folder=folder)))
    finally:
        remove([str(folder)])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the named programs and print a line each."""
    parser = argparse.ArgumentParser(prog="python -m ci.programs", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *(one.name for one in PROGRAMS)])
    parser.add_argument("--list", action="store_true", help="list the programs and end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--transactions", type=int, default=1000)
    parser.add_argument("--kill", choices=("no", "yes", "both"), default="both")
    parser.add_argument("--publish", action="store_true", help="store each result for the page")
    parser.add_argument(
        "--new", action="store_true", help="leave out what is stored with as many transactions"
    )
    given = parser.parse_args(argv)
    code = 0
    for program in PROGRAMS:
        if given.names and program.name not in given.names:
            continue
        reason = program.missing()
        if given.list or reason:
            print(f"{program.name}: {reason or program.version()}")
            code = 3 if reason and given.names and not given.list else code
            continue
        for kill in (False, True):
            if kill not in {"no": (False,), "yes": (True,), "both": (False, True)}[given.kill]:
                continue
            if kill and not program.can_kill:
                continue
            if given.new and is_stored(program, kill, given.transactions):
                continue
            task = Task(
                folder=Path(tempfile.gettempdir()),
                seed=given.seed,
                transactions=given.transactions,
                kill=kill,
            )
            record = run(program, task)
            if given.publish:
                publish([record])
            print(sentence(record), flush=True)
            code = max(code, 0 if record.is_as_expected else 1)
    return code


def is_stored(program: Program, kill: bool, transactions: int) -> bool:
    """Return whether a run of at least this size is stored."""
    return any(
        (one.program, bool(one.faults)) == (program.name, kill) and one.transactions >= transactions
        for one in stored()
    )


def sentence(record: Record) -> str:
    """Return one line: what was run, what was seen, and whether it is what was declared."""
    surprise = "" if record.verdict == record.expected else f", but {record.expected} was expected"
    return (
        f"{record.program} ({record.version}{', ' if record.faults else ''}{record.faults}, seed "
        f"{record.seed}): {record.required} {record.verdict}{surprise}; level {record.level}, "
        f"{record.prefixes} of {record.commits} states, {record.torn} torn, {record.went_back} "
        f"went back, {record.repeated} repeated, end {record.end}{readers(record)}. "
        f"{record.witness}".rstrip()
    )


def readers(record: Record) -> str:
    """Return what readers saw at crashes."""
    if not record.reader_rounds:
        return ""
    text = f"; readers went back after {record.reader_went_back} of {record.reader_rounds} crashes"
    if record.reader_went_back:
        text += f", by at most {record.reader_lost_max} transactions"
    surprise = record.readers_stay and record.reader_went_back
    return f"{text}, but none was expected" if surprise else text


if __name__ == "__main__":
    sys.exit(main())
