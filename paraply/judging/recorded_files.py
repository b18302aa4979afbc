"""History files on disk."""

from __future__ import annotations

from pathlib import Path

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.history import History
from paraply.vocabulary.history_jsonl import bounded_lines, read_histories

FILE_NOT_READ = register(
    "P321",
    "the counterexample cannot be read: {reason}",
    "name a file that paraply explore --out wrote, or give --program and --subject",
)


def history_files(path: Path) -> list[Path]:
    """Return the file, or every ``.jsonl`` below the folder."""
    return sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]


def histories_in(file: Path) -> list[History]:
    """Return the histories; P321 if unreadable, P5xx if wrong."""
    try:
        with file.open(encoding="utf-8") as stream:
            return list(read_histories(bounded_lines(stream), name=str(file)))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ParaplyError(FILE_NOT_READ, where=str(file), reason=reason or str(error)) from None


def history_in(file: Path) -> History:
    """Return the only history; P321 if there is another number of them."""
    found = histories_in(file)
    if len(found) != 1:
        raise ParaplyError(FILE_NOT_READ, where=str(file), reason=f"it has {len(found)} histories")
    return found[0]
