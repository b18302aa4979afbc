"""An existing server, named by a data source name (DSN).

``mysql://USER[:PASSWORD]@HOST[:PORT][/][?socket=PATH][&ssl_ca=FILE][&ssl_mode=MODE]``;
``mariadb://`` is a synonym. An ``@`` in an option is written ``%40``.
The environment variable ``PARAPLY_DSN_PASSWORD`` supplies a missing password, hidden from process
lists.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from paraply.adapters.servers.encryption import VERIFYING, SslMode, driver_settings
from paraply.adapters.servers.errors import DRIVER_MISSING, DSN_UNREADABLE, SERVER_UNREACHABLE
from paraply.adapters.servers.reachable import Reachable
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.secrets import DsnParts, keep_secret, place_of_malformed, split_dsn

if TYPE_CHECKING:
    from pymysql.connections import Connection

PASSWORD_VARIABLE = "PARAPLY_DSN_PASSWORD"
_SCHEMES = ("mysql", "mariadb")
_OPTIONS = ("socket", "ssl_ca", "ssl_mode")
_MODES = tuple(mode.value for mode in SslMode)
_OPTION_NAME = re.compile(r"[a-z_]{1,20}")
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


def parse_dsn(text: str, *, option: str = "--dsn") -> Dsn:
    """Parse the data source name of an option; ``ParaplyError`` P613.

    The error quotes only the host and option names: any other part may be of the password.
    """
    found = split_dsn(text)
    password = os.environ.get(PASSWORD_VARIABLE, "")
    if found is not None and found.password is not None:
        password = unquote(found.password)
        keep_secret(found.password)
    keep_secret(password)
    try:
        return _parsed(found, password)
    except _RefusedError as refusal:
        where = f"{option} {place_of_malformed(text)}"
        raise ParaplyError(DSN_UNREADABLE, where=where, reason=str(refusal)) from None


class _RefusedError(Exception):
    """A reason that quotes no secret."""


def _parsed(found: DsnParts | None, password: str) -> Dsn:
    if found is None or found.scheme.lower() not in _SCHEMES:
        raise _RefusedError(f"it begins with none of {', '.join(f'{one}://' for one in _SCHEMES)}")
    if not found.user:
        raise _RefusedError("it names no user")
    if set(found.user) & set("/?#"):
        raise _RefusedError(
            "write %2F, %3F, %23 for '/', '?', '#' in a user, %40 for '@' in an option"
        )
    try:
        user = unquote(found.user, errors="strict")
        if found.password is not None:
            password = unquote(found.password, errors="strict")
        f"{user}{password}".encode()
    except UnicodeError:
        raise _RefusedError("its user or password is not UTF-8") from None
    parts, port, options = _place_parts(found)
    unknown = sorted(set(options) - set(_OPTIONS))
    ssl_ca = options.get("ssl_ca", [""])[-1]
    # As MySQL's own clients choose: a named authority is to be used.
    implied = (SslMode.VERIFY_CA if ssl_ca else SslMode.PREFERRED).value
    mode = options.get("ssl_mode", [implied])[-1].lower().replace("-", "_")
    reason = (
        "its path names a schema, and the run has one of its own" if parts.path.strip("/")
        else "it has a '#' after the host" if "#" in found.place
        else f"it has no option '{unknown[0]}'" if unknown and _OPTION_NAME.fullmatch(unknown[0])
        else f"its options are {', '.join(_OPTIONS)}" if unknown
        else f"ssl_mode is one of {', '.join(_MODES)}" if mode not in _MODES
        else f"ssl_ca is not used with ssl_mode={mode}"
        if ssl_ca and SslMode(mode) not in VERIFYING
        else ""
    )  # fmt: skip
    if reason:
        raise _RefusedError(reason)
    return Dsn(
        user=user,
        password=password,
        host=parts.hostname or "127.0.0.1",
        port=port or _PORT,
        socket=options.get("socket", [""])[-1],
        ssl_ca=ssl_ca,
        ssl_mode=SslMode(mode),
    )


def _place_parts(found: DsnParts) -> tuple[SplitResult, int | None, dict[str, list[str]]]:
    # The reasons of the library quote what they refuse.
    try:
        parts = urlsplit(f"{found.scheme}://{found.place}")
    except ValueError:
        raise _RefusedError("its host is malformed") from None
    try:
        port = parts.port
    except ValueError:
        raise _RefusedError("its port is no number from 0 to 65535") from None
    try:
        strict = bool(parts.query)
        return parts, port, parse_qs(parts.query, keep_blank_values=True, strict_parsing=strict)
    except ValueError:
        raise _RefusedError("its options are not written NAME=VALUE&NAME=VALUE") from None


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
            # The driver encodes text as Latin-1.
            "password": self.dsn.password.encode(),
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
        except (pymysql.MySQLError, OSError, RuntimeError, ValueError) as reason:
            raise ParaplyError(
                SERVER_UNREACHABLE, where=str(self.dsn), reason=str(reason)
            ) from reason
