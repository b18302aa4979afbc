"""A real S3 API on the loopback interface, in a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from paraply.adapters.servers.ports import free_port

START_S = 60.0


@contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """Start a server without a bucket; yield the environment that reaches it.

    Raises:
        ImportError: moto is not installed.
        TimeoutError: it does not listen.
    """
    import moto.server

    port = free_port()
    command = [sys.executable, "-m", moto.server.__name__, "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    environment = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    try:
        until = time.monotonic() + START_S
        while not listens(port):
            if process.poll() is not None or time.monotonic() > until:
                raise TimeoutError("the S3 server does not listen")
            time.sleep(0.1)
        yield environment
    finally:
        process.kill()
        process.wait()


def listens(port: int) -> bool:
    """Return whether a process listens at a loopback port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
