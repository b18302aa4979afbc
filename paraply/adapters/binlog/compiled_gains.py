"""From which size on compiled code gains time with logs."""

from __future__ import annotations

from pathlib import Path

from paraply.vocabulary.kernel_cache import has_kernels

COMPILED_BYTES_MIN = 1 << 20
"""Below this, loading the compiled code takes longer than it saves."""
COMPILING_BYTES_MIN = 64 << 20
"""The same while its kernels are not compiled."""


def gains_by_kernels(size: int, judges: str) -> bool:
    """Return whether logs of ``size`` bytes in all are faster read and judged by kernels.

    ``judges`` is the folder of the judges among the properties.
    """
    package = Path(__file__).resolve().parents[2]
    kept = has_kernels(
        package / "adapters" / "binlog" / "compiled", package / "properties" / judges / "compiled"
    )
    return size >= (COMPILED_BYTES_MIN if kept else COMPILING_BYTES_MIN)
