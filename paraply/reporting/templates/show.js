"use strict";
(() => {
  const doc = JSON.parse(document.getElementById("document").textContent);
  const byId = (id) => document.getElementById(id);
  const events = doc.events;
  const moments = doc.breaches.length ? doc.breaches[0].moments : [];
  const breaking = moments.length ? moments[moments.length - 1] : -1;
  let at = -1;
  let shown = events.map((_, index) => index);
  const state = new Map();

  const make = (name, text, attributes = {}) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  // The state, stepped in either direction.

  const put = (member, section, key, value) => {
    const path = member + "\u0000" + section;
    if (!state.has(path)) state.set(path, new Map());
    const entries = state.get(path);
    if (value === null) entries.delete(key); else entries.set(key, value);
  };
  const moveTo = (target) => {
    while (at < target) {
      at += 1;
      for (const [member, section, key, after] of doc.differences[at]) put(member, section, key, after);
    }
    while (at > target) {
      const changes = doc.differences[at];
      for (let i = changes.length - 1; i >= 0; i -= 1) {
        const [member, section, key, , before] = changes[i];
        put(member, section, key, before);
      }
      at -= 1;
    }
  };
  const drawState = () => {
    const box = byId("state");
    box.replaceChildren();
    const changed = new Map(doc.differences[at].map((d) => [d[0] + "\u0000" + d[1] + "\u0000" + d[2], d]));
    const paths = [...state.keys()].sort();
    let member = null;
    for (const path of paths) {
      const [who, section] = path.split("\u0000");
      const entries = new Map(state.get(path));
      for (const d of changed.values()) if (d[0] === who && d[1] === section && d[3] === null) entries.set(d[2], null);
      if (!entries.size) continue;
      if (who !== member) box.append(make("h3", who));
      member = who;
      box.append(make("h4", section));
      const list = make("dl");
      for (const [key, value] of entries) {
        const isChanged = changed.has(path + "\u0000" + key);
        const kind = value === null ? "gone" : isChanged ? "changed" : "";
        const before = isChanged ? changed.get(path + "\u0000" + key)[4] : null;
        list.append(make("dt", key, { class: kind }));
        const text = value === null ? before : before !== null && isChanged ? before + " → " + value : value;
        list.append(make("dd", text, { class: kind }));
      }
      box.append(list);
    }
    if (!box.childElementCount) box.append(make("p", "Nothing is known yet.", { class: "quiet" }));
  };

  // The lanes: only the rows in view are in the page, so that long histories stay smooth.

  const rows = byId("rows");
  const lanes = byId("lanes");
  document.body.style.setProperty("--lanes", doc.lanes.length);
  byId("heads").append(make("span", "step"), ...doc.lanes.map((name) => make("span", name, { title: name })));
  let rowHeight = 0;
  const rowOf = (place) => {
    const index = shown[place];
    const [time, lane, words, transaction] = events[index];
    const row = make("div", undefined, { class: "row", role: "row", "data-index": index, "aria-rowindex": place + 1, "aria-selected": String(index === at) });
    row.append(make("span", String(index + 1), { role: "rowheader", title: "time " + time }));
    doc.lanes.forEach((_, place_) => {
      const cell = make("span", place_ === lane ? words : "", { role: "gridcell" });
      if (place_ === lane) cell.title = words;
      row.append(cell);
    });
    row.classList.toggle("now", index === at);
    row.classList.add(index <= at ? "past" : "future");
    row.classList.toggle("moment", moments.includes(index));
    row.classList.toggle("same", at >= 0 && transaction !== 0 && transaction === events[at][3]);
    return row;
  };
  const drawRows = (all = false) => {
    if (!rowHeight) {
      rows.append(rowOf(0));
      rowHeight = rows.firstChild.getBoundingClientRect().height || 24;
    }
    rows.style.height = shown.length * rowHeight + "px";
    const first = all ? 0 : Math.max(0, Math.floor(lanes.scrollTop / rowHeight) - 10);
    const last = all ? shown.length : Math.min(shown.length, first + Math.ceil(lanes.clientHeight / rowHeight) + 20);
    const drawn = [];
    for (let place = first; place < last; place += 1) {
      const row = rowOf(place);
      row.style.top = place * rowHeight + "px";
      drawn.push(row);
    }
    rows.replaceChildren(...drawn);
    lanes.setAttribute("aria-rowcount", String(shown.length));
  };
  const reveal = (index) => {
    const place = shown.indexOf(index);
    if (place < 0) return;
    const top = place * rowHeight;
    if (top < lanes.scrollTop + rowHeight || top > lanes.scrollTop + lanes.clientHeight - 2 * rowHeight) {
      lanes.scrollTop = top - lanes.clientHeight / 2;
    }
  };

  const go = (index, fromLink = false) => {
    if (!events.length) return;
    const target = Math.min(events.length - 1, Math.max(0, index));
    moveTo(target);
    const [time, lane, words] = events[target];
    byId("now").textContent = `Step ${target + 1} of ${events.length}, time ${time}: ${doc.lanes[lane]}: ${words}` + (moments.includes(target) ? (target === breaking ? "  ✗ this breaks " + doc.breaches[0].property : "  ✗ collides with the breach") : "");
    byId("slider").value = target + 1;
    byId("permalink").href = "#step=" + (target + 1);
    if (!rowHeight) drawRows();
    reveal(target);
    drawRows();
    drawState();
    drawHere();
    if (!fromLink) history.replaceState(null, "", "#step=" + (target + 1));
  };
  const step = (by) => {
    const place = shown.indexOf(at);
    if (place >= 0) go(shown[Math.min(shown.length - 1, Math.max(0, place + by))]);
    else if (shown.length) go(shown[0]);
  };

  // Other choices.

  const others = doc.alternatives;
  const verdictWord = (one) => make("span", { holds: "✓ passes", violated: "✗ still breaks", unknown: "? passes, its situation not reached" }[one.verdict], { class: "verdict-" + one.verdict });
  const drawOther = (number) => {
    const one = others[number];
    const box = byId("other");
    box.replaceChildren();
    box.append(make("h3", `Choice ${one.position + 1}: ${one.words}`));
    const line = make("p", "The run is the same up to step " + one.first + ". Then: ");
    line.append(verdictWord(one));
    box.append(line);
    const table = make("table");
    const head = make("tr");
    for (const name of ["time", "who", "what"]) head.append(make("th", name, { scope: "col" }));
    const body = make("tbody");
    for (const [time, lane, words] of one.events) {
      const row = make("tr");
      row.append(make("td", String(time)), make("td", lane < 0 ? "another" : doc.lanes[lane]), make("td", words));
      body.append(row);
    }
    const header = make("thead");
    header.append(head);
    table.append(header, body);
    const scroll = make("div", undefined, { class: "scroll", tabindex: "0" });
    scroll.append(table);
    box.append(scroll);
    if (one.more) box.append(make("p", `and ${one.more} more events`, { class: "quiet" }));
    box.scrollIntoView({ block: "nearest" });
  };
  const otherRow = (one, number) => {
    const row = make("tr");
    const link = make("a", `${one.position + 1}${one.label ? ": " + one.label : ""}`, { href: "#whatif=" + number });
    const first = make("td");
    first.append(link);
    const last = make("td");
    last.append(verdictWord(one));
    if (one.isNearest) last.append(make("b", " (the nearest)"));
    row.append(first, make("td", String(one.first + 1)), make("td", one.words), last);
    return row;
  };
  const drawOthers = () => {
    if (!others.length) return;
    const isOnly = byId("passing").checked;
    byId("others").replaceChildren(...others.map((one, number) => [one, number]).filter(([one]) => !isOnly || one.verdict !== "violated").map(([one, number]) => otherRow(one, number)));
  };
  const drawHere = () => {
    const box = byId("here");
    box.replaceChildren();
    const here = others.map((one, number) => [one, number]).filter(([one]) => one.first === at);
    if (!here.length) return;
    box.append(make("h3", "Something else could have happened here"));
    const list = make("ul");
    for (const [one, number] of here) {
      const item = make("li");
      item.append(make("a", one.words, { href: "#whatif=" + number }), " ", verdictWord(one));
      list.append(item);
    }
    box.append(list);
  };

  // Dependencies, as arcs over the transactions in the order of the log.

  const drawGraph = () => {
    const ids = doc.transactions.map((one) => one.id);
    const space = 74;
    const reach = Math.max(1, ...doc.edges.map((edge) => Math.abs(ids.indexOf(edge.to) - ids.indexOf(edge.from))));
    const height = Math.min(320, 46 + 26 * reach);
    const ns = "http://www.w3.org/2000/svg";
    const draw = (name, attributes, text) => {
      const element = document.createElementNS(ns, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      if (text !== undefined) element.textContent = text;
      return element;
    };
    const svg = draw("svg", { width: space * ids.length + 40, height: height + 30, role: "img", "aria-label": `${doc.edges.length} dependencies of ${ids.length} transactions; the table below has them` });
    const x = (id) => 40 + space * ids.indexOf(id);
    const touched = new Set(moments.map((index) => events[index][3]));
    for (const edge of doc.edges) {
      const lift = 18 + (height - 46) * Math.abs(ids.indexOf(edge.to) - ids.indexOf(edge.from)) / reach;
      const path = draw("path", { d: `M ${x(edge.from)} ${height - 14} C ${x(edge.from)} ${height - 14 - lift}, ${x(edge.to)} ${height - 14 - lift}, ${x(edge.to)} ${height - 14}`, class: edge.broken ? "broken" : edge.kind });
      path.append(draw("title", {}, edge.broken || edge.premise));
      svg.append(path);
    }
    for (const id of ids) {
      const node = draw("g", { class: touched.has(id) ? "touched" : "" });
      node.append(draw("circle", { cx: x(id), cy: height, r: 14 }), draw("text", { x: x(id), y: height + 4 }, "T" + id));
      svg.append(node);
    }
    byId("arcs").append(svg);
    byId("edges").replaceChildren(...doc.edges.map((edge) => {
      const row = make("tr", undefined, { class: edge.broken ? "broken" : "" });
      const link = (id) => {
        const cell = make("td");
        const index = events.findIndex((event) => event[3] === id);
        cell.append(index < 0 ? make("span", "T" + id) : make("a", "T" + id, { href: "#step=" + (index + 1) }));
        return cell;
      };
      row.append(link(edge.from), link(edge.to), make("td", edge.kind), make("td", edge.broken ? edge.premise + ". " + edge.broken + "." : edge.premise));
      return row;
    }));
  };

  const follow = () => {
    const found = /^#(step|whatif)=(\d+)$/.exec(location.hash);
    if (found === null) return false;
    if (found[1] === "step") {
      go(Number(found[2]) - 1, true);
      byId("steps").scrollIntoView();
    } else if (others[Number(found[2])]) drawOther(Number(found[2]));
    return true;
  };

  byId("slider").max = Math.max(1, events.length);
  byId("slider").addEventListener("input", (event) => go(Number(event.target.value) - 1));
  byId("first").addEventListener("click", () => shown.length && go(shown[0]));
  byId("last").addEventListener("click", () => shown.length && go(shown[shown.length - 1]));
  byId("back").addEventListener("click", () => step(-1));
  byId("forward").addEventListener("click", () => step(1));
  byId("break").addEventListener("click", () => go(breaking));
  byId("break").hidden = breaking < 0;
  byId("filter").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    const words = (index) => (doc.lanes[events[index][1]] + " " + events[index][2]).toLowerCase();
    shown = events.map((_, index) => index).filter((index) => !wanted || words(index).includes(wanted));
    lanes.scrollTop = 0;
    drawRows();
  });
  rows.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) go(Number(row.dataset.index));
  });
  lanes.addEventListener("scroll", () => drawRows());
  addEventListener("resize", () => drawRows());
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => shown.length <= 3000 && drawRows(true));
  addEventListener("afterprint", () => drawRows());
  addEventListener("keydown", (event) => {
    if (event.target.matches("input, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = { ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1), Home: () => go(0), End: () => go(events.length - 1), b: () => breaking >= 0 && go(breaking) };
    const isScroll = event.key === "ArrowDown" || event.key === "ArrowUp" || event.key === "Home" || event.key === "End";
    if (!(event.key in keys) || (isScroll && document.activeElement !== lanes)) return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const block of document.querySelectorAll("pre.copy")) {
    const button = make("button", "copy", { type: "button" });
    button.addEventListener("click", () => navigator.clipboard.writeText(block.querySelector("code").textContent).then(() => { button.textContent = "copied"; }));
    block.append(button);
  }
  if (others.length) byId("passing").addEventListener("change", drawOthers);
  drawOthers();
  drawGraph();
  if (!events.length) byId("now").textContent = "The history has no events.";
  else if (!follow()) go(breaking >= 0 ? breaking : 0, true);
})();
