"""Find server binaries and their commands.

A newer system's tree runs through its own loader and C library.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path

from paraply.adapters.servers.errors import SERVER_NOT_FOUND, SERVER_UNUSABLE
from paraply.vocabulary.errors import ParaplyError

MYSQL_BASEDIR_VARIABLE = "PARAPLY_MYSQL_BASEDIR"
MARIADB_BASEDIR_VARIABLE = "PARAPLY_MARIADB_BASEDIR"
_PROGRAM_FOLDERS = ("bin", "sbin", "usr/bin", "usr/sbin", "libexec", "scripts")
_VERSION_SECONDS_MAX = 30


class Flavour(Enum):
    """The server family."""

    MARIADB = "MariaDB"
    MYSQL = "MySQL"


@dataclass(frozen=True, kw_only=True)
class Installation:
    """A usable server with its tools."""

    flavour: Flavour
    server_binary: Path
    basedir: Path | None = None
    """Root of a tree; None for the PATH."""
    launcher: tuple[str, ...] = ()
    """Prefix of the tree's commands: loader and library path."""
    version_line: str = field(default="", compare=False)

    @cached_property
    def version(self) -> tuple[int, int, int]:
        """Return major, minor and patch version."""
        found = re.search(r"Ver (\d+)\.(\d+)\.(\d+)", self.version_line)
        if found is None:
            raise ParaplyError(
                SERVER_UNUSABLE, binary=self.server_binary, reason=f"says {self.version_line!r}"
            )
        return int(found[1]), int(found[2]), int(found[3])

    @property
    def version_text(self) -> str:
        """Return family and version, ``MariaDB 10.11.19``."""
        return f"{self.flavour.value} {'.'.join(map(str, self.version))}"

    @property
    def dialect(self) -> str:
        """Return the dialect name, ``mariadb_10_11``."""
        return "_".join((self.flavour.value.lower(), *map(str, self.version[:2])))

    @property
    def slug(self) -> str:
        """Return the folder name, ``mariadb-10.11.19``."""
        return self.version_text.lower().replace(" ", "-")

    def server_command(self) -> tuple[str, ...]:
        """Return the server command without options."""
        return (*self.launcher, str(self.server_binary), "--no-defaults", *self._paths())

    def tool(self, name: str) -> tuple[str, ...]:
        """Return a client program's command."""
        path = _program(self.basedir, name)
        if path is None:
            raise ParaplyError(
                SERVER_NOT_FOUND,
                flavour=f"{self.flavour.value} {name}",
                places=self.basedir or "PATH",
                variable=_variable(self.flavour),
            )
        return (*self.launcher, str(path))

    @property
    def dump_command(self) -> tuple[str, ...]:
        """Return the command that dumps schemas."""
        return self.tool("mariadb-dump" if self.flavour is Flavour.MARIADB else "mysqldump")

    @property
    def binlog_command(self) -> tuple[str, ...]:
        """Return the binary log printer's command."""
        return self.tool("mariadb-binlog" if self.flavour is Flavour.MARIADB else "mysqlbinlog")

    @property
    def root(self) -> Path | None:
        """Return the folder of ``bin`` and ``share`` in a tree; None for the PATH."""
        if self.basedir is not None and (self.basedir / "usr/share").is_dir():
            return self.basedir / "usr"
        return self.basedir

    def _paths(self) -> tuple[str, ...]:
        root = self.root
        if root is None:
            return ()
        name = "mysql" if self.flavour is Flavour.MYSQL else "mariadb"
        share = next((p for p in (root / "share" / name, root / "share") if p.is_dir()), root)
        options = [f"--basedir={root}", f"--lc-messages-dir={share}"]
        if (share / "charsets").is_dir():
            options.append(f"--character-sets-dir={share / 'charsets'}")
        for plugins in (root / "lib" / name / "plugin", root / "lib" / "plugin"):
            if plugins.is_dir():
                options.append(f"--plugin-dir={plugins}")
                break
        return tuple(options)


def unpacked_tree(name: str) -> Path:
    """Return the folder into which ``ci/servers --only NAME`` unpacks a server."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "paraply" / name


def find_mariadb(basedir: Path | None = None) -> Installation:
    """Return MariaDB from ``basedir``, environment or PATH."""
    return _find(Flavour.MARIADB, basedir, ("mariadbd", "mysqld"))


def find_mariadb_11_8() -> Installation:
    """Return the unpacked MariaDB 11.8."""
    return find_mariadb(unpacked_tree("mariadb-11.8"))


def find_mysql(basedir: Path | None = None) -> Installation:
    """Return MySQL from ``basedir``, environment, cache or PATH."""
    return _find(Flavour.MYSQL, basedir, ("mysqld",))


def _variable(flavour: Flavour) -> str:
    return MYSQL_BASEDIR_VARIABLE if flavour is Flavour.MYSQL else MARIADB_BASEDIR_VARIABLE


def _find(flavour: Flavour, basedir: Path | None, names: tuple[str, ...]) -> Installation:
    looked: list[str] = []
    named = basedir or _environment_path(_variable(flavour))
    for place in _places(flavour, named):
        looked.append(str(place or "PATH"))
        for name in names:
            binary = _program(place, name)
            if binary is None:
                continue
            launcher = () if place is None or _is_wrapped(binary) else _own_loader(place)
            line = _version_line((*launcher, str(binary)))
            if ("MariaDB" in line) == (flavour is Flavour.MARIADB):
                return Installation(
                    flavour=flavour,
                    server_binary=binary,
                    basedir=place,
                    launcher=launcher,
                    version_line=line,
                )
    raise ParaplyError(
        SERVER_NOT_FOUND,
        flavour=flavour.value,
        places=", ".join(looked),
        variable=_variable(flavour),
    )


def _environment_path(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value) if value else None


def _places(flavour: Flavour, named: Path | None) -> Iterator[Path | None]:
    if named is not None:  # A folder from the user is the only candidate.
        yield named.resolve()
        return
    if flavour is Flavour.MYSQL:
        yield unpacked_tree("mysql")
    yield None


def _program(basedir: Path | None, name: str) -> Path | None:
    if basedir is None:
        found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")
        return Path(found) if found else None
    for folder in _PROGRAM_FOLDERS:
        path = basedir / folder / name
        if path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def _is_wrapped(program: Path) -> bool:
    """Return whether ``ci/servers`` put a script in its place that runs the tree's loader."""
    return (program.parent / ".elf" / program.name).is_file()


def _own_loader(basedir: Path) -> tuple[str, ...]:
    for folder in ("usr/lib", "lib"):
        for loader in sorted((basedir / folder).glob("*-linux-gnu*/ld-linux*.so.*")):
            return (str(loader), "--library-path", str(loader.parent))
    return ()


def _version_line(command: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(
            [*command, "--no-defaults", "--version"],
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as reason:
        raise ParaplyError(SERVER_UNUSABLE, binary=command[-1], reason=reason) from reason
    if done.returncode != 0:
        reason_text = done.stderr.strip().splitlines()
        raise ParaplyError(
            SERVER_UNUSABLE,
            binary=command[-1],
            reason=reason_text[-1] if reason_text else f"exit code {done.returncode}",
        )
    return done.stdout.strip()
