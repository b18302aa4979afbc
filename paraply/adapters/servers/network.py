"""A private network for a room's servers, with a breakable switch.

Each host and the switch (a bridge) is an unnamed network namespace, without a system interface. The
kernel removes them after this process and the servers.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from paraply.adapters.servers.errors import NETWORK_REFUSED
from paraply.vocabulary.errors import ParaplyError

SUBNET = "192.0.2.0/24"
"""Example addresses (RFC 5737), never routed."""

_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)
_OWN_NAMESPACE = "/proc/thread-self/ns/net"
_BRIDGE = "switch"
_COMMAND_SECONDS_MAX = 20


class Namespace:
    """A network namespace, until closed and unused."""

    def __init__(self) -> None:
        found: list[int] = []
        failed: list[OSError] = []

        def leave() -> None:
            # A namespace belongs to a thread: this thread ends in the new one.
            try:
                _checked(_LIBC.unshare(_CLONE_NEWNET))
                found.append(os.open(_OWN_NAMESPACE, os.O_RDONLY))
            except OSError as reason:
                failed.append(reason)

        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        if failed:
            raise ParaplyError(NETWORK_REFUSED, reason=failed[0]) from failed[0]
        self._handle = found[0]

    @property
    def path(self) -> str:
        """Return its file, valid in this process' lifetime."""
        return f"/proc/{os.getpid()}/fd/{self._handle}"

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Move this thread and new children into it."""
        before = os.open(_OWN_NAMESPACE, os.O_RDONLY)
        try:
            _checked(_LIBC.setns(self._handle, _CLONE_NEWNET))
            try:
                yield
            finally:
                _checked(_LIBC.setns(before, _CLONE_NEWNET))
        finally:
            os.close(before)

    def run(self, *command: str) -> None:
        """Run a program; ``ParaplyError`` P616 on failure."""
        with self.entered():
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_COMMAND_SECONDS_MAX, check=False
            )
        if done.returncode != 0:
            reason = f"{' '.join(command)}: {done.stderr.strip()}"
            raise ParaplyError(NETWORK_REFUSED, reason=reason)

    def close(self) -> None:
        """Release the namespace."""
        os.close(self._handle)


class Host:
    """An address and its namespace."""

    def __init__(self, number: int) -> None:
        self.address = SUBNET.replace("0/24", str(number))
        self.port = f"port{number}"
        """The switch's interface."""
        self.namespace = Namespace()


class PrivateNetwork:
    """Hosts on a breakable switch; requires root (``ParaplyError`` P616).

    A cut drops packets silently, and connections stay open.
    """

    def __init__(self, size: int) -> None:
        self._ip = _program("ip")
        self.switch = Namespace()
        self.hosts: tuple[Host, ...] = ()
        try:
            self._add(_BRIDGE, "type", "bridge", "stp_state", "0", "forward_delay", "0")
            self.switch.run(self._ip, "link", "set", _BRIDGE, "up")
            for number in range(1, size + 1):
                self._connect(Host(number))
        except BaseException:
            self.close()
            raise

    def _add(self, name: str, *options: str) -> None:
        self.switch.run(self._ip, "link", "add", name, *options)

    def _connect(self, host: Host) -> None:
        self.hosts = (*self.hosts, host)
        peer = ("peer", "name", "eth0", "netns", host.namespace.path)
        self._add(host.port, "type", "veth", *peer)
        length = SUBNET.rpartition("/")[2]
        for options in (
            ("link", "set", "lo", "up"),
            ("address", "add", f"{host.address}/{length}", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
        ):
            host.namespace.run(self._ip, *options)
        self.switch.run(self._ip, "link", "set", host.port, "master", _BRIDGE, "up")

    def cut(self, host: Host) -> None:
        """Drop a host's packets."""
        self.switch.run(self._ip, "link", "set", host.port, "nomaster")

    def mend(self, host: Host) -> None:
        """Reconnect a host."""
        self.switch.run(self._ip, "link", "set", host.port, "master", _BRIDGE)

    def close(self) -> None:
        """Release all namespaces."""
        for namespace in (self.switch, *(host.namespace for host in self.hosts)):
            namespace.close()
        self.hosts = ()


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if found is None:
        raise ParaplyError(NETWORK_REFUSED, reason=f"there is no program '{name}' (iproute2)")
    return found
