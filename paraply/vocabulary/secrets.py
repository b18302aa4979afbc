"""Remove passwords from output.

In ``SCHEME://USER[:PASSWORD]@HOST[:PORT][/][?OPTION=VALUE&...]`` user and password may contain any
character, so the host follows the first ``@`` with a well-formed rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

HIDDEN = "***"
_SHORTEST = 4

_DSN = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_PLACE = re.compile(
    r"(\[[0-9A-Fa-f:.%]+\]|[^\s@:/?#\[\]]*)(:\d*)?(/[^@?#]*)?(\?([a-z_]+=[^&#]*(&|$))*)?", re.DOTALL
)
_IN_TEXT = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^\s:/]*):\S+@")
_OPTION = re.compile(r"([?&](?:password|passwd|pwd|secret|token)=)[^&\s]*", re.IGNORECASE)

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
    text = _OPTION.sub(rf"\1{HIDDEN}", _IN_TEXT.sub(rf"\1:{HIDDEN}@", text))
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text
