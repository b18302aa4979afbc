"use strict";
(() => {
  const body = document.querySelector("#pages tbody");
  const rows = [...body.rows];
  const count = document.getElementById("count");
  document.getElementById("filter").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    let left = 0;
    for (const row of rows) {
      row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) left += 1;
    }
    count.textContent = `${left} of ${rows.length} rows`;
  });
  document.querySelectorAll("#pages thead th").forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const isDown = head.getAttribute("aria-sort") === "ascending";
      for (const other of document.querySelectorAll("#pages thead th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      const key = (row) => row.cells[column].textContent.trim();
      const order = [...rows].sort((a, b) => key(a).localeCompare(key(b), undefined, { numeric: true }) * (isDown ? -1 : 1));
      body.append(...order);
    });
  });
})();
