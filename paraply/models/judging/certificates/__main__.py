"""``python -m paraply.models.judging.certificates``: make the certificates of all theorems.

It keeps valid certificates without ``--afresh``, and removes obsolete ones. Exit code 1 if an
obligation lacks a certificate.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from paraply.models.claims.theorems import THEOREMS
from paraply.models.judging.certificates.maker import make
from paraply.models.judging.certificates.store import (
    FOLDER,
    Certificates,
    name_of,
    path_of,
    read,
    write,
)
from paraply.models.kernel.check import check
from paraply.models.language.system import System, obligations


def systems() -> list[System]:
    """Return every theorem's systems once."""
    built = (build() for theorem in THEOREMS for build in theorem.systems)
    return list({system.name: system for system in built}.values())


def renew(system: System, kept: Certificates) -> tuple[Certificates, list[str], int]:
    """Return certificates, failures and the number of new ones."""
    found: Certificates = {}
    missing, made = [], 0
    for obligation in obligations(system):
        name = name_of(obligation)
        certificate = kept.get(name)
        if certificate is None or not check(obligation, certificate).is_proved:
            certificate = make(obligation)
            made += 1
        if certificate is None:
            missing.append(name)
        else:
            found[name] = certificate
    return found, missing, made


def main(argv: Sequence[str] | None = None) -> int:
    """Renew all certificates."""
    parser = argparse.ArgumentParser(
        prog="python -m paraply.models.judging.certificates", description=__doc__
    )
    parser.add_argument("--afresh", action="store_true", help="make all of them again")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where they are kept")
    chosen = parser.parse_args(argv)
    written, left = set(), 0
    for system in systems():
        path = path_of(system.name, chosen.folder)
        found, missing, made = renew(system, {} if chosen.afresh else read(path))
        write(path, found)
        written.add(path)
        left += len(missing)
        print(f"{system.name}: {len(found)} certificates, {made} of them sought", flush=True)
        for name in missing:
            print(f"  none found for {name}")
    for path in sorted(set(chosen.folder.glob("*.json")) - written):
        path.unlink()
        print(f"removed {path.name}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
