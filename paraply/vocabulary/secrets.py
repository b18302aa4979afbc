"""Passwords in data source names, and how they are kept out of all that is printed.

``SCHEME://USER[:PASSWORD]@HOST[:PORT][/][?OPTION=VALUE&...]``. User and password may hold any
character, so the part before the host ends at the first ``@`` after which the rest is well-formed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

HIDDEN = "***"
_SHORTEST = 4
"""A shorter secret is also part of ordinary words."""

_DSN = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_PLACE = re.compile(
    r"(\[[0-9A-Fa-f:.%]+\]|[^\s@:/?#\[\]]*)(:\d*)?(/[^@?#]*)?(\?([a-z_]+=[^&#]*(&|$))*)?", re.DOTALL
)
_IN_TEXT = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^\s:/]*):\S+@")
_OPTION = re.compile(r"([?&](?:password|passwd|pwd|secret|token)=)[^&\s]*", re.IGNORECASE)

_secrets: set[str] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class DsnParts:
    """A data source name in parts, not decoded; ``password`` is None where there is none."""

    scheme: str
    user: str
    password: str | None = field(repr=False)
    place: str
    """Host, port, path and options."""


def split_dsn(text: str) -> DsnParts | None:
    """Return the parts of a data source name; None if it has no scheme."""
    found = _DSN.fullmatch(text)
    if found is None:
        return None
    rest = found["rest"]
    ends = [place for place, character in enumerate(rest) if character == "@"]
    end = next((one for one in ends if _PLACE.fullmatch(rest[one + 1 :])), max(ends, default=-1))
    user, colon, password = rest[: max(end, 0)].partition(":")
    return DsnParts(
        scheme=found["scheme"],
        user=user,
        password=password if colon else None,
        place=rest[end + 1 :],
    )


def dsn_without_password(text: str) -> str:
    """Return a data source name as it may be printed.

    >>> dsn_without_password("mysql://me:s3cret@db1:3306/")
    'mysql://me@db1:3306/'
    """
    parts = split_dsn(text)
    if parts is not None and parts.password is not None:
        text = f"{parts.scheme}://{parts.user}@{parts.place}"
    return _OPTION.sub(rf"\1{HIDDEN}", text)


def keep_secret(*secrets: str) -> None:
    """Let :func:`without_secrets` remove these, too."""
    _secrets.update(one for one in secrets if len(one) >= _SHORTEST)


def without_secrets(text: str) -> str:
    """Return a text without passwords: those of data source names, and those kept secret."""
    text = _OPTION.sub(rf"\1{HIDDEN}", _IN_TEXT.sub(rf"\1:{HIDDEN}@", text))
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text
