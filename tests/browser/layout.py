"""The structure of a page as a browser lays it out: what stands where, without fonts and words."""

from __future__ import annotations

import json

WIDTHS = (1280, 400)
COLUMNS = 12
BLOCKS = (
    "header, header h1, header .figures, nav, main section, main section > h2, figure, "
    ".toolbar, .scroll, .lanes-box, #state, .card, pre.copy, footer"
)
_SCRIPT = """
(() => JSON.stringify([...document.querySelectorAll(%s)].map((one) => {
  const box = one.getBoundingClientRect();
  const mark = one.id ? "#" + one.id : one.classList.length ? "." + one.classList[0] : "";
  const name = one.tagName.toLowerCase() + mark;
  let depth = 0;
  for (let up = one.parentElement; up; up = up.parentElement) if (up.matches(%s)) depth += 1;
  return [depth, name, box.left + scrollX, box.top + scrollY, box.width, box.height];
})))()
"""


def boxes(browser):
    """Return depth, name, left, top, width and height in pixels of every block, in their order."""
    return json.loads(browser.value(_SCRIPT % (json.dumps(BLOCKS), json.dumps(BLOCKS))))


def layout(browser, file):
    """Return the layout as text: at each width, the blocks with their columns of twelve."""
    lines = []
    for width in WIDTHS:
        browser.resize(width, 900)
        browser.open(file.as_uri())
        lines.append(f"width {width}")
        previous = ""
        for depth, name, left, _, wide, height in boxes(browser):
            first = round(left / width * COLUMNS) + 1
            last = round((left + wide) / width * COLUMNS)
            columns = f"{first}-{last}" if height else "hidden"
            line = f"{'  ' * (depth + 1)}{name} {columns}"
            # Alike blocks in a row are one line: how many there are is the content's business.
            if line != previous:
                lines.append(line)
            previous = line
    return "\n".join(lines) + "\n"
