"""Loads the compiled engine before a process locks itself.

A locked process cannot store kernels, and a stored kernel must not come from a process that read
foreign files. So an audit of a small log of paraply's own loads, or compiles and stores, them all.
"""

from __future__ import annotations

import lzma
import tempfile
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
    with tempfile.NamedTemporaryFile(prefix="paraply-sample-") as log:
        log.write(lzma.decompress(SAMPLE.read_bytes()))
        log.flush()
        audit(AuditRequest(files=(log.name,), engine=COMPILED))
