"""An existing server, named by a data source name (DSN).

``mysql://USER[:PASSWORD]@HOST[:PORT][/][?socket=PATH][&ssl_ca=FILE][&ssl_mode=MODE]``;
``mariadb://`` is a synonym.
The environment variable ``PARAPLY_DSN_PASSWORD`` supplies a missing password, hidden from process
lists.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from paraply.adapters.servers.encryption import VERIFYING, SslMode, driver_settings
from paraply.adapters.servers.errors import DRIVER_MISSING, DSN_UNREADABLE, SERVER_UNREACHABLE
from paraply.adapters.servers.reachable import Reachable
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.secrets import dsn_without_password, keep_secret, split_dsn

if TYPE_CHECKING:
    from pymysql.connections import Connection

PASSWORD_VARIABLE = "PARAPLY_DSN_PASSWORD"
_SCHEMES = ("mysql", "mariadb")
_OPTIONS = ("socket", "ssl_ca", "ssl_mode")
_MODES = tuple(mode.value for mode in SslMode)
_PORT = 3306
_CONNECT_SECONDS_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Dsn:
    """A server's address and account; never shows the password."""

    user: str
    password: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    port: int = _PORT
    socket: str = ""
    """Replaces host and port."""
    ssl_ca: str = ""
    """File of the authorities that may sign the server's certificate."""
    ssl_mode: SslMode = SslMode.PREFERRED

    def __str__(self) -> str:
        place = self.socket or f"{self.host}:{self.port}"
        return f"{self.user}@{place}"


def parse_dsn(text: str) -> Dsn:
    """Parse a data source name; ``ParaplyError`` P613, without the password."""
    shown = dsn_without_password(text)
    found = split_dsn(text)
    password = os.environ.get(PASSWORD_VARIABLE, "")
    if found is not None and found.password is not None:
        password = unquote(found.password)
        keep_secret(found.password)
    keep_secret(password)
    try:
        parts = urlsplit(f"{found.scheme}://{found.place}" if found else text)
        options = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        port = parts.port
    except ValueError as reason:
        raise ParaplyError(DSN_UNREADABLE, given=shown, reason=str(reason)) from None
    unknown = sorted(set(options) - set(_OPTIONS))
    ssl_ca = options.get("ssl_ca", [""])[-1]
    # As MySQL's own clients choose: a named authority is to be used.
    implied = (SslMode.VERIFY_CA if ssl_ca else SslMode.PREFERRED).value
    mode = options.get("ssl_mode", [implied])[-1].lower().replace("-", "_")
    reason_text = (
        f"it begins with none of {', '.join(f'{one}://' for one in _SCHEMES)}"
        if parts.scheme not in _SCHEMES
        else "it names no user" if found is None or not found.user
        else f"its path '{parts.path}' names a schema, and the run has one of its own"
        if parts.path.strip("/")
        else f"it has no option '{unknown[0]}'" if unknown
        else f"ssl_mode is one of {', '.join(_MODES)}" if mode not in _MODES
        else f"ssl_ca is not used with ssl_mode={mode}"
        if ssl_ca and SslMode(mode) not in VERIFYING
        else ""
    )  # fmt: skip
    if reason_text:
        raise ParaplyError(DSN_UNREADABLE, given=shown, reason=reason_text)
    return Dsn(
        user=unquote(found.user) if found else "",
        password=password,
        host=parts.hostname or "127.0.0.1",
        port=port or _PORT,
        socket=options.get("socket", [""])[-1],
        ssl_ca=ssl_ca,
        ssl_mode=SslMode(mode),
    )


class ExistingServer(Reachable):
    """A server outside our control.

    ``is_read_only`` makes every session reject writes.
    """

    def __init__(self, dsn: Dsn, *, name: str, is_read_only: bool = False) -> None:
        self.dsn = dsn
        self.name = name
        self.is_read_only = is_read_only

    @cached_property
    def _version_text(self) -> str:
        return str(self.query("SELECT VERSION()")[0][0])

    @property
    def is_mariadb(self) -> bool:
        """Return whether this is MariaDB."""
        return "mariadb" in self._version_text.lower()

    @property
    def version(self) -> tuple[int, int, int]:
        """Return major, minor and patch version."""
        # Old MariaDB servers put "5.5.5-" before their own number, for old replicas.
        found = re.search(r"(\d+)\.(\d+)\.(\d+)", self._version_text.removeprefix("5.5.5-"))
        return (int(found[1]), int(found[2]), int(found[3])) if found else (0, 0, 0)

    @property
    def version_text(self) -> str:
        """Return family and version, ``MariaDB 10.11.19``."""
        family = "MariaDB" if self.is_mariadb else "MySQL"
        return f"{family} {'.'.join(map(str, self.version))}"

    def connect(self, **arguments: Any) -> Connection[Any]:
        """Return a new autocommit connection, or raise ``ParaplyError`` P614."""
        try:
            import pymysql
        except ImportError as reason:
            raise ParaplyError(DRIVER_MISSING) from reason
        settings: dict[str, Any] = {
            "user": self.dsn.user,
            "password": self.dsn.password,
            "charset": "utf8mb4",
            "autocommit": True,
            "connect_timeout": _CONNECT_SECONDS_MAX,
        }
        if self.dsn.socket:
            settings["unix_socket"] = self.dsn.socket
        else:
            settings |= {"host": self.dsn.host, "port": self.dsn.port}
        if self.is_read_only:
            settings["init_command"] = "SET SESSION TRANSACTION READ ONLY"
        try:
            settings |= driver_settings(self.dsn.ssl_mode, self.dsn.ssl_ca)
            return pymysql.connect(**(settings | arguments))
        except (pymysql.MySQLError, OSError, RuntimeError) as reason:
            raise ParaplyError(
                SERVER_UNREACHABLE, where=str(self.dsn), reason=str(reason)
            ) from reason
