"""Spark's daemon of Python workers, which loads once what each worker would load.

Spark runs it as ``python -m`` (``spark.python.daemon.module``), and forks a worker for each core.
"""

from __future__ import annotations

import gc

from pyspark.daemon import manager

if __name__ == "__main__":
    # Collections after each task of a worker leave out what is loaded here.
    gc.freeze()
    manager()
