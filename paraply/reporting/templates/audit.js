"use strict";
// Sort a table by a column; numbers sort as numbers, the state is told to screen readers.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("number");
      const direction = head.getAttribute("aria-sort");
      const down = direction ? direction === "ascending" : numeric;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        const text = cell.dataset.value ?? cell.textContent.trim();
        return numeric ? Number(text.replaceAll(",", "")) || 0 : text;
      };
      const order = (a, b) =>
        numeric ? key(a) - key(b) : key(a).localeCompare(key(b), undefined, { numeric: true });
      const rows = [...table.tBodies[0].rows].sort(order);
      table.tBodies[0].append(...(down ? rows.reverse() : rows));
    });
  });
}
// A link into the critical path opens the entry it leads to, and the list that hides it.
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  for (let node = target; node; node = node.parentElement) {
    if (node.tagName === "DETAILS") node.open = true;
  }
  if (target) target.scrollIntoView({ block: "center" });
}
addEventListener("hashchange", openTarget);
if (location.hash.startsWith("#link-")) openTarget();
// Paper cannot be clicked: print what is folded, but not each link of a path of hundreds.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("main > section > details:not([open], .more)")];
  closed.forEach((details) => { details.open = true; });
});
addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));
