"""The seccomp filter as a classic BPF program."""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Mapping

from paraply.sandbox.system_calls import ALLOWED, BY_ARGUMENT, STOPPED, Machine

ALLOW = 0x7FFF0000
TRAP = 0x00030000
"""SIGSYS: its handler prints the Python stack, then the process ends."""
KILL = 0x80000000
_ERRNO = 0x00050000

LOAD, JUMP_EQUAL, JUMP_GREATER_EQUAL, JUMP_SET, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_JMP|JGE|K, BPF_JMP|JSET|K, BPF_RET|K of linux/bpf_common.h."""
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16

_O_WRONLY_OR_RDWR, _O_CREAT, _O_EXCL, _O_TRUNC, _O_TMPFILE = 0x3, 0x40, 0x80, 0x200, 0x400000
_CLONE_THREAD = 0x10000
_X32 = 0x40000000
_TERMINAL_QUESTIONS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, TCGETS2; not TIOCSTI, which types."""
_FILE_CONTROLS = (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1032)
"""Duplicates, flags and locks of fcntl.h; not F_SETOWN, which sends signals."""
_PROCESS_CONTROLS = (3, 15, 16, 0x53564D41)
"""PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA of sys/prctl.h."""

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, constant."""
Program = tuple[Instruction, ...]


def error(number: int) -> int:
    """Return the action that fails a call with ``errno`` ``number``."""
    return _ERRNO | number


def program_for(machine: Machine, pid: int) -> Program:
    """Return the filter of process ``pid``, the only one that it may send signals to."""
    parts: list[Instruction] = [
        (LOAD, 0, 0, _ARCHITECTURE_AT),
        (JUMP_EQUAL, 1, 0, machine.audit),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, _NUMBER_AT),
    ]
    if machine.has_x32:
        parts += [(JUMP_GREATER_EQUAL, 0, 1, _X32), (RETURN, 0, 0, KILL)]
    parts += _cases(machine, ALLOWED, [(RETURN, 0, 0, ALLOW)])
    for name, block in _blocks(pid).items():
        parts += _cases(machine, {name: BY_ARGUMENT[name]}, block)
    parts += _cases(machine, STOPPED, [(RETURN, 0, 0, TRAP)])
    return (*parts, (RETURN, 0, 0, error(errno.ENOSYS)))


def packed(program: Program) -> bytes:
    """Return the program as an array of ``struct sock_filter``."""
    return b"".join(struct.pack("=HBBI", *one) for one in program)


def _cases(
    machine: Machine, calls: Mapping[str, tuple[int, int]], block: list[Instruction]
) -> Iterable[Instruction]:
    for numbers in calls.values():
        number = numbers[machine.column]
        if number >= 0:
            yield (JUMP_EQUAL, 0, len(block), number)
            yield from block


def _blocks(pid: int) -> dict[str, list[Instruction]]:
    only_self = _one_of(0, (pid,), TRAP)
    return {
        "open": _opening(1),
        "openat": _opening(2),
        # A thread, not a process.
        "clone": [
            _load(0),
            (JUMP_SET, 0, 1, _CLONE_THREAD),
            (RETURN, 0, 0, ALLOW),
            (RETURN, 0, 0, TRAP),
        ],
        "kill": only_self,
        "tgkill": only_self,
        "tkill": only_self,
        "ioctl": _one_of(1, _TERMINAL_QUESTIONS, error(errno.ENOTTY)),
        "fcntl": _one_of(1, _FILE_CONTROLS, error(errno.EINVAL)),
        "prctl": _one_of(0, _PROCESS_CONTROLS, error(errno.EINVAL)),
        # Limits are read, not set: the new limit is a null pointer.
        "prlimit64": [
            _load(2),
            (JUMP_EQUAL, 0, 3, 0),
            (LOAD, 0, 0, _ARGUMENTS_AT + 8 * 2 + 4),
            (JUMP_EQUAL, 0, 1, 0),
            (RETURN, 0, 0, ALLOW),
            (RETURN, 0, 0, error(errno.EPERM)),
        ],
        # Libraries make folders that exist, and go on after any error.
        "mkdir": [(RETURN, 0, 0, error(errno.EROFS))],
        "mkdirat": [(RETURN, 0, 0, error(errno.EROFS))],
    }


def _opening(argument: int) -> list[Instruction]:
    """Return the block that allows reading, and temporary files without a name."""
    return [
        _load(argument),
        (JUMP_SET, 5, 0, _O_CREAT | _O_TRUNC),
        (JUMP_SET, 0, 2, _O_TMPFILE),
        # With O_EXCL it cannot get a name later.
        (JUMP_SET, 0, 3, _O_EXCL),
        (RETURN, 0, 0, ALLOW),
        (JUMP_SET, 1, 0, _O_WRONLY_OR_RDWR),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, TRAP),
    ]


def _one_of(argument: int, values: Iterable[int], otherwise: int) -> list[Instruction]:
    block = [_load(argument)]
    for value in values:
        block += [(JUMP_EQUAL, 0, 1, value), (RETURN, 0, 0, ALLOW)]
    return [*block, (RETURN, 0, 0, otherwise)]


def _load(argument: int) -> Instruction:
    """Load the lower half of an argument; both machines are little-endian."""
    return (LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)
