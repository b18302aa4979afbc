"""A scanner of the plain transactions that a server sends."""

from __future__ import annotations

from pathlib import Path

from paraply.vocabulary.kernel_cache import drop_stale_kernels

_FOLDER = Path(__file__).parent
drop_stale_kernels(_FOLDER, _FOLDER.parent)
