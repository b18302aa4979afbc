"""Runs a notebook in Jupytext Markdown, without Jupyter.

Each ``python`` cell is run in order; a ``text`` block behind it shows what it printed.
``python -m ci.notebook docs/notebook-sql.md`` writes the page again with what the cells print now.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

_CELL = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?", re.M | re.S
)


def executed(page: str, names: Mapping[str, Any] | None = None) -> str:
    """Return the page with the outputs of its cells, run with ``names`` defined."""
    scope = dict(names or {})

    def run(cell: re.Match[str]) -> str:
        printed = io.StringIO()
        line = page.count("\n", 0, cell.start()) + 1
        with redirect_stdout(printed):
            exec(compile("\n" * line + cell["code"], "notebook", "exec"), scope)
        lines = [line.rstrip() for line in printed.getvalue().rstrip().splitlines()]
        shown = "".join(f"{line}\n" for line in lines)
        return f"```python\n{cell['code']}```\n" + (f"\n```text\n{shown}```\n" if shown else "")

    return _CELL.sub(run, page)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(executed(path.read_text(encoding="utf-8")), encoding="utf-8")
