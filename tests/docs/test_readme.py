"""The sample on the first screen of README.md is what the demo prints."""

import pytest

from tests.docs.console import ROOT, is_as_expected, run_step, steps


@pytest.mark.long
def test_sample_is_what_the_demo_prints_in_a_clone(shell):
    (sample,) = steps((ROOT / "README.md").read_text(encoding="utf-8"))
    assert sample.command == "make demo"
    printed = run_step(sample, shell.clone, shell)
    assert is_as_expected(printed, sample.expected), printed
