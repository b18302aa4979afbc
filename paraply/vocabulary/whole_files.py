"""Files that appear whole or not at all, where no power failure need be outlived."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Yield a name beside ``path`` to write to; what is written there takes its place at the end.

    After an exception it is removed. The folder is made where there is none.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
