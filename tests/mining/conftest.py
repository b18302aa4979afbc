"""One Spark session for the tests of a process, where Spark can start."""

from __future__ import annotations

import sys

import pytest

from paraply.mining.java import ensure_java_home
from paraply.mining.session import spark_session
from paraply.vocabulary.errors import ParaplyError


@pytest.fixture(scope="session")
def spark():
    """Return the session, on two threads; skip with the reason where there is no Spark."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    try:
        ensure_java_home()
        session = spark_session("local[2]")
    except ParaplyError as error:
        pytest.skip(str(error))
    yield session
    session.stop()


@pytest.fixture
def without_rdd(monkeypatch):
    """Let every door to the Spark context and its RDDs raise for callers outside pyspark."""
    pyspark = pytest.importorskip("pyspark")

    def guarded(real):
        def call(*arguments, **named):
            caller = sys._getframe(1).f_globals["__name__"]
            assert caller.startswith("pyspark."), f"{caller} uses the Spark context"
            return real(*arguments, **named)

        return call

    session = pyspark.sql.SparkSession
    monkeypatch.setattr(session, "sparkContext", property(guarded(session.sparkContext.fget)))
    for kind in (pyspark.SparkContext, pyspark.RDD):
        for name, real in vars(kind).items():
            if callable(real) and not name.startswith("_"):
                monkeypatch.setattr(kind, name, guarded(real))
