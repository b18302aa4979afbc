"""The notebook runs, and prints what its page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ci.notebook import executed

PAGE = Path(__file__).parents[2] / "docs" / "notebook-sql.md"


def test_runner_replaces_what_a_cell_shows():
    page = "# T\n```python\nn = 3\n```\n\n```python\nprint(n)\n```\n\n```text\n4\n```\nend\n"
    assert executed(page) == page.replace("4\n", "3\n")
    assert executed(executed(page)) == executed(page)
    with pytest.raises(NameError):
        executed("```python\nprint(missing)\n```\n")


@pytest.mark.long
@pytest.mark.xdist_group("spark")
def test_notebook_prints_what_its_page_shows(spark, monkeypatch):
    monkeypatch.chdir(PAGE.parents[1])
    page = PAGE.read_text(encoding="utf-8")
    assert len(re.findall(r"^\d+\\\. ", page, re.MULTILINE)) == 10
    assert executed(page) == page
