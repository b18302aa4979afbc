"""What the tutorials tell their readers to do is done, and prints what they say."""

import pytest

from tests.docs.console import ROOT, Step, is_as_expected, run_step, steps

PAGES = (
    "docs/python.md",
    "docs/tutorial-contributor.md",
    "docs/tutorial-dba.md",
    "docs/tutorial-researcher.md",
    "docs/write-an-adapter.md",
)


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_page_prints_what_it_says(page, tmp_path):
    found = steps((ROOT / page).read_text(encoding="utf-8"))
    assert sum(bool(step.command) for step in found) >= 2
    if any("tests/" in step.command for step in found):  # Whoever reads these has a clone.
        (tmp_path / "tests").symlink_to(ROOT / "tests")
    for step in found:
        printed = run_step(step, tmp_path)
        if step.command:
            assert is_as_expected(printed, step.expected), f"$ {step.command}\n{printed}"


def test_other_output_is_noticed(tmp_path):
    step = Step(command="echo one; echo two", expected=("one", "three"))
    assert not is_as_expected(run_step(step, tmp_path), step.expected)
    assert is_as_expected("one\ntwo\n", ("…", "t…o"))
    assert not is_as_expected("one\ntwo\nthree\n", ("…", "two"))


def test_steps_are_read_in_order():
    page = (
        '```toml title="a.toml"\nx = 1\n```\ntext\n```console\n$ cat a.toml\nx = 1\n$ true\n```\n'
    )
    assert steps(page) == [
        Step(file="a.toml", text="x = 1\n"),
        Step(command="cat a.toml", expected=("x = 1",)),
        Step(command="true"),
    ]
