// Appended to Pyodide's loader. Runs the command `paraply audit` on files that the page passes.
"use strict";

let python;

// Pyodide asks for its parts by URL. The module is a blob; the rest is in memory.
async function start(parts) {
  const module = new Blob([parts["pyodide.asm.mjs"]], { type: "text/javascript" });
  const base = URL.createObjectURL(module) + "#/";
  self.fetch = async (url) => {
    const name = String(url).split("#/")[1];
    if (!(name in parts)) throw new Error(`not a part of this page: ${url}`);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(parts[name], { headers: { "Content-Type": type } });
  };
  const { info } = JSON.parse(new TextDecoder().decode(parts["pyodide-lock.json"]));
  python = await loadPyodide({ indexURL: base, lockFileContents: { info, packages: {} } });
  python.unpackArchive(parts["paraply.whl"], "wheel");
  python.unpackArchive(parts["libraries.zip"], "zip", {
    extractDir: python.runPython("import site; site.getsitepackages()[0]"),
  });
  python.runPython(new TextDecoder().decode(parts["run.py"]));
}

function audit(files) {
  const { FS } = python;
  FS.mkdirTree("/logs");
  FS.mount(FS.filesystems.WORKERFS, { files }, "/logs");
  try {
    return JSON.parse(python.globals.get("run")());
  } finally {
    FS.unmount("/logs");
  }
}

self.onmessage = async ({ data }) => {
  try {
    if (data.parts) {
      await start(data.parts);
      self.postMessage({ ready: true });
    } else {
      self.postMessage({ result: audit(data.files) });
    }
  } catch (error) {
    self.postMessage({ error: String(error) });
  }
};
