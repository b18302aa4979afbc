"""The documented ``spark-submit`` commands, as Spark's own code for YARN and Kubernetes reads them.

No cluster is there: what is compared is what Spark would start, configure and send to one.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from paraply.cli import build_parser

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.long]

PAGE = Path(__file__).parents[2] / "docs" / "spark.md"
PROGRAM = "__main__.py"
SIZES = {"instances": "20", "cores": "4", "memory": "2g"}


def documented(master):
    """Return the words of the page's command for a master, without ``spark-submit``."""
    (block,) = re.findall(r"```sh\n([^`]*?spark-submit.*?)```", PAGE.read_text(), re.DOTALL)
    lines = block.replace("\\\n", " ").splitlines()
    commands = [shlex.split(line) for line in lines if not line.startswith("#")]
    (words,) = (words for words in commands if "spark-submit" in words and master in words)
    return words[words.index("spark-submit") + 1 :]


class Submitting:
    """Spark's classes that prepare an application."""

    def __init__(self, session):
        self.jvm = session._jvm
        self._gateway = session.sparkContext._gateway

    def list(self, values):
        return self.jvm.PythonUtils.toSeq(values)

    def python(self, values):
        return self.jvm.scala.jdk.javaapi.CollectionConverters.asJava(values)

    def prepared(self, words):
        """Return arguments, settings (as Spark's object, too) and class of the child."""
        environment = self.jvm.PythonUtils.toScalaMap({"HADOOP_CONF_DIR": "/none"})
        deploy = self.jvm.org.apache.spark.deploy
        arguments = deploy.SparkSubmitArguments(self.list(words), environment)
        nothing = getattr(getattr(self.jvm.scala, "None$"), "MODULE$")
        found = deploy.SparkSubmit().prepareSubmitEnvironment(arguments, nothing)
        child, conf = list(self.python(found._1())), found._3()
        return child, {one._1(): one._2() for one in conf.getAll()}, found._4(), conf

    def sent_to_yarn(self, child, conf, staging):
        """Return what YARN's client puts into the staging folder, by its name in a container."""
        conf.set("spark.yarn.stagingDir", staging.as_uri())
        conf.set("spark.yarn.jars", "local:/spark/jars/*")
        words = self._gateway.new_array(self.jvm.java.lang.String, len(child))
        for place, word in enumerate(child):
            words[place] = word
        yarn = self.jvm.org.apache.spark.deploy.yarn
        client = yarn.Client(yarn.ClientArguments(words), conf, None)
        folder = self.jvm.org.apache.hadoop.fs.Path(staging.as_uri())
        sent = self.python(client.prepareLocalResources(folder, self.list([])))
        return {name: (each.getType().toString(), Path(each.getResource().getFile()))
                for name, each in sent.items()}  # fmt: skip


@pytest.fixture
def submitting(spark):
    return Submitting(spark)


def mining_words(words):
    """Return what the program gets, after a check that it can read it."""
    mining = words[next(n for n, word in enumerate(words) if word.endswith(PROGRAM)) + 1 :]
    assert build_parser(mining).parse_args(mining).command == "mine"
    return mining


@pytest.fixture
def on_yarn(tmp_path):
    """Return the documented command, with its files in a folder."""
    words = documented("yarn")
    program = next(place for place, word in enumerate(words) if word.endswith(PROGRAM))
    archive, _, name = words[words.index("--archives") + 1].partition("#")
    assert name == "env"
    for file in (archive, words[program]):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(file.encode())
    words[words.index("--archives") + 1] = f"{tmp_path / archive}#{name}"
    words[program] = str(tmp_path / words[program])
    return words, tmp_path / archive, Path(words[program])


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_yarn_gets_the_archive_and_the_program(submitting, on_yarn, tmp_path, mode):
    words, archive, program = on_yarn
    words[words.index("--deploy-mode") + 1] = mode
    mining = mining_words(words)
    child, settings, main, conf = submitting.prepared(words)
    assert settings["spark.master"] == "yarn"
    assert settings["spark.submit.deployMode"] == mode
    assert settings["spark.yarn.isPython"] == "true"
    assert settings["spark.yarn.dist.archives"] == f"{archive.as_uri()}#env"
    assert {name: settings[f"spark.executor.{name}"] for name in SIZES} == SIZES
    assert settings["spark.task.maxFailures"] == "8"
    sent = submitting.sent_to_yarn(child if mode == "cluster" else [], conf, tmp_path / "staging")
    assert sent["env"][0] == "ARCHIVE"
    assert sent["env"][1].read_bytes() == archive.read_bytes()
    if mode == "client":
        assert main == "org.apache.spark.deploy.PythonRunner"
        assert child == [f"file:{program}", None, *mining]
    else:
        assert main == "org.apache.spark.deploy.yarn.YarnClusterApplication"
        runner = ["--class", "org.apache.spark.deploy.PythonRunner"]
        given = [each for word in mining for each in ("--arg", word)]
        assert child == ["--primary-py-file", f"file:{program}", *runner, *given]
        assert sent[PROGRAM][1].read_bytes() == program.read_bytes()


def test_kubernetes_gets_the_image_and_its_python(submitting):
    words = documented("k8s://https://host:6443")
    mining = mining_words(words)
    child, settings, main, _ = submitting.prepared(words)
    assert main == "org.apache.spark.deploy.PythonRunner"
    assert child[2:] == mining
    assert settings["spark.master"] == "k8s://https://host:6443"
    assert settings["spark.kubernetes.container.image"] == "registry/paraply:1"
    assert settings["spark.pyspark.python"] == "/opt/env/bin/python"
    assert {name: settings[f"spark.executor.{name}"] for name in SIZES} == SIZES


def test_command_that_sends_a_file_that_is_not_there_is_refused(submitting, on_yarn, tmp_path):
    words, archive, _ = on_yarn
    archive.unlink()
    _, _, _, conf = submitting.prepared(words)
    with pytest.raises(Exception, match=r"FileNotFoundException.*env\.tar\.gz"):
        submitting.sent_to_yarn([], conf, tmp_path / "staging")
