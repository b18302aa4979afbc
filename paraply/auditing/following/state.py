"""The state of an audit between two files, as bytes.

The auditor itself goes from file to file: what it says of the files so far is what one audit of
them says. Its memory is bounded, and so is the state (:mod:`paraply.properties.logs.audit`).

The state is a pickle. Whoever may write to the folder could put another there, so only classes of
the log's reader and judges are loaded, and a few containers.
"""

from __future__ import annotations

import io
import json
import pickle
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from paraply.adapters.binlog.report import FileReport
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.auditing.engines import Engine
from paraply.properties.logs.audit import Auditor
from paraply.version import VERSION
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.errors import ParaplyError, register

FORMAT = "paraply-followed-audit"

STATE_REFUSED = register(
    "P746",
    "the audit cannot be continued: {reason}",
    "continue with the version and options that began it, or begin again with a new --out",
)

_ROOMS = (
    "paraply.adapters.binlog.",
    "paraply.auditing.",
    "paraply.properties.logs.",
    "paraply.vocabulary.",
)
_FUNCTIONS = frozenset(
    {
        ("paraply.adapters.binlog.compiled.text_weights", "weights_with"),
        ("paraply.adapters.binlog.table_map", "_table_map"),
        ("paraply.properties.logs.lint_findings", "_every"),
    }
)
_FOREIGN = frozenset(
    {
        ("collections", "Counter"), ("collections", "OrderedDict"), ("collections", "deque"),
        ("collections", "defaultdict"), ("decimal", "Decimal"),
        ("numpy", "dtype"), ("numpy", "ndarray"),
        ("numpy._core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "scalar"),
        ("numpy._core.numeric", "_frombuffer"), ("numpy.core.multiarray", "_reconstruct"),
        ("numpy.core.multiarray", "scalar"), ("numpy.core.numeric", "_frombuffer"),
    }
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class LogState:
    """An audit after some files."""

    engine: Engine
    auditor: Auditor
    registry: SchemaRegistry
    options: str
    """What was asked for, as text."""
    faults: list[FileReport] = field(default_factory=list)
    """Reports of files that could not be read completely."""
    breaches: tuple[int, int, int] = (0, 0, 0)
    """Certain violations, violations of lint rules, and contradictions of the replay."""

    def as_bytes(self) -> bytes:
        """Return the state, packed."""
        # One level is fast: arrays are mostly zeros.
        return zlib.compress(pickle.dumps(self, pickle.HIGHEST_PROTOCOL), 1)


def packed(state: bytes, result: AuditResult) -> bytes:
    """Return a state file: a line of JSON, the result so far, and the state."""
    said = zlib.compress(pickle.dumps(result, pickle.HIGHEST_PROTOCOL))
    head = {"format": FORMAT, "version": VERSION, "result_bytes": len(said)}
    return json.dumps(head).encode() + b"\n" + said + state


def load_state(data: bytes) -> LogState:
    """Return the state of a state file; raises P746 if it is another version's or damaged."""
    state: LogState = _loaded(data, LogState, lambda body, at: body[at:])
    return state


def load_result(data: bytes) -> AuditResult:
    """Return the result of a state file; raises P746 likewise."""
    result: AuditResult = _loaded(data, AuditResult, lambda body, at: body[:at])
    return result


def _loaded(data: bytes, kind: type[Any], choose: Callable[[bytes, int], bytes]) -> Any:
    line, _, body = data.partition(b"\n")
    try:
        head = json.loads(line)
        if head["format"] != FORMAT:
            raise ValueError("another format")
        if head["version"] != VERSION:
            reason = f"paraply {head['version']} began it, and this is {VERSION}"
            raise ParaplyError(STATE_REFUSED, reason=reason)
        found = _Unpickler(io.BytesIO(zlib.decompress(choose(body, head["result_bytes"])))).load()
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zlib.error) as fault:
        raise ParaplyError(STATE_REFUSED, reason=f"its state is damaged ({fault})") from None
    except (pickle.UnpicklingError, ImportError, IndexError) as fault:
        raise ParaplyError(STATE_REFUSED, reason=f"its state is damaged ({fault})") from None
    if not isinstance(found, kind):
        raise ParaplyError(STATE_REFUSED, reason="its state is of something else")
    return found


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return a class that a state may contain; raises ``UnpicklingError`` for others."""
        if (module, name) == ("builtins", "getattr"):
            return _bound_method
        if (module, name) in _FOREIGN | _FUNCTIONS:
            return super().find_class(module, name)
        found = super().find_class(module, name) if module.startswith(_ROOMS) else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a state")
        return found


def _bound_method(owner: object, name: str) -> Any:
    if name.startswith("__") or not type(owner).__module__.startswith(_ROOMS):
        raise pickle.UnpicklingError(f"{name} is no part of a state")
    return getattr(owner, name)
