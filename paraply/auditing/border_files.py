"""Files of the replay state between parts.

A million rows take some 40 MB (readable engine: 150 MB), too much for a cluster's driver.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from paraply.errors import NO_SHARED_FOLDER
from paraply.mining.store import DiskStore
from paraply.properties.logs.replay_borders import ReplayBorder
from paraply.vocabulary.errors import ParaplyError


def leave_border(border: ReplayBorder[Any], path: str) -> None:
    """Write a border to a file atomically."""
    target = Path(path)
    DiskStore(str(target.parent)).write(target.name, pickle.dumps(border, pickle.HIGHEST_PROTOCOL))


def read_border(path: str) -> ReplayBorder[Any]:
    """Return a border of this audit; else raise P328."""
    try:
        with Path(path).open("rb") as file:
            border: ReplayBorder[Any] = pickle.load(file)
    except OSError as error:
        reason = f"{path}: {(error.strerror or str(error)).lower()}"
        raise ParaplyError(NO_SHARED_FOLDER, reason=reason) from None
    return border
