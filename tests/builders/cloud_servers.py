"""Google's and Azure's storage APIs on the loopback interface (``ci/servers --only clouds``)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit
from urllib.request import Request, urlopen

from paraply.adapters.servers.ports import free_port
from tests.builders.faulty_s3 import ProxyHandler, ProxyServer
from tests.builders.s3_server import listens

START_S = 60.0
CLOUDS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paraply" / "clouds"
AZURITE = CLOUDS / "node_modules" / ".bin" / "azurite-blob"
BUCKET = "mines"
ACCOUNT = "devstoreaccount1"
# The public key of the emulator's only account.
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def gcs_binary() -> Path | None:
    """Return the emulator of Google's storage; None if it is not installed."""
    return next(CLOUDS.glob("env/lib/python*/site-packages/*/vendor/*/bin/fake-gcs-server*"), None)


@contextmanager
def google() -> Iterator[dict[str, str]]:
    """Start a server with one bucket; yield the environment that reaches it."""
    port = free_port()
    words = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    names = ["-external-url", f"http://127.0.0.1:{port}", "-public-host", f"127.0.0.1:{port}"]
    command = [str(gcs_binary()), *words, *names]
    with _running(command, port), _completed(port) as url:
        data = json.dumps({"name": BUCKET}).encode()
        head = {"Content-Type": "application/json"}
        urlopen(Request(f"{url}/storage/v1/b?project=p", data, head), timeout=60).close()
        yield {"STORAGE_EMULATOR_HOST": url}


@contextmanager
def azure() -> Iterator[dict[str, str]]:
    """Start a server with one container; yield the environment that reaches it."""
    port = free_port()
    words = ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"]
    place = ["--blobHost", "127.0.0.1", "--blobPort", str(port)]
    with _running([str(AZURITE), *words, *place], port), _completed(port) as url:
        import pyarrow.fs as pafs

        server = {"authority": urlsplit(url).netloc, "scheme": "http"}
        options = {
            f"{service}_storage_{name}": value
            for service in ("blob", "dfs")
            for name, value in server.items()
        }
        pafs.AzureFileSystem(ACCOUNT, account_key=_KEY, **options).create_dir(BUCKET)
        yield {
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": _KEY,
            "AZURE_STORAGE_ENDPOINT": f"{url}/{ACCOUNT}",
        }


class _Completed(ProxyHandler):
    """Adds what delta-rs uses and the emulators lack.

    Google's begins no listing at a name, and writes by its JSON API alone; Azure's begins none
    either.
    """

    # The server answers to its own name.
    dropped = (*ProxyHandler.dropped, "host")

    def _write(self) -> None:
        bucket, _, name = self.path.lstrip("/").partition("/")
        if bucket not in ("storage", "upload", "resumable", ACCOUNT):
            name = quote(unquote(name.partition("?")[0]), safe="")
            if self.command == "DELETE":
                self.path = f"/storage/v1/b/{bucket}/o/{name}"
            else:
                wanted = self.headers.get("x-goog-if-generation-match")
                only = f"&ifGenerationMatch={wanted}" if wanted else ""
                self.command = "POST"
                self.path = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}{only}"
        self._forward()

    def _answer(self, status, headers, data):
        if "uploadType=media&name=" in self.path and status == 200:
            made = json.loads(data)
            headers = [*headers, ("ETag", made["etag"]), ("x-goog-generation", made["generation"])]
        asked = parse_qs(urlsplit(self.path).query)
        for first in (*asked.get("start-after", ()), *asked.get("startFrom", ())):
            data = _ENTRY.sub(
                lambda entry, first=first: b"" if entry[2].decode() < first else entry[0], data
            )
        super()._answer(status, headers, data)

    do_PUT = do_DELETE = _write  # noqa: N815 - the library's names


_ENTRY = re.compile(rb"<(Contents|Blob)><(?:Key|Name)>([^<]*)</.*?</\1>", re.DOTALL)


@contextmanager
def _completed(port):
    """Start the proxy of a server; yield its URL."""
    with _running([sys.executable, "-m", __name__, str(port)], 0) as said:
        yield said.readline().strip()


@contextmanager
def _running(command, port):
    process = subprocess.Popen(
        command, cwd=Path(__file__).parents[2], text=True,
        stdout=subprocess.DEVNULL if port else subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until = time.monotonic() + START_S
        while port and not listens(port):
            if process.poll() is not None or time.monotonic() > until:
                raise TimeoutError(f"{command[0]} does not listen")
            time.sleep(0.1)
        yield process.stdout
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


if __name__ == "__main__":
    server = ProxyServer(f"http://127.0.0.1:{sys.argv[1]}", 0.0, 0, _Completed)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
