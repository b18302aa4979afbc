"""Arrays that grow in temporary files, so that memory does not grow with a log."""

from __future__ import annotations

import mmap
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Spilled:
    """Rows of one type and width, appended in blocks and mapped into memory at the end."""

    def __init__(self, kind: type[np.generic], width: int = 0) -> None:
        self._kind = np.dtype(kind)
        self._width = width
        self._file = tempfile.TemporaryFile(prefix="paraply-verify-")  # noqa: SIM115
        self._bytes = 0

    def append(self, block: NDArray[Any]) -> None:
        """Add rows."""
        data = np.ascontiguousarray(block, self._kind).tobytes()
        self._bytes += len(data)
        self._file.write(data)

    def array(self) -> NDArray[Any]:
        """Return all rows; they are read from the file when used."""
        self._file.flush()
        shape = (-1, self._width) if self._width else (-1,)
        if not self._bytes:
            return np.zeros((0, *shape[1:]), self._kind)
        # Writable, since kernels for read-only arrays would have to be compiled as well.
        mapped = mmap.mmap(self._file.fileno(), self._bytes, access=mmap.ACCESS_COPY)
        return np.frombuffer(mapped, self._kind).reshape(shape)

    def close(self) -> None:
        """Remove the file; arrays of it stay valid."""
        self._file.close()
