"""The account and programs of our servers for a root caller.

A root server would write files as root for accounts with FILE. So servers run as a system account
without rights, below closed directories.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from paraply.adapters.servers.caretaker import temporary_folder
from paraply.adapters.servers.errors import FOLDER_CLOSED, NO_ACCOUNT
from paraply.adapters.servers.installation import Installation
from paraply.vocabulary.errors import ParaplyError

_ACCOUNTS = ("mysql", "nobody")


@cache
def server_account() -> str | None:
    """Return the servers' account; None unless the caller is root.

    Raises ``ParaplyError`` P618 without such an account.
    """
    if os.geteuid() != 0:
        return None
    for name in _ACCOUNTS:
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise ParaplyError(NO_ACCOUNT, accounts=" or ".join(_ACCOUNTS))


def give(path: Path, account: str | None) -> None:
    """Give a directory tree to an account.

    Raises ``ParaplyError`` P625 where the account cannot enter a folder above it.
    """
    if account is not None:
        for folder in reversed(path.parents):
            if not _may_enter(folder.stat(), account):
                raise ParaplyError(FOLDER_CLOSED, account=account, folder=folder)
        for one in (path, *path.rglob("*")):
            if not one.is_symlink():
                shutil.chown(one, account, account)


def _may_enter(folder: os.stat_result, account: str) -> bool:
    user = pwd.getpwnam(account)
    if folder.st_uid == user.pw_uid:
        return bool(folder.st_mode & stat.S_IXUSR)
    if folder.st_gid in os.getgrouplist(account, user.pw_gid):
        return bool(folder.st_mode & stat.S_IXGRP)
    return bool(folder.st_mode & stat.S_IXOTH)


@cache
def reachable_tree(tree: Path) -> Path:
    """Return a folder of programs that the account can read, linked or copied."""
    if os.geteuid() != 0:
        return tree
    if all(folder.stat().st_mode & stat.S_IXOTH for folder in (tree, *tree.parents)):
        return tree
    room = temporary_folder("paraply-programs-")
    room.chmod(0o755)
    copy = room / "tree"
    shutil.copytree(tree, copy, symlinks=True, copy_function=link_or_copy)
    return copy


def reachable(installation: Installation) -> Installation:
    """Return an installation that the account can read."""
    basedir = installation.basedir
    copy = None if basedir is None else reachable_tree(basedir)
    if basedir is None or copy is None or copy == basedir:
        return installation
    return replace(
        installation,
        basedir=copy,
        server_binary=copy / installation.server_binary.relative_to(basedir),
        launcher=tuple(word.replace(str(basedir), str(copy)) for word in installation.launcher),
    )


def link_or_copy(source: str, target: str) -> None:
    """Make a file of the same content, without a copy if possible."""
    try:
        os.link(source, target)
    except OSError:  # Another file system.
        shutil.copy2(source, target)
