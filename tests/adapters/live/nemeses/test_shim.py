"""A small program with the preloaded library sees delays, full disks and redirected connections."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from paraply.adapters.live.nemeses.shim import SharedPage, why_no_shim
from paraply.adapters.live.nemeses.wires import Wires

pytestmark = pytest.mark.skipif(bool(why_no_shim()), reason=why_no_shim() or "compiled")

_WRITE = """
import errno, os, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
for call in (lambda: os.write(fd, b"a" * 100), lambda: os.pwrite(fd, b"b" * 100, 100),
             lambda: os.pwrite(fd, b"c" * 100, 0), lambda: os.writev(fd, [b"d" * 60, b"e" * 60]),
             lambda: os.posix_fallocate(fd, 0, 4096)):
    try:
        call()
        print("ok")
    except OSError as reason:
        print(errno.errorcode[reason.errno])
"""
_SYNC = """
import os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
began = time.monotonic()
os.fsync(fd)
os.fdatasync(fd)
print(time.monotonic() - began)
"""
_CONNECT = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as one:
    print(one.recv(10).decode())
"""


@pytest.fixture
def shared(tmp_path):
    (tmp_path / "data").mkdir()
    return SharedPage(tmp_path / "page", tmp_path / "data")


def run(shared, program, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, **shared.environment()}, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    return done.stdout.split()


def test_files_do_not_grow_past_the_allowance_but_can_be_overwritten(shared, tmp_path):
    shared.page.bytes_left = 250
    shared.page.is_full = 1
    answers = run(shared, _WRITE, tmp_path / "data" / "f")
    # 100 and 100 fit; overwriting needs nothing; 20 more fit; 3,876 do not.
    assert answers == ["ok", "ok", "ok", "ok", "ENOSPC"]
    assert shared.page.writes_refused == 1
    assert shared.page.bytes_left == 30


def test_a_disk_without_room_refuses_every_longer_file_below_the_prefix_only(shared, tmp_path):
    shared.page.is_full = 1
    assert run(shared, _WRITE, tmp_path / "data" / "f") == ["ENOSPC"] * 5
    assert run(shared, _WRITE, tmp_path / "elsewhere") == ["ok"] * 5
    assert shared.page.writes_refused == 5


def test_files_grow_where_the_disk_is_not_full(shared, tmp_path):
    assert run(shared, _WRITE, tmp_path / "data" / "f") == ["ok"] * 5
    assert shared.page.writes_refused == 0


def test_each_fsync_waits_for_the_delay(shared, tmp_path):
    shared.page.sync_delay_ms = 150
    (seconds,) = run(shared, _SYNC, tmp_path / "data" / "f")
    assert float(seconds) >= 0.3
    assert (shared.page.syncs, shared.page.syncs_delayed, shared.page.syncs_dropped) == (2, 2, 0)


def test_fsync_is_dropped(shared, tmp_path):
    shared.page.sync_dropped = 1
    run(shared, _SYNC, tmp_path / "data" / "f")
    assert (shared.page.syncs, shared.page.syncs_delayed, shared.page.syncs_dropped) == (2, 0, 2)


def test_connections_pass_through_the_hub_to_the_wanted_port(shared):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        wires = Wires(lambda wanted: 1 if wanted == port else None)
        shared.page.hub_port = wires.hub(0, shared.page.wanted.__getitem__)
        program = subprocess.Popen(
            [sys.executable, "-c", _CONNECT, str(port)],
            env={**os.environ, **shared.environment()}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        listener.settimeout(60)
        far, _ = listener.accept()
        with far:
            far.sendall(b"hello")
        answer, _ = program.communicate(timeout=60)
        assert answer.strip() == "hello"
        assert shared.page.connects == 1
        assert wires.forwarded[1, 0] == 5
        wires.close()
