"""Remove passwords from output.

In ``SCHEME://USER[:PASSWORD]@HOST[:PORT][/][?OPTION=VALUE&...]`` user and password may contain any
character, so the host follows the last ``@``. An ``@`` in an option is written ``%40``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

HIDDEN = "***"
_SHORTEST = 4

_DSN = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?=[:/?#]|\Z)")
# Path() folds the slashes.
_BEGIN = r"[A-Za-z][A-Za-z0-9+.-]{0,31}:/"
# Messages list names, too: mysql://USER@HOST:PORT, or mysql://USER@HOST
_OTHER_NAME = r"(?:(?:\d{1,5}|PORT)\b|\s)[^\n]*[A-Za-z]:/"
# A password may contain spaces, so it ends at the last @ of the line.
_IN_TEXT = (
    re.compile(rf"({_BEGIN}(?:[^\s:@]*|[^\s:]*(?!:{_OTHER_NAME}))):[^\n]*@"),
    re.compile(rf"({_BEGIN}[^\s:]*):\S+@"),
)
# The host is missing.
_WITHOUT_HOST = re.compile(
    r"\b((?:mysql|mariadb):/[^\s:@]*):(?!\S*@|\d{1,5}\b|PORT\b)[^\s'\"]+", re.IGNORECASE
)
_OPTION = re.compile(
    r"([?&][\w-]*(?:pass|pwd|secret|token)[\w-]*=)[^&\s]*", re.IGNORECASE | re.ASCII
)

_secrets: set[str] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class DsnParts:
    """A data source name, undecoded."""

    scheme: str
    user: str
    password: str | None = field(repr=False)
    place: str
    """Host, port, path and options."""


def split_dsn(text: str) -> DsnParts | None:
    """Split a data source name; None without scheme."""
    found = _DSN.fullmatch(text)
    if found is None:
        return None
    account, _, place = found["rest"].rpartition("@")
    user, colon, password = account.partition(":")
    return DsnParts(
        scheme=found["scheme"],
        user=user,
        password=password if colon else None,
        place=place,
    )


def place_of_malformed(text: str) -> str:
    """Return the host after the last ``@``; all else of a malformed name may be its password.

    >>> place_of_malformed("root:s3cret@db1/s3cret")
    '***@db1'
    >>> place_of_malformed("mysql://root:s3cret")
    '***'
    """
    _, at, place = text.rpartition("@")
    host = _HOST.match(place) if at else None
    return HIDDEN if host is None else f"{HIDDEN}@{host[0]}"


def dsn_without_password(text: str) -> str:
    """Return a data source name without its password.

    >>> dsn_without_password("mysql://me:s3cret@db1:3306/")
    'mysql://me@db1:3306/'
    """
    parts = split_dsn(text)
    if parts is not None and parts.password is not None:
        text = f"{parts.scheme}://{parts.user}@{parts.place}"
    return _OPTION.sub(rf"\1{HIDDEN}", text)


def keep_secret(*secrets: str) -> None:
    """Register secrets for :func:`without_secrets`."""
    _secrets.update(one for one in secrets if len(one) >= _SHORTEST)


def without_secrets(text: str) -> str:
    """Remove secrets and data source passwords from text."""
    for pattern in _IN_TEXT:
        text = pattern.sub(rf"\1:{HIDDEN}@", text)
    text = _WITHOUT_HOST.sub(rf"\1:{HIDDEN}", text)
    text = _OPTION.sub(rf"\1{HIDDEN}", text)
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text
