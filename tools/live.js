// Makes a lesson page live: on request Python starts in this tab, and each cell can be changed and run.
"use strict";
(() => {
  const bar = document.querySelector(".live");
  if (!bar) return;
  const button = bar.querySelector("button"), status = bar.querySelector("[role=status]");
  const cells = [...document.querySelectorAll("main .code")].map((box, number) => ({ box, number, pre: box.querySelector("pre"), ran: false }));
  const codeOf = (pre) => pre.innerText || pre.textContent; // a browser gives no inner text for a folded cell
  const waiting = new Map();
  let asked = 0; // how often a cell was given to Python
  const save = document.createElement("button");
  save.type = "button";
  save.hidden = true;
  save.textContent = "Save my progress";
  save.onclick = () => worker?.postMessage({ progress: true });
  button.after(save);
  let worker = null;

  // What was typed into a cell, kept in this browser until the page's own code in it changes; null if nothing was typed.
  const kept = {
    key: (cell) => `${location.pathname} ${cell.number}`,
    get(cell) {
      try {
        const { original, typed } = JSON.parse(localStorage.getItem(this.key(cell)) ?? "{}");
        return original === cell.original ? typed : null;
      } catch { return null; } // a window in which nothing can be stored
    },
    set(cell) {
      try { localStorage.setItem(this.key(cell), JSON.stringify({ original: cell.original, typed: codeOf(cell.pre) })); } catch { /* the same; the status line says so */ }
    },
  };

  function download(progress) {
    if (!progress) { status.textContent = "There is no progress yet: solve an exercise first."; return; }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([progress], { type: "application/json" }));
    link.download = "progress.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  if (location.protocol === "file:") { bar.hidden = true; return; }

  function stopped(sentence) {
    worker?.terminate();
    worker = null;
    save.hidden = true;
    for (const cell of cells) cell.ran = false;
    for (const { finish } of waiting.values()) finish("Python was stopped.");
    waiting.clear();
    button.textContent = "Run this page";
    status.textContent = sentence;
  }

  function start() {
    if (typeof WebAssembly !== "object") { status.textContent = "This browser does not run WebAssembly, which Python needs: allow it in the settings, or use a current Firefox, Chrome, Edge or Safari."; return; }
    button.textContent = "Stop Python";
    status.textContent = "Looking for Python …";
    worker = new Worker("live-worker.js");
    worker.onerror = (event) => stopped(`Python could not be started (${event.message || `live-worker.js could not be loaded from ${location.host}`}). Is this computer online?`);
    worker.onmessage = ({ data }) => {
      if ("loading" in data) status.textContent = `Loading Python, once: ${data.loading}.`;
      else if (data.starting) status.textContent = "Starting Python …";
      else if (data.failed) stopped(data.failed);
      else if (data.ready) {
        const lost = data.kept ? "" : " This window keeps nothing, as private windows do: save your progress before you close it.";
        status.textContent = `Python runs in this tab. Change a cell and press Run, or Shift + Enter in it; what is above it runs first.${lost}`;
        save.hidden = false;
        for (const cell of cells) equip(cell);
      } else if ("progress" in data) download(data.progress);
      else waiting.get(data.id)?.take(data);
    };
    worker.postMessage({ start: true });
  }

  function equip(cell) {
    if (cell.run) return;
    cell.original = cell.pre.textContent;
    const typed = kept.get(cell);
    if (typed !== null) cell.pre.textContent = typed;
    cell.pre.contentEditable = "plaintext-only";
    cell.pre.spellcheck = false;
    for (const [name, value] of [["role", "textbox"], ["aria-multiline", "true"], ["aria-label", `Code of cell ${cell.number + 1}`], ["tabindex", "0"]]) cell.pre.setAttribute(name, value);
    cell.run = document.createElement("button");
    cell.run.type = "button";
    cell.run.className = "run";
    cell.run.textContent = "Run";
    cell.run.setAttribute("aria-label", `Run cell ${cell.number + 1}`);
    cell.box.append(cell.run);
    cell.run.onclick = () => upTo(cell);
    cell.pre.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); upTo(cell); }
    });
    cell.pre.addEventListener("input", () => { cell.ran = false; kept.set(cell); });
  }

  // Run a cell, after those above it that have not run; only its own output is shown.
  async function upTo(cell) {
    if (!worker) return start();
    cell.run.disabled = true;
    cell.run.textContent = "Running …";
    for (const before of cells.slice(0, cell.number)) {
      if (!before.ran && worker) { await execute(before, false); before.ran = true; }
    }
    if (worker) { await execute(cell, true); cell.ran = true; }
    cell.run.disabled = false;
    cell.run.textContent = "Run";
  }

  function execute(cell, visible) {
    return new Promise((resolve) => {
      const id = ++asked; // not from crypto, which makes no ids on a page served by plain http
      const out = visible ? emptied(cell) : document.createElement("div");
      const finish = (error) => {
        if (error) add(out, "pre", error.replace(/\x1b\[[0-9;]*m/g, ""));
        out.removeAttribute("aria-busy");
        waiting.delete(id);
        resolve();
      };
      const take = (data) => {
        if (data.done) finish(data.error);
        else if (data.clear) out.replaceChildren();
        else if (data.text) add(out, "pre", data.text);
        else if (data.shown["text/html"]) add(out, "div", "").innerHTML = data.shown["text/html"];
        else if (data.shown["image/png"]) add(out, "img", "").src = `data:image/png;base64,${data.shown["image/png"]}`;
        else add(out, "pre", data.shown["text/plain"] || "");
      };
      waiting.set(id, { take, finish });
      worker.postMessage({ run: codeOf(cell.pre), id });
    });
  }

  function add(out, kind, text) {
    const last = out.lastElementChild;
    if (kind === "pre" && last?.tagName === "PRE") { last.textContent += text; return last; }
    const box = document.createElement(kind);
    box.textContent = text;
    out.append(box);
    return box;
  }

  // the place of a cell's output: what was there is replaced
  function emptied(cell) {
    while (cell.box.nextElementSibling?.classList.contains("output")) cell.box.nextElementSibling.remove();
    const out = document.createElement("div");
    out.className = "output";
    out.setAttribute("aria-busy", "true");
    out.setAttribute("aria-live", "polite");
    cell.box.after(out);
    return out;
  }

  button.onclick = () => (worker ? stopped("Python was stopped; what you typed is still here.") : start());
})();
