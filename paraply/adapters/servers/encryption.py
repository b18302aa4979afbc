"""Encryption of connections to existing servers, with the modes of MySQL's own clients."""

from __future__ import annotations

import ssl
from enum import Enum


class SslMode(Enum):
    """How a connection is encrypted; ``ssl_mode`` of a data source name."""

    DISABLED = "disabled"
    PREFERRED = "preferred"
    """Encrypted if the server offers it: protects from no active attacker."""
    REQUIRED = "required"
    """Encrypted or refused, whoever the server is."""
    VERIFY_CA = "verify_ca"
    """The certificate must come from ``ssl_ca``, or from an authority of this system."""
    VERIFY_IDENTITY = "verify_identity"
    """The certificate must also name the host."""


VERIFYING = frozenset({SslMode.VERIFY_CA, SslMode.VERIFY_IDENTITY})


def driver_settings(mode: SslMode, ca_file: str) -> dict[str, object]:
    """Return PyMySQL's settings; ``OSError`` for an unreadable or wrong ``ca_file``.

    Its own ``ssl_ca`` alone verifies nothing.
    """
    if mode is SslMode.DISABLED:
        return {"ssl_disabled": True}
    if mode is SslMode.PREFERRED:
        return {}
    context = ssl.create_default_context(cafile=ca_file or None)
    context.check_hostname = mode is SslMode.VERIFY_IDENTITY
    context.verify_mode = ssl.CERT_REQUIRED if mode in VERIFYING else ssl.CERT_NONE
    # Certificates that servers make for themselves lack extensions that this flag asks for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return {"ssl": context}
