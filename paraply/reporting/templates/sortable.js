"use strict";
(() => {
  const folded = [...document.querySelectorAll("details.folded")];
  const unfold = () => {
    const wanted = location.hash && document.getElementById(location.hash.slice(1));
    for (const one of folded) if (wanted && one.contains(wanted)) { one.open = true; wanted.scrollIntoView(); }
  };
  addEventListener("hashchange", unfold);
  unfold();
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = folded.filter((one) => !one.open);
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
  for (const box of document.querySelectorAll(".sortable")) {
    const body = box.querySelector("tbody");
    const heads = [...box.querySelectorAll("thead th")];
    const rows = [...body.rows];
    const count = box.querySelector(".count");
    box.querySelector(".filter")?.addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      let left = 0;
      for (const row of rows) {
        row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
        if (!row.hidden) left += 1;
      }
      count.textContent = `${left} of ${rows.length} rows`;
    });
    const key = (row, column) => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
    const compare = (one, other) =>
      one !== "" && other !== "" && !Number.isNaN(+one) && !Number.isNaN(+other)
        ? one - other
        : one.localeCompare(other, undefined, { numeric: true });
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const isDown = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        const order = [...rows].sort((a, b) => compare(key(a, column), key(b, column)) * (isDown ? -1 : 1));
        body.append(...order);
      });
    });
  }
})();
