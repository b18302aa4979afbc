"""One Spark session, set up so that it starts fast and stays on this machine."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from mining.java import ensure_java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    # The hot loop runs in Python workers, so the JVM's second compiler only costs start-up time.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""Settings for the embedded ``local[*]`` mode; a cluster brings its own."""


def spark_session(master: str = "local[2]", *, app: str = "paraply") -> SparkSession:
    """Return the Spark session of this process, starting it if there is none.

    Workers run the interpreter of this process (``PYSPARK_PYTHON``), not whatever ``python3`` is
    first on PATH. In local mode everything is bound to the loopback interface.
    """
    ensure_java_home()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName(app)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        for name, value in LOCAL_SETTINGS.items():
            builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
