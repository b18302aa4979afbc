"""The filter's decisions for both machines, computed by an interpreter of the BPF program."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from paraply.sandbox import program as bpf
from paraply.sandbox.system_calls import ALLOWED, BY_ARGUMENT, MACHINES, STOPPED

PID = 4321
NOT_SUPPORTED = bpf.error(errno.ENOSYS)
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def decide(machine, number, *arguments, audit=None):
    """Interpret the program on ``struct seccomp_data``; return its action."""
    data = {0: number, 4: machine.audit if audit is None else audit}
    for place, value in enumerate((*arguments, *[0] * (6 - len(arguments)))):
        data[16 + 8 * place] = value & 0xFFFFFFFF
        data[20 + 8 * place] = value >> 32
    code, at, register = bpf.program_for(machine, PID), 0, 0
    while True:
        operation, if_true, if_false, constant = code[at]
        at += 1
        if operation == bpf.LOAD:
            register = data[constant]
        elif operation == bpf.RETURN:
            return constant
        else:
            holds = {
                bpf.JUMP_EQUAL: register == constant,
                bpf.JUMP_GREATER_EQUAL: register >= constant,
                bpf.JUMP_SET: bool(register & constant),
            }[operation]
            at += if_true if holds else if_false


@pytest.fixture(params=sorted(MACHINES))
def machine(request):
    return MACHINES[request.param]


def number_of(machine, name):
    return {**ALLOWED, **STOPPED, **BY_ARGUMENT}[name][machine.column]


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_numbers_are_those_of_the_kernels_headers(name):
    if not HEADERS[name].is_file():
        pytest.skip("linux-libc-dev is not installed")
    text = HEADERS[name].read_text()
    found = {
        call: int(number)
        for call, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", text)
    }
    found |= {"newfstatat": found["fstatat"]} if "fstatat" in found else {}
    for call, numbers in {**ALLOWED, **STOPPED, **BY_ARGUMENT}.items():
        number = numbers[MACHINES[name].column]
        assert number < 0 or found[call] == number, call


def test_no_call_has_two_rules(machine):
    numbers = [
        numbers[machine.column]
        for table in (ALLOWED, STOPPED, BY_ARGUMENT)
        for numbers in table.values()
        if numbers[machine.column] >= 0
    ]
    assert len(numbers) == len(set(numbers))


def test_allowed_and_stopped_calls(machine):
    for table, action in ((ALLOWED, bpf.ALLOW), (STOPPED, bpf.TRAP)):
        for name in table:
            number = number_of(machine, name)
            assert number < 0 or decide(machine, number) == action, name


@pytest.mark.parametrize("number", [425, 435, 437, 53, 199, 999])
def test_any_other_call_is_not_supported(machine, number):
    known = {numbers[machine.column] for table in (ALLOWED, STOPPED, BY_ARGUMENT)
             for numbers in table.values()}  # fmt: skip
    if number in known:
        assert decide(machine, number) != NOT_SUPPORTED
    else:
        assert decide(machine, number) == NOT_SUPPORTED


READ, WRITE, BOTH, CREATE, EXCLUSIVE, CUT, APPEND = 0, 1, 2, 0o100, 0o200, 0o1000, 0o2000
UNNAMED = 0o20000000


@pytest.mark.parametrize(
    ("flags", "action"),
    [
        (READ, bpf.ALLOW),
        (READ | 0o2000000, bpf.ALLOW),
        (WRITE, bpf.TRAP),
        (BOTH, bpf.TRAP),
        (3, bpf.TRAP),
        (READ | CREATE, bpf.TRAP),
        (READ | CUT, bpf.TRAP),
        (WRITE | APPEND, bpf.TRAP),
        (BOTH | UNNAMED | EXCLUSIVE, bpf.ALLOW),
        (BOTH | UNNAMED, bpf.TRAP),
        (BOTH | UNNAMED | EXCLUSIVE | CREATE, bpf.TRAP),
    ],
)
def test_files_are_opened_for_reading_or_without_a_name(machine, flags, action):
    assert decide(machine, number_of(machine, "openat"), 0, 0, flags) == action
    if machine.has_x32:
        assert decide(machine, number_of(machine, "open"), 0, flags) == action


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("clone", (0x3D0F00,), bpf.ALLOW),
        ("clone", (17,), bpf.TRAP),
        ("clone", (0x4100 | 17,), bpf.TRAP),
        ("kill", (PID,), bpf.ALLOW),
        ("kill", (1,), bpf.TRAP),
        ("kill", (2**64 - 1,), bpf.TRAP),
        ("tgkill", (PID, PID), bpf.ALLOW),
        ("tgkill", (PID + 1,), bpf.TRAP),
        ("ioctl", (1, 0x5413), bpf.ALLOW),
        ("ioctl", (1, 0x5412), bpf.error(errno.ENOTTY)),
        ("fcntl", (1, 4), bpf.ALLOW),
        ("fcntl", (1, 8), bpf.error(errno.EINVAL)),
        ("prctl", (15,), bpf.ALLOW),
        ("prctl", (22,), bpf.error(errno.EINVAL)),
        ("prlimit64", (0, 7, 0, 99), bpf.ALLOW),
        ("prlimit64", (0, 7, 99), bpf.error(errno.EPERM)),
        ("prlimit64", (0, 7, 1 << 32), bpf.error(errno.EPERM)),
        ("mkdirat", (0,), bpf.error(errno.EROFS)),
    ],
)
def test_arguments_decide(machine, name, arguments, action):
    assert decide(machine, number_of(machine, name), *arguments) == action


def test_another_instruction_set_ends_the_process(machine):
    assert decide(machine, 0, audit=0x40000003) == bpf.KILL
    if machine.has_x32:
        assert decide(machine, 0x40000000 | 41) == bpf.KILL
