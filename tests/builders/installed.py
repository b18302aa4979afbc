"""Environments for tests of the installed package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy


def environment(folder: Path) -> Path:
    """Create an environment; return its Python.

    It sees the libraries of the tests, but no paraply: links to a source tree are followed only in
    the environment that has them.
    """
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120
    )
    (site,) = folder.glob("lib/python*/site-packages")
    libraries = Path(numpy.__file__).parents[1]
    (site / "libraries.pth").write_text(f"{libraries}\n")
    return folder / "bin" / "python"
