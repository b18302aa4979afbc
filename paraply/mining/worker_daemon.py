"""Spark's daemon of Python workers, which loads once what each worker would load.

Spark runs it as ``python -m`` (``spark.python.daemon.module``), and forks a worker for each core.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

LOADED = ("pyspark.worker", "pandas", "paraply.mining.findings")
"""Arrow imports pandas where it finds it."""


def without_sparks_archives(path: Sequence[str]) -> list[str]:
    """Return a module search path without the archives inside an installed pyspark.

    Spark puts archives of pyspark and py4j first, which Python compiles again in each session. They
    stay if pyspark or py4j is not installed, or if they belong to another installation of Spark.
    """
    folders = [place for place in path if not Path(place).is_file()]
    pyspark, py4j = (PathFinder.find_spec(name, folders) for name in ("pyspark", "py4j"))
    if pyspark is None or pyspark.origin is None or py4j is None:
        return list(path)
    home = Path(pyspark.origin).resolve().parent
    return [
        place
        for place in path
        if place in folders or not Path(place).resolve().is_relative_to(home)
    ]


if __name__ == "__main__":
    sys.path[:] = without_sparks_archives(sys.path)
    # Programs that workers start inherit it.
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(without_sparks_archives(inherited))
    from pyspark.daemon import manager

    for name in LOADED:
        import_module(name)
    # Collections after each task of a worker leave out what is loaded here.
    gc.collect()
    gc.freeze()
    manager()
