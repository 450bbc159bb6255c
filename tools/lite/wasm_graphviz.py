"""Graphviz in a browser, for `viz`: compiled to WebAssembly, run in the kernel's own worker, or in one that can be ended.

`await load()` once, before anything is drawn. It needs the JavaScript next to this file: graphviz.js, the package
@hpcc-js/wasm-graphviz. A layout with a time limit needs a browser in which Python can wait for JavaScript (JSPI); elsewhere it
runs to its end here, and counts as too slow afterwards.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from pyodide.code import run_js
from pyodide.ffi import can_run_sync, run_sync

PROGRAM = """
async (source) => {
  const script = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const address = script(source);
  const { Graphviz } = await import(address);
  let graphviz = await Graphviz.load();
  const work = script(`
    import { Graphviz } from "${address}";
    const ready = Graphviz.load();
    ready.then(() => postMessage(null));
    onmessage = async ({ data: [dot, form] }) => {
      try { postMessage({ made: (await ready).layout(dot, form, "dot") }); }
      catch (error) { postMessage({ error: String(error) }); }
    };`);
  let worker = null;
  const answer = (worker) => new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message || "a worker could not be started"));
  });
  const end = () => { worker?.terminate(); worker = null; };
  return {
    layout(dot, form, prog) {
      try { return graphviz.layout(dot, form, prog); } catch (error) { return `failed: ${error}`; }
    },
    async within(dot, form, seconds) {
      try {
        if (!worker) { worker = new Worker(work, { type: "module" }); await answer(worker); }
        const made = answer(worker);
        worker.postMessage([dot, form]);
        const late = new Promise((resolve) => setTimeout(resolve, 1000 * seconds, "late"));
        const got = await Promise.race([made, late]);
        if (got === "late") { end(); return "late"; }
        return "made" in got ? got.made : `failed: ${got.error}`;
      } catch (error) { end(); return `failed: ${error.message}`; }
    },
  };
}
"""
_graphviz: Any = None


async def load() -> None:
    """Start Graphviz. Raises JsException where the browser cannot run WebAssembly."""
    global _graphviz
    if _graphviz is None:
        source = Path(__file__).with_name("graphviz.js").read_text(encoding="utf-8")
        _graphviz = await run_js(PROGRAM)(source)


def layout(source: str, form: str, prog: str = "dot") -> str:
    """DOT laid out by ``prog``, written in format ``form``. Raises RuntimeError with Graphviz's message."""
    if _graphviz is None:
        raise RuntimeError("Graphviz is not loaded yet: wait a moment and run the cell again.")
    return _checked(_graphviz.layout(source, form, prog))


def layout_within(source: str, form: str, seconds: float) -> str:
    """The same by dot, with a time limit. Raises TimeoutError."""
    if not can_run_sync():
        began = time.monotonic()
        made = layout(source, form)
        if time.monotonic() - began > 4 * seconds:
            raise TimeoutError
        return made
    made = run_sync(_graphviz.within(source, form, 4 * seconds))
    if made == "late":
        raise TimeoutError
    return _checked(made)


def _checked(made: str) -> str:
    if made.startswith("failed: "):
        raise RuntimeError(f"Graphviz failed: {made.removeprefix('failed: ')}")
    return made
