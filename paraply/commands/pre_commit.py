"""A hook of pre-commit: ``python -m paraply.commands.pre_commit COMMAND [OPTION ...] FILE ...``.

pre-commit passes all files in one call. This judges each history by itself, and each log: files of
one folder whose names differ only in the number.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from itertools import groupby

from paraply.cli import EXIT_INTERRUPTED, build_parser, report
from paraply.errors import USAGE
from paraply.file_arguments import outputs_of
from paraply.reporting.escape import visible
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import EXIT_UNREADABLE

_FROM_BEST_TO_WORST = (0, 2, 1, EXIT_UNREADABLE)


def runs_of(words: Sequence[str]) -> list[list[str]]:
    """Return the words of each run of ``paraply``.

    Raises:
        ParaplyError: P301, the words are wrong, or name a report that several runs would write.
    """
    command = words[0] if words else ""
    if command not in ("audit", "check"):
        raise _wrong(f"'{command}' is no hook; choose audit or check", "")
    # A history is one file for the parser, which returns the others as unknown words.
    parsed, others = build_parser([command]).parse_known_args(words)
    unknown = [word for word in others if word.startswith("-")]
    if unknown:
        raise _wrong(f"unrecognized arguments: {' '.join(unknown)}", f" {command}")
    count = len(parsed.files) if command == "audit" else 1 + len(others)
    options, files = list(words[:-count]), sorted(words[-count:])
    if command == "audit":
        groups = [list(log) for _, log in groupby(files, lambda name: name.rpartition(".")[0])]
    else:
        groups = [[name] for name in files]
    written = outputs_of(parsed)
    if written and len(groups) > 1:
        raise _wrong(f"{len(groups)} runs would each write {written[0]}", f" {command}")
    return [[*options, *group] for group in groups]


def _wrong(reason: str, command: str) -> ParaplyError:
    return ParaplyError(USAGE, reason=reason, command=f"paraply{command}")


def main(words: Sequence[str]) -> int:
    """Run all, and return the worst exit code."""
    try:
        runs = runs_of(words)
    except ParaplyError as error:
        report(error, sys.stderr)
        return EXIT_UNREADABLE
    codes = []
    try:
        for run in runs:
            if len(runs) > 1:  # The report of an audit does not name its files.
                print(visible(f"paraply {' '.join(run)}"), flush=True)
            # A process, because only a command's own process has the sandbox.
            done = subprocess.run([sys.executable, "-m", "paraply", *run], check=False)
            codes.append(done.returncode)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    strange = [code for code in codes if code not in _FROM_BEST_TO_WORST]
    return strange[0] if strange else max(codes, key=_FROM_BEST_TO_WORST.index)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
