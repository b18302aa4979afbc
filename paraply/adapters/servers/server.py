"""One server of either family."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from paraply.adapters.servers.errors import (
    DRIVER_MISSING,
    INITIALISATION_FAILED,
    SOCKET_PATH_TOO_LONG,
    START_FAILED,
    TOOL_FAILED,
)
from paraply.adapters.servers.installation import Flavour, Installation
from paraply.adapters.servers.network import Host
from paraply.adapters.servers.ports import LOOPBACK, free_port
from paraply.adapters.servers.process import ServerProcess
from paraply.adapters.servers.reachable import Reachable
from paraply.adapters.servers.unprivileged import give, reachable, server_account
from paraply.vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from pymysql.connections import Connection

_SOCKET_PATH_BYTES_MAX = 107
_INITIALISE_SECONDS_MAX = 180
_START_SECONDS_MAX = 90
_STOP_SECONDS_MAX = 30
_TOOL_SECONDS_MAX = 120
_CONNECT_SECONDS_MAX = 60
"""For a busy server; a missing one refuses at once."""
_PORT_ATTEMPTS_MAX = 4
ROOT_PASSWORD = secrets.token_hex(16)
"""Shared, because data directories are copies."""


class ServerSettings(TypedDict, total=False):
    """Optional settings of :class:`Server`."""

    name: str
    server_id: int
    options: Sequence[str]
    server_uuid: str
    host: Host | None


class Server(Reachable):
    """A server in its own directory, on a Unix socket and on 127.0.0.1 or its own host.

    ``options`` override the project's. For a root caller it runs as :func:`server_account`.
    ``server_uuid`` names a MySQL server in GTIDs; empty selects a random one.
    """

    def __init__(
        self,
        installation: Installation,
        directory: Path,
        *,
        name: str = "server",
        server_id: int = 1,
        options: Sequence[str] = (),
        server_uuid: str = "",
        host: Host | None = None,
    ) -> None:
        self.host = host
        """In a private network, if any."""
        self.address = LOOPBACK if host is None else host.address
        self.installation = reachable(installation)
        self.directory = directory
        self.name = name
        self.server_id = server_id
        self.options = tuple(options)
        self.run_as = server_account()
        self.password = ROOT_PASSWORD
        self.server_uuid = server_uuid
        self.environment: Mapping[str, str] = {}
        """Further variables of its process and of the programs that it starts."""
        self.port = 0
        self._process: ServerProcess | None = None

    @property
    def datadir(self) -> Path:
        """Return the data directory."""
        return self.directory / "data"

    @property
    def files(self) -> Path:
        """Return the directory that statements can access."""
        return self.directory / "files"

    @property
    def socket(self) -> Path:
        """Return the Unix socket."""
        return self.directory / "s.sock"

    @property
    def log(self) -> Path:
        """Return the error log, including initialisation."""
        return self.directory / "server.log"

    @property
    def is_mariadb(self) -> bool:
        """Return whether this is MariaDB."""
        return self.installation.flavour is Flavour.MARIADB

    @property
    def process(self) -> ServerProcess:
        """Return the running process."""
        if self._process is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._process

    @property
    def is_running(self) -> bool:
        """Return whether the process runs."""
        return self._process is not None and self._process.is_running

    def initialise(self, template: Path | None = None) -> None:
        """Create the data directory, or copy ``template``."""
        for folder in (self.directory, self.directory / "tmp", self.files):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        give(self.directory, self.run_as)
        if template is not None:
            shutil.copytree(template, self.datadir)
            (self.datadir / "auto.cnf").unlink(missing_ok=True)  # Its UUID must not repeat.
        else:
            self._run_initialisation()
        if self.server_uuid and not self.is_mariadb:
            text = f"[auto]\nserver-uuid={self.server_uuid}\n"
            (self.datadir / "auto.cnf").write_text(text, encoding="ascii")
        give(self.directory, self.run_as)

    def _run_initialisation(self) -> None:
        common = [f"--datadir={self.datadir}", f"--tmpdir={self.directory / 'tmp'}"]
        accounts = self.directory / "tmp" / "accounts.sql"
        accounts.touch(mode=0o600)
        accounts.write_text(_MARIADB_ACCOUNTS if self.is_mariadb else _MYSQL_ACCOUNTS)
        give(accounts, self.run_as)
        if self.is_mariadb:
            command = (
                *self.installation.tool("mariadb-install-db"),
                "--no-defaults",
                *(f"--basedir={root}" for root in (self.installation.root,) if root),
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                f"--extra-file={accounts}",
                "--innodb-log-file-size=32M",
                *common,
            )
        else:
            command = (
                *self.installation.server_command(),
                "--initialize-insecure",
                f"--init-file={accounts}",
                f"--secure-file-priv={self.files}",
                *common,
            )
        with self.log.open("ab") as log:
            try:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=_INITIALISE_SECONDS_MAX,
                    check=False,
                    cwd=self.directory,
                    user=self.run_as,
                    group=self.run_as,
                    extra_groups=() if self.run_as else None,
                )
            except (OSError, subprocess.TimeoutExpired) as reason:
                raise ParaplyError(
                    INITIALISATION_FAILED, where=str(self.log), reason=reason
                ) from reason
        if done.returncode != 0:
            lines = self.log.read_text(errors="replace").splitlines()
            raise ParaplyError(
                INITIALISATION_FAILED, where=str(self.log), reason=" / ".join(lines[-3:])
            )
        accounts.unlink()

    def start(self, *, start_seconds_max: float = _START_SECONDS_MAX) -> None:
        """Start until connectable, and replace a taken port."""
        length = len(os.fsencode(self.socket))
        if length > _SOCKET_PATH_BYTES_MAX:
            raise ParaplyError(
                SOCKET_PATH_TOO_LONG,
                where=str(self.socket),
                length=length,
                length_max=_SOCKET_PATH_BYTES_MAX,
            )
        for attempt in range(_PORT_ATTEMPTS_MAX):
            if self.port == 0 or attempt:
                self.port = free_port()
            self._process = ServerProcess(
                self.command(),
                self.log,
                run_as=self.run_as,
                temporary=self.directory / "tmp",
                namespace=None if self.host is None else self.host.namespace,
                environment=self.environment,
            )
            reason = self._wait_until_answering(start_seconds_max)
            if reason is None:
                return
            self._process.kill()
            if "ddress already in use" not in reason:
                break
        raise ParaplyError(
            START_FAILED, where=str(self.log), seconds=start_seconds_max, reason=reason
        )

    def command(self) -> tuple[str, ...]:
        """Return the server's command line."""
        family = _MARIADB_OPTIONS if self.is_mariadb else _MYSQL_OPTIONS
        return (
            *self.installation.server_command(),
            f"--datadir={self.datadir}",
            f"--tmpdir={self.directory / 'tmp'}",
            f"--socket={self.socket}",
            f"--pid-file={self.directory / 'server.pid'}",
            f"--port={self.port}",
            f"--bind-address={self.address}",
            f"--server-id={self.server_id}",
            f"--secure-file-priv={self.files}",
            *family,
            *self.options,
        )

    def _wait_until_answering(self, seconds_max: float) -> str | None:
        process = self.process
        deadline = time.monotonic() + seconds_max
        while time.monotonic() < deadline:
            if not process.is_running:
                return process.last_lines() or "it ended at once"
            if self.socket.exists():
                try:
                    self.connect().close()
                except ParaplyError:
                    raise
                except Exception:  # The driver raises many kinds of errors for "not yet".
                    pass
                else:
                    return None
            time.sleep(0.05)
        return process.last_lines() or "it still starts"

    def stop(self, *, stop_seconds_max: float = _STOP_SECONDS_MAX) -> None:
        """Shut down, and kill after the limit."""
        if self._process is not None:
            self._process.stop(stop_seconds_max)

    def kill(self) -> None:
        """Kill the process; kernel buffers survive."""
        if self._process is not None:
            self._process.kill()

    def freeze(self) -> None:
        """Stop by SIGSTOP until :meth:`thaw`."""
        self.process.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Continue a frozen process (SIGCONT)."""
        self.process.signal(signal.SIGCONT)

    def connect(self, **arguments: Any) -> Connection[Any]:
        """Return a new autocommit root connection."""
        try:
            import pymysql
        except ImportError as reason:
            raise ParaplyError(DRIVER_MISSING) from reason
        settings: dict[str, Any] = {
            "unix_socket": str(self.socket),
            "user": "root",
            "password": self.password,
            "charset": "utf8mb4",
            "autocommit": True,
            "connect_timeout": _CONNECT_SECONDS_MAX,
            "ssl_disabled": True,  # Loading certificates takes longer than a login.
        }
        return pymysql.connect(**(settings | arguments))

    def binary_logs(self) -> list[Path]:
        """Return the ordered binary log files."""
        names = [str(row[0]) for row in self.query("SHOW BINARY LOGS")]
        return [self.datadir / name for name in names]

    def tool_output(self, command: Sequence[str], *options: str) -> bytes:
        """Return a connected program's output."""
        done = subprocess.run(
            [*command, "--no-defaults", *options],
            capture_output=True,
            env={**os.environ, "MYSQL_PWD": self.password},
            timeout=_TOOL_SECONDS_MAX,
            check=False,
        )
        if done.returncode != 0:
            raise ParaplyError(
                TOOL_FAILED,
                where=self.name,
                tool=Path(command[-1]).name,
                exit_code=done.returncode,
                reason=done.stderr.decode(errors="replace").strip()[-300:],
            )
        return done.stdout


_MARIADB_ACCOUNTS = f"""\
UPDATE mysql.global_priv SET Priv = JSON_SET(Priv, '$.plugin', 'mysql_native_password',
  '$.authentication_string', PASSWORD('{ROOT_PASSWORD}')) WHERE User = 'root';
DELETE FROM mysql.global_priv WHERE User = '' OR User = 'root' AND Host <> 'localhost';
"""
_MYSQL_ACCOUNTS = f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{ROOT_PASSWORD}';\n"
_COMMON_OPTIONS = (
    "--skip-name-resolve",
    "--log-bin=bin",
    "--innodb-buffer-pool-size=64M",
    "--performance-schema=OFF",
)
_MARIADB_OPTIONS = (
    *_COMMON_OPTIONS,
    "--innodb-log-file-size=32M",
    "--log-slave-updates=ON",
    "--gtid-strict-mode=ON",
    "--binlog-format=ROW",
)
_MYSQL_OPTIONS = (
    *_COMMON_OPTIONS,
    "--innodb-redo-log-capacity=33554432",
    "--mysqlx=OFF",
    "--gtid-mode=ON",
    "--enforce-gtid-consistency=ON",
    "--table-open-cache=400",
    "--table-definition-cache=400",
)
