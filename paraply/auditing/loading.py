"""Loads the compiled engine before a process locks itself.

A locked process cannot store kernels, and a stored kernel must not come from a process that read
foreign files. So an audit of a small log of paraply's own loads, or compiles and stores, them all.
"""

from __future__ import annotations

import lzma
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from paraply.auditing.engines import COMPILED
from paraply.auditing.pipeline import AuditRequest, audit, may_compile

SAMPLE = Path(__file__).with_name("sample_log.xz")
"""Written by ``ci.bench.sample_log``."""


def load_engine(request: AuditRequest) -> None:
    """Load the engine that an audit of ``request`` needs; its files are not opened."""
    if not may_compile(request) or find_spec("numba") is None:
        return
    with sample_log() as name:
        audit(AuditRequest(files=(name,), engine=COMPILED))


@contextmanager
def sample_log() -> Iterator[str]:
    """Write the sample into a temporary file, and return its path."""
    with tempfile.NamedTemporaryFile(prefix="paraply-sample-") as log:
        log.write(lzma.decompress(SAMPLE.read_bytes()))
        log.flush()
        yield log.name
