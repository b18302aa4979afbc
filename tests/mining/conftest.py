"""One Spark session for the tests of a process, where Spark can start."""

from __future__ import annotations

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
