"""Calls of the Linux kernel that lock the calling process: limits, Landlock, seccomp."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import stat
import struct
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress

from paraply.sandbox.program import TRAP, packed, program_for
from paraply.sandbox.system_calls import MACHINES, Machine

_SECCOMP = {"x86_64": 317, "aarch64": 277}
_FILTER_MODE, _ACTION_AVAILABLE, _ALL_THREADS = 1, 2, 1
_NO_NEW_PRIVILEGES, _PARENT_DEATH_SIGNAL = 38, 1
_SIGKILL = 9

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE = 1 << 14
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Number of file rights of each Landlock version; later ones have as many as 5."""
_NETWORK_FROM, _SCOPES_FROM = 4, 6


def machine_here() -> Machine | None:
    """Return the machine if paraply has a filter for it."""
    if not sys.platform.startswith("linux") or sys.maxsize < 1 << 32:
        return None
    return MACHINES.get(platform.machine())


def has_seccomp() -> bool:
    """Return whether the kernel accepts filters."""
    machine = machine_here()
    if machine is None:
        return False
    action = ctypes.c_uint32(TRAP)
    with suppress(OSError):
        return _call(_SECCOMP[machine.name], _ACTION_AVAILABLE, 0, ctypes.byref(action)) == 0
    return False


def landlock_version() -> int:
    """Return the version of Landlock, 0 without it."""
    with suppress(OSError):
        return _call(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    return 0


def has_unnamed_files() -> bool:
    """Return whether temporary files need no name; some file systems of containers require one."""
    unnamed = getattr(os, "O_TMPFILE", 0)
    with suppress(OSError):
        os.close(os.open(tempfile.gettempdir(), unnamed | os.O_RDWR | os.O_EXCL, 0o600))
        return bool(unnamed)
    return False


def limit(data_bytes: int) -> None:
    """Limit private memory, write no core file, and end when the parent process ends."""
    import resource  # Windows lacks it.

    _set_limit(resource.RLIMIT_DATA, data_bytes)
    _set_limit(resource.RLIMIT_CORE, 0)
    _control(_PARENT_DEATH_SIGNAL, _SIGKILL)


def confine_files(readable: Iterable[str], temporary: str) -> None:
    """Allow reading below ``readable`` only, and unnamed files in ``temporary`` (Landlock).

    Without Landlock it does nothing. Missing paths are ignored.
    """
    version = landlock_version()
    if not version:
        return
    rights = (1 << _RIGHTS.get(version, 16)) - 1
    attributes = [rights]
    if version >= _NETWORK_FROM:
        attributes.append(3)  # Bind and connect of TCP.
    if version >= _SCOPES_FROM:
        attributes.append(3)  # Abstract sockets and signals.
    text = struct.pack(f"={len(attributes)}Q", *attributes)
    ruleset = _call(_CREATE_RULESET, text, len(text), 0)
    for path in readable:
        _allow(ruleset, path, (_READ_FILE | _READ_DIR) & rights)
    _allow(ruleset, temporary, (_READ_FILE | _WRITE_FILE | _TRUNCATE) & rights)
    _control(_NO_NEW_PRIVILEGES, 1)
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def filter_calls() -> None:
    """Install the seccomp filter in all threads; nothing removes it."""
    machine = machine_here()
    if machine is None:
        raise OSError(errno.ENOSYS, "there is no filter for this machine")
    code = ctypes.create_string_buffer(packed(program_for(machine, os.getpid())))
    count = (len(code) - 1) // 8
    program = struct.pack("=H6xQ", count, ctypes.addressof(code))
    _control(_NO_NEW_PRIVILEGES, 1)
    _call(_SECCOMP[machine.name], _FILTER_MODE, _ALL_THREADS, program)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= ~_READ_DIR
        rule = struct.pack("=Qi", rights, place)
        with suppress(OSError):  # A pipe has no place in the file system, and needs no rule.
            _call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(place)


def _set_limit(kind: int, value: int) -> None:
    import resource

    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _control(option: int, value: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl {option} fails")


def _call(number: int, *arguments: object) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    whole = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    found = int(library.syscall(ctypes.c_long(number), *whole))
    if found < 0:
        raise OSError(ctypes.get_errno(), f"system call {number} fails")
    return found
