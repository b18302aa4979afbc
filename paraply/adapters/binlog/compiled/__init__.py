"""A compiled scanner for common transactions."""

from __future__ import annotations

from pathlib import Path

from paraply.vocabulary.hidden_modules import hidden_modules
from paraply.vocabulary.kernel_cache import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)

# numba imports them if it can, which takes 7 MB; no kernel calls C or is traced, nor configured.
with hidden_modules("cffi", "coverage", "yaml"):
    import numba.core.typing.cffi_utils  # noqa: F401

    from paraply.adapters.binlog.compiled.stored_kernels import load_stored_kernels_alone

load_stored_kernels_alone()
