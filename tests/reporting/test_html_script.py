"""The script of the HTML report, run by node over the tables of a real page, without a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from paraply.reporting.html import render_html
from tests.builders.audit_results import holding_result

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

# As much of a document as the script asks for: tables of cells, and buttons that can be clicked.
STAGE = """
const {tables, script, table, clicks} = JSON.parse(require("fs").readFileSync(0, "utf8"));
class Element {
  constructor(text, {classes = [], dataset = {}} = {}) {
    this.childNodes = [];
    if (text !== "") this.append({textContent: text});
    this.classList = {contains: (name) => classes.includes(name)};
    this.dataset = dataset;
    this.attributes = {};
    this.listeners = {};
  }
  get textContent() { return this.childNodes.map((node) => node.textContent).join(""); }
  append(...nodes) {
    for (const node of nodes) {
      // A node stands in one place: appended, it leaves where it was.
      const siblings = node.parent?.childNodes;
      if (siblings) siblings.splice(siblings.indexOf(node), 1);
      node.parent = this;
      this.childNodes.push(node);
    }
  }
  getAttribute(name) { return this.attributes[name] ?? null; }
  setAttribute(name, value) { this.attributes[name] = value; }
  removeAttribute(name) { delete this.attributes[name]; }
  addEventListener(name, listener) { this.listeners[name] = listener; }
}
const stage = tables.map(({heads, rows}) => {
  const body = new Element("");
  body.append(...rows.map((cells) => ({cells: cells.map((cell) => new Element(cell.text, cell))})));
  Object.defineProperty(body, "rows", {get: () => body.childNodes});
  return {
    tHead: {rows: [{cells: heads.map((head) => new Element(head.text, head))}]},
    tBodies: [body],
  };
});
const page = {
  document: {
    querySelectorAll: (selector) => (selector === "table.sortable" ? stage : []),
    createElement: () => new Element(""),
    getElementById: () => null,
  },
  location: {hash: ""},
  addEventListener: () => {},
};
new Function(...Object.keys(page), script)(...Object.values(page));
const heads = stage[table].tHead.rows[0].cells;
for (const column of clicks) heads[column].childNodes[0].listeners.click();
console.log(JSON.stringify({
  rows: stage[table].tBodies[0].rows.map((row) => row.cells.map((cell) => cell.textContent)),
  heads: heads.map((head) => head.textContent),
  sorted: heads.map((head) => head.getAttribute("aria-sort")),
}));
"""


class Tables(HTMLParser):
    """Collects the sortable tables of a page, and its script."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tables, self.script = [], ""
        self._inside = self._cell = None
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "table" and "sortable" in found.get("class", ""):
            self._inside = {"heads": [], "rows": []}
            self.tables.append(self._inside)
        elif tag == "script":
            self._in_script = True
        elif self._inside is None:
            return
        elif tag in ("thead", "tbody"):
            self._section = tag
        elif tag == "tr" and self._section == "tbody":
            self._inside["rows"].append([])
        elif tag in ("th", "td"):
            data = {"value": found["data-value"]} if "data-value" in found else {}
            self._cell = {"text": "", "classes": found.get("class", "").split(), "dataset": data}
            is_head = self._section == "thead"
            (self._inside["heads"] if is_head else self._inside["rows"][-1]).append(self._cell)

    def handle_endtag(self, tag):
        if tag == "table":
            self._inside = None
        elif tag in ("th", "td"):
            self._cell = None
        elif tag == "script":
            self._in_script = False

    def handle_data(self, data):
        if self._in_script:
            self.script += data
        elif self._cell is not None:
            self._cell["text"] += data


def page():
    result = holding_result()
    many = [
        replace(result.tables[0], name=f"shop.t{number}", inserts=inserts)
        for number, inserts in ((10, 7), (2, 1_200), (1, 90))
    ]
    result.tables = many
    result.replay.tables = {"shop.t10": 5, "shop.t2": 1_100, "shop.t1": 30}
    result.replay.cascaded_tables = ["shop.t2"]
    return Tables(render_html(result))


def clicked(heading, times):
    """Return the first cells of the table with ``heading`` after clicks on it."""
    found = page()
    heads = [[head["text"] for head in table["heads"]] for table in found.tables]
    table = next(at for at, names in enumerate(heads) if heading in names)
    column = heads[table].index(heading)
    task = {
        "tables": found.tables,
        "script": found.script,
        "table": table,
        "clicks": [column] * times,
    }
    done = subprocess.run(
        [NODE, "-e", STAGE], input=json.dumps(task), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    # Headings keep their words inside the buttons.
    assert answer["heads"] == heads[table]
    assert len(answer["rows"]) == len(found.tables[table]["rows"])
    assert [at for at, order in enumerate(answer["sorted"]) if order] == [column] * bool(times)
    return [row[0] for row in answer["rows"]], answer["sorted"][column]


def test_table_is_as_rendered_until_a_heading_is_clicked():
    assert clicked("inserts", 0) == (["shop.t10", "shop.t2", "shop.t1"], None)


def test_numbers_are_sorted_as_numbers_largest_first():
    assert clicked("inserts", 1) == (["shop.t2", "shop.t1", "shop.t10"], "descending")
    assert clicked("inserts", 2) == (["shop.t10", "shop.t1", "shop.t2"], "ascending")


def test_names_are_sorted_as_people_count():
    assert clicked("table", 1) == (["shop.t1", "shop.t2", "shop.t10"], "ascending")
    assert clicked("table", 2) == (["shop.t10", "shop.t2", "shop.t1"], "descending")


def test_number_with_a_sign_before_it_is_sorted_by_its_value():
    assert clicked("rows known at the end", 1) == (["shop.t2", "shop.t1", "shop.t10"], "descending")


def test_every_number_of_a_sortable_table_is_one_for_the_script():
    for table in page().tables:
        for row in table["rows"]:
            for cell in row:
                if "number" in cell["classes"]:
                    shown = cell["dataset"].get("value", cell["text"].strip())
                    assert re.fullmatch(r"-?[\d,]*(\.\d+)?", shown), cell
