"""Write the small log whose audit compiles every kernel: ``python -m ci.bench.sample_log``."""

from __future__ import annotations

import lzma
import tempfile
from pathlib import Path

from ci.bench import generate_log, mixes, workload
from paraply.auditing.loading import SAMPLE

SIZE_BYTES = 200_000


def sample() -> bytes:
    """Return the log: the mix of the benchmarks on small tables, its second half compressed."""
    workload.SBTEST_ROWS = workload.ACCOUNTS = 40
    workload.TEXTS = 16
    workload.HISTORY_SIZE = 100
    generate_log.BLOCK_TRANSACTIONS = 120
    generate_log.LOAD_ROWS = 20
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample"
        generate_log.generate(path, dialect="mariadb", size_bytes=SIZE_BYTES)
        plain = path.read_bytes()
    return b"".join(mixes.compressed(plain, "mariadb", first=len(plain) // 2))


if __name__ == "__main__":
    SAMPLE.write_bytes(lzma.compress(sample(), preset=9 | lzma.PRESET_EXTREME))
