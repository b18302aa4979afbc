"use strict";

const VERDICTS = { 0: "holds", 1: "violated", 2: "unknown" };
const $ = (selector) => document.querySelector(selector);

async function part(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (one) => one.charCodeAt(0));
  element.remove();
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return [element.dataset.name, await new Response(unpacked).arrayBuffer()];
}

function show(state, text) {
  document.body.dataset.state = state;
  $("#status").textContent = text;
}

function offer(link, text, type) {
  if (link.href) URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.hidden = !text;
}

function finish({ code, text, error, json, html }) {
  const verdict = VERDICTS[code];
  show(verdict ?? "failed", verdict ? `Verdict: ${verdict}` : "No verdict");
  $("#report").textContent = verdict ? text : error;
  $("#command").textContent = `exit code ${code}`;
  $("#page").hidden = !html;
  $("#page").srcdoc = html;
  offer($("#json"), json, "application/json");
  offer($("#html"), html, "text/html");
}

async function main() {
  const parts = Object.fromEntries(await Promise.all([...$("#parts").children].map(part)));
  // Pyodide tries to load a script to learn whether it may; the policy would complain.
  const closed = "self.importScripts = () => { throw new Error('closed'); };\n";
  const source = new Blob([closed, parts["pyodide.js"], "\n", parts["worker.js"]]);
  const worker = new Worker(URL.createObjectURL(source));
  let began = 0;

  worker.onmessage = ({ data }) => {
    if (data.ready) show("ready", "Ready.");
    else if (data.result) {
      finish(data.result);
      $("#seconds").textContent = `after ${((performance.now() - began) / 1000).toFixed(1)} s`;
    } else show("failed", data.error);
  };
  worker.onerror = (event) => show("failed", event.message);
  worker.postMessage({ parts }, Object.values(parts));

  function audit(files) {
    if (!files.length || ["loading", "reading"].includes(document.body.dataset.state)) return;
    show("reading", `Reading ${[...files].map((one) => one.name).join(", ")} …`);
    began = performance.now();
    worker.postMessage({ files: [...files] });
  }

  $("#files").onchange = (event) => audit(event.target.files);
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    audit(event.dataTransfer.files);
  });
}

main().catch((error) => show("failed", String(error)));
