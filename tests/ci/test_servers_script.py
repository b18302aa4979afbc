"""ci/servers takes the arguments it documents and refuses others."""

from __future__ import annotations

import subprocess

import pytest


def _run(repository, *arguments):
    return subprocess.run(
        [repository / "ci" / "servers", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_says_what_it_does(repository):
    done = _run(repository, "--help")
    assert done.returncode == 0
    assert "ci/servers [--mysql-basedir DIR]" in done.stdout
    usage = done.stdout.partition("[--only ")[2].partition("]")[0]
    refused = _run(repository, "--only")
    for name in "".join(usage.split()).split("|"):
        assert name in refused.stderr, name


@pytest.mark.parametrize("arguments", [["--frobnicate"], ["extra"]])
def test_unknown_arguments_are_usage_errors(repository, arguments):
    done = _run(repository, *arguments)
    assert done.returncode == 3
    assert arguments[0] in done.stderr
