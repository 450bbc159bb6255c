// Python for a live lesson page: the same kernel as in JupyterLite, without JupyterLab. Messages in: {start}, {run, id},
// {progress}.
"use strict";
let pyodide, kernel, shell, streams, kept = false;

const DRIVE = "/drive"; // kept in this browser; exercises save progress there

// Copy the drive from the browser's storage, or to it.
const synced = (from) => new Promise((resolve, reject) => pyodide.FS.syncfs(from, (error) => (error ? reject(error) : resolve())));

async function start() {
  const base = new URL("lite/", self.location);
  importScripts(new URL("download.js", base));
  const sentence = unable();
  if (sentence) throw new Error(sentence);
  const list = await fetched({ address: new URL("live.json", base) }, () => {});
  const settings = JSON.parse(new TextDecoder().decode(list));
  await downloadAll(base, (share, words) => postMessage({ loading: words }));
  postMessage({ starting: true });
  const address = new URL(settings.pyodide, base).href;
  importScripts(address);
  pyodide = await loadPyodide({
    indexURL: address.slice(0, address.lastIndexOf("/") + 1),
    lockFileURL: new URL(settings.lock, base).href,
    stdLibURL: new URL(settings.library, base).href,
    packages: settings.packages,
  });
  if (await keeps()) {
    pyodide.FS.mkdirTree(DRIVE);
    pyodide.FS.mount(pyodide.FS.filesystems.IDBFS, {}, DRIVE);
    await synced(true);
    kept = true;
  }
  await pyodide.runPythonAsync("import pyodide_kernel, lesson_kernel\nawait lesson_kernel.start()");
  const loaded = pyodide.globals.get("pyodide_kernel");
  kernel = loaded.kernel_instance;
  shell = kernel.interpreter;
  streams = [loaded.stdout_stream, loaded.stderr_stream];
  shell.send_comm = () => Promise.resolve(); // sliders need a notebook
}

const plain = (value) => (value instanceof pyodide.ffi.PyProxy ? value.toJs({ dict_converter: Object.fromEntries }) : value);

async function run(code, id) {
  const show = (data) => postMessage({ id, shown: plain(data) });
  for (const stream of streams) stream.publish_stream_callback = (name, text) => postMessage({ id, text: plain(text) });
  shell.display_pub.display_data_callback = show;
  shell.display_pub.update_display_data_callback = show;
  shell.display_pub.clear_output_callback = () => postMessage({ id, clear: true });
  shell.displayhook.publish_execution_result = (count, data) => show(data);
  kernel._parent_header = pyodide.toPy({ header: {} });
  const result = plain(await kernel.run(code));
  if (kept) await synced(false);
  postMessage({ id, done: true, error: result.status === "error" ? result.traceback.join("\n") : "" });
}

// The contents of the progress file; "" before anything is solved.
function progress() {
  const file = pyodide.FS.analyzePath(pyodide.runPython("import os; os.environ['MINIGRAD_PROGRESS']"));
  return file.exists ? pyodide.FS.readFile(file.path, { encoding: "utf8" }) : "";
}

let turn = Promise.resolve();
onmessage = ({ data }) => {
  if (data.start) start().then(() => postMessage({ ready: true, kept }), (error) => postMessage({ failed: error.message || String(error) }));
  else if (data.progress) turn = turn.then(() => postMessage({ progress: progress() }));
  else turn = turn.then(() => run(data.run, data.id)).catch((error) => postMessage({ id: data.id, done: true, error: String(error) }));
};
