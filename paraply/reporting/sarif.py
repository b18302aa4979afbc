"""SARIF 2.1.0 (OASIS), for every command."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from paraply.reporting.escape import ascii_escaped
from paraply.version import VERSION

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SarifPlace:
    """Bytes of a file; of a compressed one, of its content."""

    file: str
    offset: int = 0
    length: int = 0
    """0 if unknown."""

    def location(self) -> dict[str, Any]:
        """Return the ``location`` object."""
        region = {"byteOffset": self.offset}
        if self.length:
            region["byteLength"] = self.length
        return {
            "physicalLocation": {
                "artifactLocation": {"uri": uri_of(self.file)},
                "region": region,
            }
        }


def uri_of(file: str) -> str:
    """Return a file name as URI reference."""
    if "://" in file:
        return quote(file, safe=":/?&=%@+~", errors="surrogateescape")
    path = quote(file, safe="/~", errors="surrogateescape")
    return f"file://{path}" if path.startswith("/") else path


def sarif_result(
    rule: str,
    level: Level,
    text: str,
    *places: SarifPlace,
    properties: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Return a ``result`` object; places after the first are related."""
    entry: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": text}}
    if places:
        entry["locations"] = [places[0].location()]
    if places[1:]:
        entry["relatedLocations"] = [place.location() for place in places[1:]]
    if properties:
        entry["properties"] = dict(properties)
    return entry


def sarif_document(
    tool: str,
    rules: Mapping[str, str],
    results: Iterable[Mapping[str, Any]],
    *,
    invocations: Sequence[Mapping[str, Any]] = (),
    properties: Mapping[str, object] | None = None,
) -> str:
    """Return the document of one run; ``rules`` maps rule to meaning."""
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": tool,
                "version": VERSION,
                "rules": [
                    {"id": rule, "shortDescription": {"text": text}} for rule, text in rules.items()
                ],
            }
        }
    }
    if invocations:
        run["invocations"] = list(invocations)
    run["results"] = list(results)
    if properties:
        run["properties"] = dict(properties)
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return ascii_escaped(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"
