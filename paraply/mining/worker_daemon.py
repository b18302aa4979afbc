"""Spark's daemon of Python workers, which loads once what each worker would load.

Spark runs it as ``python -m`` (``spark.python.daemon.module``), and forks a worker for each core.
"""

from __future__ import annotations

import gc
from importlib import import_module

from pyspark.daemon import manager

LOADED = ("pyspark.worker", "pandas", "paraply.mining.findings")
"""Arrow imports pandas where it finds it."""

if __name__ == "__main__":
    for name in LOADED:
        import_module(name)
    # Collections after each task of a worker leave out what is loaded here.
    gc.collect()
    gc.freeze()
    manager()
