"""No public function of the reference or the models is without a caller outside the tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("paraply/reference_impl/", "paraply/models/")


def unused(sources: Mapping[str, str], rooms: tuple[str, ...] = ROOMS) -> list[str]:
    """Return each public definition whose name stands once in all sources."""
    words = {path: re.findall(r"[A-Za-z]\w+", text) for path, text in sources.items()}
    times: dict[str, int] = {}
    for found in words.values():
        for word in found:
            times[word] = times.get(word, 0) + 1
    return [
        f"{path}:{node.lineno} {node.name}"
        for path, text in sources.items()
        if path.startswith(rooms)
        for node in _definitions(ast.parse(text))
        if times.get(node.name) == 1
    ]


def _definitions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node


@pytest.mark.long
def test_reference_and_models_have_no_unused_public_name():
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for folder in ("paraply", "ci")
        for path in (ROOT / folder).rglob("*.py")
    }
    assert sum(path.startswith(ROOMS) for path in sources) > 200
    # Faults register themselves when their class is created.
    found = [one for one in unused(sources) if "mutants.py" not in one and "mutations/" not in one]
    assert found == []


def test_unused_name_is_found_and_a_used_one_is_not():
    sources = {
        "paraply/models/one.py": "def called(): ...\n\n\ndef forgotten(): ...\n",
        "paraply/cli.py": "from paraply.models.one import called\n",
    }
    assert unused(sources) == ["paraply/models/one.py:4 forgotten"]
