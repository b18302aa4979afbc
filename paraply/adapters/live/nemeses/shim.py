"""Compile the preloaded library, and share a page with each server."""

from __future__ import annotations

import ctypes
import mmap
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from paraply.adapters.servers.caretaker import temporary_folder

_SOURCE = Path(__file__).with_name("shim.c")
_COMPILERS = ("cc", "gcc", "clang")
_COMPILE_SECONDS_MAX = 60
_PREFIX_BYTES = 256
VARIABLE = "PARAPLY_SHIM"


class Page(ctypes.Structure):
    """The layout of ``shim.c``."""

    _fields_ = (
        ("hub_port", ctypes.c_uint32),
        ("sync_delay_ms", ctypes.c_uint32),
        ("sync_dropped", ctypes.c_uint32),
        ("is_full", ctypes.c_uint32),
        ("bytes_left", ctypes.c_int64),
        ("syncs", ctypes.c_uint64),
        ("syncs_delayed", ctypes.c_uint64),
        ("syncs_dropped", ctypes.c_uint64),
        ("writes_refused", ctypes.c_uint64),
        ("connects", ctypes.c_uint64),
        ("prefix", ctypes.c_char * _PREFIX_BYTES),
        ("wanted", ctypes.c_uint16 * 65536),
    )

    hub_port: int
    sync_delay_ms: int
    sync_dropped: int
    is_full: int
    bytes_left: int
    syncs: int
    syncs_delayed: int
    syncs_dropped: int
    writes_refused: int
    connects: int
    prefix: bytes
    wanted: ctypes.Array[ctypes.c_uint16]


def why_no_shim() -> str:
    """Return why the library cannot be compiled here, or empty."""
    return _compiled()[1]


def shim() -> Path:
    """Return the compiled library; ``RuntimeError`` where :func:`why_no_shim` has a reason."""
    library, reason = _compiled()
    if library is None:
        raise RuntimeError(reason)
    return library


@cache
def _compiled() -> tuple[Path | None, str]:
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        return None, f"there is no C compiler ({', '.join(_COMPILERS)})"
    folder = temporary_folder("paraply-shim-")
    # Servers run under another account.
    folder.chmod(0o755)
    library = folder / "shim.so"
    command = (compiler, "-shared", "-fPIC", "-O2", "-o", library, _SOURCE, "-ldl")
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_COMPILE_SECONDS_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as reason:
        return None, f"{compiler} does not run: {reason}"
    if done.returncode != 0:
        return None, f"{compiler} does not compile it: {done.stderr.strip()[-200:]}"
    library.chmod(0o755)
    return library, ""


class SharedPage:
    """A page that a server and its children share with this process."""

    def __init__(self, file: Path, prefix: Path) -> None:
        self.file = file
        with file.open("w+b") as opened:
            os.ftruncate(opened.fileno(), ctypes.sizeof(Page))
            self._map = mmap.mmap(opened.fileno(), ctypes.sizeof(Page))
        file.chmod(0o600)
        self.page = Page.from_buffer(self._map)
        name = f"{prefix}/".encode()
        if len(name) >= _PREFIX_BYTES:
            raise ValueError(f"{prefix} is longer than {_PREFIX_BYTES - 1} bytes")
        self.page.prefix = name

    def environment(self) -> dict[str, str]:
        """Return the environment variables of the server."""
        return {VARIABLE: str(self.file), "LD_PRELOAD": str(shim())}
