"""Certificate files: one per system, one line per obligation.

``{"statement/step": ["seal", [assertion, term, ...], ...]}`` as JSON; see
``paraply/models/kernel/certificate.py``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from paraply.models.kernel.certificate import Certificate
from paraply.models.language.system import Obligation
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.input_documents import parse_json

UNREADABLE = register(
    "P711",
    "this is no file of proof certificates: {reason}",
    "make certificates writes it again",
)

FOLDER = Path(__file__).resolve().parents[3] / "proofs" / "certificates"

Certificates = dict[str, Certificate]
"""By ``statement/step``."""


def name_of(obligation: Obligation) -> str:
    """Return an obligation's name within its system."""
    return f"{obligation.statement}/{obligation.step}"


def path_of(system: str, folder: Path = FOLDER) -> Path:
    """Return the certificate file of a system."""
    plain = system.replace("[", "-").replace("]", "").replace(" ", "_")
    return folder / f"{plain}.json"


def read(path: Path) -> Certificates:
    """Return a file's certificates, possibly none.

    Raises :class:`ParaplyError` P711 for a malformed file.
    """
    if not path.exists():
        return {}
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ParaplyError(UNREADABLE, where=str(path), reason=str(error)) from None
    if not isinstance(data, dict):
        raise ParaplyError(UNREADABLE, where=str(path), reason="not an object")
    found: Certificates = {}
    for name, entry in data.items():
        match entry:
            case [str() as seal, *steps] if all(isinstance(step, list) for step in steps):
                found[name] = Certificate(seal, tuple(map(tuple, steps)))
            case _:
                raise ParaplyError(UNREADABLE, where=str(path), reason=f"{name} has no seal")
    return found


def write(path: Path, certificates: Mapping[str, Certificate]) -> None:
    """Write certificates in order of their names."""
    lines = [
        f"{json.dumps(name)}: " + json.dumps([c.seal, *c.steps], separators=(",", ":"))
        for name, c in sorted(certificates.items())
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Store:
    """All certificates, read on first use."""

    folder: Path = FOLDER

    def certificate(self, obligation: Obligation) -> Certificate | None:
        """Return an obligation's certificate, or None."""
        return _read_once(path_of(obligation.system, self.folder)).get(name_of(obligation))


_read_once = cache(read)
