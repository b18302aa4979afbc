"""The registry of user-facing errors.

Any other exception is a bug and keeps its traceback.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCode:
    """``message`` is a ``str.format`` template."""

    code: str
    message: str
    remedy: str


_REGISTRY: dict[str, ErrorCode] = {}


def register(code: str, message: str, remedy: str) -> ErrorCode:
    """Register an error; ``ValueError`` if its code has another one."""
    entry = ErrorCode(code=code, message=message, remedy=remedy)
    if _REGISTRY.setdefault(code, entry) != entry:
        raise ValueError(f"error code {code} is registered twice")
    return _REGISTRY[code]


def registered_errors() -> tuple[ErrorCode, ...]:
    """Return all errors by code."""
    return tuple(_REGISTRY[code] for code in sorted(_REGISTRY))


class ParaplyError(Exception):
    """Invalid input at ``where``, e.g. ``bin.000001:1234``."""

    def __init__(self, error: ErrorCode, /, *, where: str = "", **details: object) -> None:
        self.error = error
        self.where = where
        self.details = details
        super().__init__(self.text)

    @property
    def text(self) -> str:
        """Return code, place and message."""
        place = f"{self.where}: " if self.where else ""
        return f"{self.error.code} {place}{self.error.message.format(**self.details)}"

    @property
    def remedy(self) -> str:
        """Return the remedy."""
        return self.error.remedy.format(**self.details)


# Codes by room: P0xx vocabulary, P1xx binary logs, P2xx schemas and keys, P3xx command line,
# P4xx reference implementation, P5xx histories and counterexamples, P6xx servers, P7xx solvers.
MALFORMED_GTID_SET = register(
    "P001",
    "'{text}' is not a GTID set: {reason}",
    "write it as uuid:1-5:7,uuid2:1 (tags: uuid:1-5:tag:1-3), as @@gtid_executed prints it",
)
MALFORMED_MARIADB_GTID = register(
    "P002",
    "'{text}' is not a MariaDB GTID position: {reason}",
    "write it as domain-server-sequence, comma-separated, as @@gtid_slave_pos prints it",
)
MALFORMED_TIMESTAMP = register(
    "P003",
    "last_committed={last_committed}, sequence_number={sequence_number}: {reason}",
    "last_committed must lie in [0, sequence_number), or both be 0 for a view change",
)
