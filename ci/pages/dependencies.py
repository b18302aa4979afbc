"""Dependencies from ``requirements.lock``: the core's lock file, licences, and an SBOM.

Licences and requirements come from the installed distributions, versions from the lock file.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

from packaging.requirements import Requirement

from ci.pages.writing import ROOT, filled, pages_main, table
from paraply.version import VERSION

LOCK, CORE_LOCK = "requirements.lock", "requirements-core.lock"
PAGE, SBOM = "docs/dependencies.md", "docs/sbom.cdx.json"
BUILDING = ("setuptools",)
"""What installs the project itself; with ``--no-build-isolation`` it comes from the lock."""
NOT_STATED = "not stated"
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^ \\;]+)(?: ; ([^\\]*?))? *\\?$")
_LICENCE = "License :: OSI Approved :: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """One pinned distribution."""

    name: str
    version: str
    marker: str
    """The environments that it is for; empty for all."""
    text: str


def locked(text: str) -> list[Locked]:
    """Return the distributions of a lock file."""
    found = []
    for block in re.split(r"\n(?=\S)", text.rstrip("\n")):
        first = block.partition("\n")[0]
        pin = _PIN.match(first)
        if pin is None:
            raise ValueError(f"not a pinned distribution: {first}")
        name, version, marker = pin.groups()
        found.append(
            Locked(
                name=_plain(name),
                version=version,
                marker=(marker or "").strip(),
                text=block + "\n",
            )
        )
    return found


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(requirements: Iterable[str]) -> set[str]:
    """Return all names that some requirements need, from installed metadata."""
    names: set[str] = set()
    waiting = [Requirement(one) for one in requirements]
    while waiting:
        one = waiting.pop()
        name = _plain(one.name)
        extras = one.extras or {""}
        if one.marker is not None and not any(
            one.marker.evaluate({"extra": extra}) for extra in extras
        ):
            continue
        if name in names:
            continue
        names.add(name)
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for text in needed:
            inner = Requirement(text)
            if inner.marker is None or any(
                inner.marker.evaluate({"extra": extra}) for extra in extras
            ):
                waiting.append(Requirement(text.partition(";")[0]))
    return names


@cache
def stored_licences() -> dict[str, str]:
    """Return the licences of the stored SBOM by name."""
    components = json.loads((ROOT / SBOM).read_text(encoding="utf-8"))["components"]
    return {one["name"]: one["licenses"][0]["license"]["name"] for one in components}


def licence_of(name: str) -> str:
    """Return the stated licence of a distribution; the stored one if it is not installed."""
    try:
        about: Any = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return stored_licences().get(name, NOT_STATED)
    stated = about.get("License-Expression")
    if stated:
        return str(stated)
    classified = [
        one.removeprefix(_LICENCE)
        for one in about.get_all("Classifier") or []
        if one.startswith(_LICENCE)
    ]
    if classified:
        return ", ".join(sorted(classified))
    first = str(about.get("License") or "").strip().partition("\n")[0]
    return first if 0 < len(first) <= 60 else NOT_STATED


def project() -> dict[str, Any]:
    """Return the ``[project]`` table."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        table_of_project: dict[str, Any] = tomllib.load(file)["project"]
    return table_of_project


def core_lock(pins: Iterable[Locked], core: set[str]) -> str:
    """Return the lock file of the core."""
    return "".join(pin.text for pin in pins if pin.name in core | set(BUILDING))


def rows(pins: Iterable[Locked], parts: dict[str, set[str]]) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, version, licence and parts of what users install."""
    for pin in pins:
        used = [part for part, names in parts.items() if pin.name in names]
        if used:
            version = pin.version + (f" (`{pin.marker}`)" if pin.marker else "")
            yield pin.name, version, licence_of(pin.name), ", ".join(used)


def sbom(pins: Iterable[Locked], core: set[str]) -> str:
    """Return a CycloneDX document, the same for the same lock file."""
    me = {"type": "application", "name": "paraply", "version": VERSION, "bom-ref": "paraply"}
    components = [
        {
            "type": "library",
            "name": pin.name,
            "version": pin.version,
            "bom-ref": f"pkg:pypi/{pin.name}@{pin.version}",
            "purl": f"pkg:pypi/{pin.name}@{pin.version}",
            "scope": "required" if pin.name in core else "optional",
            "licenses": [{"license": {"name": licence_of(pin.name)}}],
        }
        for pin in pins
    ]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": me},
        "components": components,
    }
    return json.dumps(document, indent=1) + "\n"


def pages() -> dict[str, str]:
    """Return all generated files."""
    pins = locked((ROOT / LOCK).read_text(encoding="utf-8"))
    about = project()
    core = closure(about["dependencies"])
    extras = about["optional-dependencies"]
    parts = {"core": core} | {
        name: closure(extras[name]) - core
        for name in ("fast", "prove", "mine", "live", "test", "connect")
    }
    return {
        CORE_LOCK: core_lock(pins, core),
        PAGE: filled(
            PAGE,
            {"dependencies": table(("Library", "Version", "Licence", "For"), rows(pins, parts))},
        ),
        SBOM: sbom(pins, core),
    }


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.dependencies", pages()))
