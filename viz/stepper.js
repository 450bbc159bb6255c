// stepper.js: the pane that walks through one recorded backward pass.
//
// One unbundled ES module, the same in a notebook (anywidget calls `render`) and on a page (viz/page.py calls `mount`).
// It may touch its own element (and the keys of the widgets boxed with it) and its own model, nothing else: no network, no
// storage of data, no global state but the learner's "just show me". The picture is laid out once, in Python; a step
// changes classes and paints cells.
// Everything in the payload is untrusted text: it reaches the page through textContent alone, and the SVG through `cleanSvg`.

const SVG = "http://www.w3.org/2000/svg";

// ---------------------------------------------------------------- elements

// Jupyter's shortcuts ("d d" deletes a cell, in Notebook 7 arrows too) look at the focused element: what can have the focus says no.
const keepKeys = ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true");

function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") el.className = value;
    else if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else el.setAttribute(key, value === true ? "" : value);
  }
  if (props.tabindex !== undefined || /^(button|input|select)$/.test(tag)) keepKeys({ target: el });
  el.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return el;
}

function s(tag, attributes = {}, text) {
  const el = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, value);
  if (text !== undefined) el.textContent = text;
  return el;
}

const ICONS = {
  first: "M4 3v10M13 3 6 8l7 5z",
  back: "M12 3 4 8l8 5z",
  play: "M4 2.5 13 8l-9 5.5z",
  pause: "M4.5 3v10M11.5 3v10",
  next: "M4 3l8 5-8 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
  smaller: "M3 8h10",
  larger: "M3 8h10M8 3v10",
  fit: "M2 6V2h4M14 10v4h-4M10 2h4v4M6 14H2v-4",
};

function icon(name) {
  const svg = s("svg", { viewBox: "0 0 16 16", class: `mgv-icon mgv-icon-${name}`, "aria-hidden": "true", focusable: "false" });
  svg.append(s("path", { d: ICONS[name] }));
  return svg;
}

// ---------------------------------------------------------------- numbers and arrays

// Four significant digits: as much as a learner compares, as little as fits a cell. ASCII minus, so it can be pasted.
export function number(x) {
  if (typeof x !== "number") return String(x);
  const size = Math.abs(x);
  if (x === 0) return "0";
  if (Number.isInteger(x) && size < 1e6) return String(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(x.toPrecision(4)));
}

// The numbers of one array with one count of decimals, so that they line up.
function numbers(values, most = 4) {
  const sizes = values.filter((x) => typeof x === "number" && x !== 0).map(Math.abs);
  if (!sizes.length || Math.max(...sizes) >= 1e5 || Math.max(...sizes) < 1e-3) return values.map(number);
  const decimals = Math.max(0, ...values.map((x) => (typeof x === "number" ? (String(Number(x.toFixed(most))).split(".")[1] || "").length : 0)));
  return values.map((x) => (typeof x === "number" ? x.toFixed(decimals) : x));
}

// The numbers of a small array as they fit into a column of the panel: four decimals, else two, else null.
function fitting(values, cols) {
  if (values.length === 1) return values.map(number);
  for (const most of [4, 2]) {
    const texts = numbers(values, most);
    if (cols * (Math.max(...texts.map((text) => text.length)) * 7.3 + 13) <= 300) return texts;
  }
  return null;
}

export function shapeText(shape) {
  if (!shape) return "";
  return shape.length === 0 ? "scalar" : `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
}

const finite = (x) => (typeof x === "number" ? Math.abs(x) : 0);
const scaleOf = (a) => Math.max(finite(a.min), finite(a.max)) || 1;
const cellsOf = (a) => (a.cells && a.cells.values ? a.cells : { ...grid(a), values: a.values || [] });

function grid(a) {
  if (a.cells) return a.cells;
  const cols = a.shape.length ? a.shape[a.shape.length - 1] : 1;
  const size = a.values ? a.values.length : 0;
  return { rows: cols ? size / cols : 0, cols, downsampled: false };
}

// A cell's class says the sign; its opacity says the size. The minus mark says the sign once more, without colour.
function cellLook(x, scale) {
  if (typeof x !== "number") return ["bad", 1];
  const size = Math.min(1, Math.abs(x) / scale) ** 0.7;
  return [x < 0 ? "minus" : x > 0 ? "plus" : "zero", size];
}

// The payload as it was recorded: each array is sent once, in `arrays`, and {$: 7} stands for it wherever it comes up.
function unpack(data) {
  if (!data.arrays) return data;
  const arrays = data.arrays.map((a) => {
    if (!a.values) return a;
    const known = a.values.filter((x) => typeof x === "number");
    return { ...a, min: known.length ? Math.min(...known) : "nan", max: known.length ? Math.max(...known) : "nan", nonfinite: a.values.filter((x) => typeof x === "string").length };
  });
  const walk = (x) => {
    if (Array.isArray(x)) return x.map(walk);
    if (!x || typeof x !== "object") return x;
    if ("$" in x) return arrays[x.$];
    const out = {};
    for (const key in x) out[key] = walk(x[key]);
    return out;
  };
  const { arrays: _, ...rest } = data;
  return walk(rest);
}

// Paints an array into a box of the given size: the one picture of numbers, in the graph and in the panel alike.
function paintCells(a, x, y, width, height, gap = 0.8) {
  const { rows, cols, values } = cellsOf(a);
  const g = s("g", { class: "mgv-cells" });
  if (!rows || !cols) return g;
  const w = width / cols, t = height / rows, scale = scaleOf(a);
  let marks = "", crosses = "";
  values.forEach((value, i) => {
    const cx = x + (i % cols) * w, cy = y + Math.floor(i / cols) * t;
    const [sign, size] = cellLook(value, scale);
    const rect = s("rect", { x: cx + gap / 2, y: cy + gap / 2, width: Math.max(0.5, w - gap), height: Math.max(0.5, t - gap), class: sign });
    if (sign === "plus" || sign === "minus") rect.setAttribute("fill-opacity", (0.12 + 0.88 * size).toFixed(3));
    g.append(rect);
    if (sign === "minus") marks += `M${cx + w * 0.3} ${cy + t / 2}h${w * 0.4}`;
    if (sign === "bad") crosses += `M${cx + w * 0.3} ${cy + t * 0.3}l${w * 0.4} ${t * 0.4}m0 ${-t * 0.4}l${-w * 0.4} ${t * 0.4}`;
  });
  if (marks) g.append(s("path", { d: marks, class: "sign" }));
  if (crosses) g.append(s("path", { d: crosses, class: "cross" }));
  return g;
}

// A box of the picture: numbers are written where they have room, painted where they have not.
function paintBox(a, x, y, width, height) {
  const { rows, cols } = grid(a), w = width / cols, t = height / rows;
  if (!a.values || !a.values.length || a.values.length > 12 || w < 20 || t < 10) return paintCells(a, x, y, width, height);
  const g = s("g", { class: "mgv-cells mgv-written" }), scale = scaleOf(a);
  a.values.forEach((value, i) => {
    const text = typeof value === "number" ? number(Number(value.toPrecision(3))) : value, cx = x + (i % cols) * w, cy = y + Math.floor(i / cols) * t;
    const [sign, size] = cellLook(value, scale), font = Math.min(11, t - 2, (w - 3) / (0.58 * text.length));
    g.append(s("rect", { x: cx + 0.5, y: cy + 0.5, width: w - 1, height: t - 1, class: sign, "fill-opacity": sign === "bad" ? 0.15 : (0.06 + 0.24 * size).toFixed(3) }),
      s("text", { x: cx + w / 2, y: cy + t / 2 + font * 0.36, "text-anchor": "middle", "font-size": font.toFixed(1) }, text));
  });
  return g;
}

export function arrayText(a) {
  if (a === null || a === undefined) return "None";
  if (!a.shape) return a.text || "";
  if (a.values && a.values.length === 1) return number(a.values[0]) + (a.shape.length ? ` ${shapeText(a.shape)}` : "");
  if (a.values && a.values.length <= 16) return `${shapeText(a.shape)}: ${a.values.map(number).join(", ")}`;
  return `${shapeText(a.shape)}, from ${number(a.min)} to ${number(a.max)}`;
}

// Small arrays as numbers, larger ones as a heat map with shape, range and scale.
function arrayView(a) {
  if (a === null || a === undefined) return h("span", { class: "mgv-none" }, "None");
  if (!a.shape) return h("code", { class: "mgv-plain" }, a.text || "");
  const { rows, cols } = grid(a);
  const data = a.values ? JSON.stringify(a.values) : null;
  const title = [shapeText(a.shape), a.dtype, a.nonfinite ? `${a.nonfinite} not finite` : null].filter(Boolean).join(" ");
  if (a.values && a.values.length === 0)
    return h("span", { class: "mgv-array", title }, h("span", { class: "mgv-none" }, "empty"), h("span", { class: "mgv-shape" }, shapeText(a.shape)));
  const texts = a.values && cols <= 6 && rows <= 6 && rows * cols <= 20 ? fitting(a.values, cols) : null;
  if (texts) {
    const scale = scaleOf(a);
    const cells = a.values.map((value, i) => {
      const [sign, size] = cellLook(value, scale);
      return h("span", { class: `mgv-num ${sign}`, style: `--size:${size.toFixed(2)}` }, texts[i]);
    });
    return h("span", { class: "mgv-array", title, "data-values": data, "data-shape": JSON.stringify(a.shape) },
      h("span", { class: a.shape.length ? "mgv-matrix" : "mgv-scalar", style: `--cols:${cols}`, title: a.values.join(", ") }, cells),
      h("span", { class: "mgv-shape" }, shapeText(a.shape)));
  }
  const side = Math.max(9, Math.min(15, 120 / Math.max(rows, cols, 1)));
  const svg = s("svg", { width: cols * side, height: rows * side, viewBox: `0 0 ${cols * side} ${rows * side}`, role: "img", "aria-label": `heat map ${arrayText(a)}` });
  svg.append(paintCells(a, 0, 0, cols * side, rows * side, 1));
  const scale = number(scaleOf(a));
  return h("span", { class: "mgv-array mgv-heat", title, "data-values": data, "data-shape": JSON.stringify(a.shape) }, svg,
    h("span", { class: "mgv-caption" },
      h("span", { class: "mgv-shape" }, shapeText(a.shape), a.cells && a.cells.downsampled ? ` in ${rows}×${cols}` : ""),
      h("span", {}, `${number(a.min)} … ${number(a.max)}`),
      h("span", { class: "mgv-scale", title: "blue with a minus mark is negative, orange is positive" }, h("i", { "aria-hidden": "true" }), `±${scale}`),
      a.nonfinite ? h("span", { class: "mgv-alarm" }, `${a.nonfinite} not finite`) : null));
}

// ---------------------------------------------------------------- the picture

const ALLOWED = new Set(["svg", "g", "path", "polygon", "polyline", "ellipse", "circle", "rect", "line", "text", "tspan", "defs", "marker", "linearGradient", "stop"]);
const ATTRIBUTES = new Set(["id", "class", "d", "points", "cx", "cy", "rx", "ry", "r", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "width", "height", "viewBox",
  "transform", "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "opacity", "text-anchor", "font-family", "font-size",
  "font-weight", "font-style", "text-decoration", "textLength", "lengthAdjust", "offset", "stop-color", "xml:space"]);

// Only drawing elements and drawing attributes pass: no script, no on*, no href, no style, no url().
export function cleanSvg(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (parsed.nodeName !== "svg") throw new Error("viz: the picture in the payload is not an SVG");
  const copy = (node) => {
    if (node.nodeName === "a") { // a table cell's anchor: keep what is in it, as a group
      const g = s("g", node.getAttribute("id") ? { id: node.getAttribute("id") } : {});
      for (const child of node.childNodes) { const c = child.nodeType === 1 ? copy(child) : null; if (c) g.append(c); }
      return g;
    }
    if (!ALLOWED.has(node.nodeName)) return null;
    const el = document.createElementNS(SVG, node.nodeName);
    for (const { name, value } of node.attributes) if (ATTRIBUTES.has(name) && !/url\s*\(|javascript:/i.test(value)) el.setAttribute(name, value);
    for (const child of node.childNodes) {
      if (child.nodeType === 3) { if (node.nodeName === "text" || node.nodeName === "tspan") el.append(child.nodeValue); continue; }
      const c = child.nodeType === 1 ? copy(child) : null;
      if (c) el.append(c);
    }
    return el;
  };
  return copy(parsed);
}

// The point half-way along an edge, from its Bézier control points.
function middleOf(group) {
  const path = group.querySelector("path");
  const n = ((path && path.getAttribute("d")) || "").match(/-?\d*\.?\d+(?:e-?\d+)?/g);
  if (!n || n.length < 4) return null;
  const p = []; for (let i = 0; i + 1 < n.length; i += 2) p.push([Number(n[i]), Number(n[i + 1])]);
  const segments = (p.length - 1) / 3;
  if (segments < 1) return p[Math.floor(p.length / 2)];
  if (segments % 2 === 0) return p[(segments / 2) * 3];
  const [a, b, c, d] = p.slice(((segments - 1) / 2) * 3);
  return [0, 1].map((k) => (a[k] + 3 * b[k] + 3 * c[k] + d[k]) / 8);
}

// ---------------------------------------------------------------- answers

// "3", "1/3", "1 2 3", "[1, 2]", "[[1], [2]]" → { values, shape }, shape null where no brackets say it; null if not numbers.
export function parseAnswer(text) {
  const tidy = text.trim().replace(/^tensor\((.*)\)$/s, "$1").replace(/\u2212/g, "-");
  const tokens = tidy.match(/\[|\]|[^\s,[\]]+/g);
  if (!tokens) return null;
  const value = (token) => {
    const [top, bottom, ...more] = token.split("/").map(Number);
    return more.length ? NaN : bottom === undefined ? top : top / bottom;
  };
  if (!tidy.includes("[")) {
    const values = tokens.map(value);
    return tidy.includes("]") || !values.every(Number.isFinite) ? null : { values, shape: values.length === 1 ? [] : null };
  }
  const values = [];
  let at = 0;
  const read = () => { // one element: a number, or a list of elements of one shape
    if (tokens[at] !== "[") { const x = value(tokens[at++]); values.push(x); return Number.isFinite(x) ? [] : null; }
    at++;
    let count = 0, inner = [];
    while (at < tokens.length && tokens[at] !== "]") {
      const shape = read();
      if (!shape || (count && String(shape) !== String(inner))) return null;
      inner = shape; count++;
    }
    return tokens[at++] === "]" ? [count, ...inner] : null;
  };
  const shape = read();
  return shape && at === tokens.length ? { values, shape } : null;
}

const near = (a, b) => a.length === b.length && a.every((x, i) => Math.abs(x - b[i]) <= 0.005 * Math.max(Math.abs(b[i]), 0.1));
const fits = (answer, right) => near(answer.values, right.values) && (answer.shape === null || String(answer.shape) === String(right.shape) || right.values.length === 1);

// What to say of an answer: right, the cause that the payload computed for this number, or what its form tells.
export function judge(answer, question) {
  const right = question.answer;
  if (fits(answer, right)) return { right: true };
  const known = question.mistakes.find((mistake) => fits(answer, mistake));
  if (known) return { cause: known.cause, says: known.says };
  if (near(answer.values, right.values)) return { cause: "wrong shape", says: `The numbers are right, the shape is not: ${shapeText(answer.shape)}. The gradient has the shape ${shapeText(right.shape)} of its tensor.` };
  if (answer.values.length !== right.values.length)
    return { cause: "wrong shape", says: `That is ${answer.values.length === 1 ? "one number" : `${answer.values.length} numbers`}. A gradient has one number for each entry of its tensor.` };
  const ratios = answer.values.map((x, i) => x / right.values[i]).filter((x) => !Number.isNaN(x));
  if (ratios.length > 1 && ratios.every((x) => Math.abs(x - ratios[0]) < 0.01 * Math.abs(x)) && Number.isFinite(ratios[0]))
    return { cause: "factor", says: `Every entry is ${number(ratios[0])} times what it should be.` };
  return { cause: "unknown", says: "That is not it. Put the numbers on the left into the rule." };
}

// "Just show me" is remembered where the browser has a place for it: a sandboxed frame, a file, an editor's webview and a
// reader who forbids it have none, and most of them say so by throwing.
function memory() {
  try {
    return globalThis.origin === "null" ? null : globalThis.localStorage;
  } catch (error) {
    if (error.name === "SecurityError") return null;
    throw error;
  }
}
const remembers = () => memory()?.getItem("mgv-just-show-me") === "yes";
const remember = (yes) => memory()?.[yes ? "setItem" : "removeItem"]("mgv-just-show-me", "yes");

// ---------------------------------------------------------------- the timeline: what is true after k steps

// `late`: a total shows when its node fires, not when its last part arrives, so that it can be asked for.
function timeline(data, late) {
  const steps = data.steps, fired = {}, ready = {}, touched = {}, freed = {}, grads = {}, edges = {};
  if (steps.length) { ready[steps[0].node] = 0; grads[steps[0].node] = { at: 0, array: data.start ? data.start.seed : null }; }
  steps.forEach((step, i) => {
    const k = i + 1;
    (fired[step.node] ??= []).push(k); // a folded box stands for several steps
    if (!grads[step.node] || step.total) grads[step.node] = { at: late ? k : Math.min(k, ready[step.node] ?? k), array: step.total, each: step.totals };
    for (const out of step.outgoing || []) {
      if (out.edge && out.value) edges[out.edge] = { at: [...(edges[out.edge]?.at || []), k], array: out.value };
      if (out.to && out.value) touched[out.to] ??= k;
    }
    for (const id of step.ready || []) ready[id] ??= k;
    for (const id of step.freed || []) freed[id] ??= k;
    // a leaf shows its .grad, which is there once AccumulateGrad has fired
    if (step.accumulate) grads[step.node] = grads[`leaf:${step.node}`] = { at: k, array: step.accumulate.after };
  });
  const ofOutput = (grad, nr) => (grad && grad.each && typeof nr === "number" ? { ...grad, array: grad.each[nr] } : grad);
  const follow = {};
  for (const [id, node] of Object.entries(data.nodes)) {
    const of = node.grad_fn_id ?? node.function;
    if (!of) continue;
    follow[id] = of;
    grads[id] ??= node.kind === "leaf" || node.kind === "alias" ? grads[`leaf:${of}`] ?? grads[`leaf:${id}`] : ofOutput(grads[of], node.output);
  }
  for (const [id, edge] of Object.entries(data.edges))
    if (edge.kind === "store" && !edges[id] && fired[edge.from]) edges[id] = { at: fired[edge.from], array: null };
  const within = (at, k) => at && at[0] <= k && k <= at.at(-1);
  const nodeState = (id, k) => {
    const who = id in fired || !(id in follow) ? id : follow[id];
    const at = fired[who];
    const mirrored = who !== id;
    if (within(at, k)) return mirrored || !at.includes(k) ? "mgv-near" : "mgv-now";
    if (at && at.at(-1) < k) return freed[who] <= k && !mirrored ? "mgv-done mgv-freed" : "mgv-done";
    if (mirrored) return "";
    if (ready[id] <= k) return "mgv-ready";
    return touched[id] <= k ? "mgv-waiting" : "";
  };
  const edgeState = (id, k) => { const at = edges[id]?.at; return !at || k < at[0] ? "" : at.includes(k) ? "mgv-hot" : "mgv-done"; };
  return { fired, grads, edges, nodeState, edgeState, first: (id) => fired[id]?.[0], last: (id) => fired[id]?.at(-1) };
}

const ITEM = { float64: 8, int64: 8, float32: 4, int32: 4, float16: 2, bfloat16: 2, bool: 1 };

// Bytes that the saved tensors of each node keep until it fires.
function bytesOf(data) {
  const found = new Map();
  for (const step of data.steps) {
    const sum = (step.saved || []).reduce((total, { value }) => total + (value && value.shape ? value.shape.reduce((a, b) => a * b, 1) * (ITEM[value.dtype] || 4) : 0), 0);
    if (sum) found.set(step.node, sum);
  }
  return found;
}

const bytesText = (n) => (n < 1000 ? `${n} B` : n < 1e6 ? `${number(n / 1000)} kB` : `${number(n / 1e6)} MB`);

// ---------------------------------------------------------------- the pane

export function mount(el, data, options = {}) {
  const listeners = [];
  const state = { data, step: options.step || 0, options };
  const model = {
    get: (key) => state[key],
    set: (key, value) => {
      if (state[key] === value) return;
      state[key] = value;
      for (const [event, f] of listeners) if (event === `change:${key}`) f();
    },
    on: (event, f) => listeners.push([event, f]),
    off: (event, f) => listeners.splice(0, listeners.length, ...listeners.filter((pair) => pair[0] !== event || pair[1] !== f)),
    save_changes: () => {},
  };
  const pane = new Pane(model, el);
  return Object.assign(model, { settle: () => pane.settle() });
}

export function render({ model, el }) {
  const pane = new Pane(model, el);
  return () => pane.close();
}

class Pane {
  constructor(model, el) {
    Object.assign(this, { model, el, options: model.get("options") || {} });
    this.timer = null;
    this.zoom = null;
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.resize = new ResizeObserver((entries) => this.resized(entries));
    this.onStep = () => this.go(this.model.get("step"), true);
    this.onData = () => this.load();
    this.load();
    model.on("change:step", this.onStep);
    model.on("change:data", this.onData);
  }

  // Takes the payload of the model: at the start, and again when Python has computed another (viz.explore).
  load() {
    const model = this.model, atEnd = this.count !== undefined && this.shown === this.count;
    this.data = unpack(model.get("data"));
    // positions before `ahead` walk through the forward pass, from `ahead` on through the backward pass; k counts its steps
    this.forward = this.options.forward ? this.data.forward || [] : [];
    this.ahead = this.forward.length ? this.forward.length + 1 : 0;
    this.count = this.ahead + this.data.steps.length;
    this.questions = this.data.questions || {};
    this.asking = Boolean(this.options.ask) && !remembers();
    this.limit = 0; // the last step that has been revealed while asking
    this.posed = null; // the number of the step that is asked for
    this.time = timeline(this.data, this.asking);
    this.range = null;
    this.shown = null;
    this.width = 0;
    this.resize.disconnect();
    const inside = this.el.contains(document.activeElement);
    this.build();
    if (inside) this.frame.focus({ preventScroll: true });
    this.go(atEnd ? this.count : model.get("step"));
    this.settle();
    for (const part of [this.view, this.flow, this.side]) this.resize.observe(part);
  }

  close() {
    this.pause();
    this.resize.disconnect();
    this.model.off("change:step", this.onStep);
    this.model.off("change:data", this.onData);
  }

  // ---- building, once

  build() {
    const { el, data, options } = this;
    el.replaceChildren();
    el.classList.add("mgv");
    delete el.dataset.step;
    el.dataset.view = data.view || "graph";
    const button = (action, label, keys) =>
      h("button", { type: "button", class: "mgv-button", "data-action": action, "aria-label": label, title: label + (keys ? ` (${keys})` : ""), onclick: () => this.act(action) }, icon(action));
    this.playButton = button("play", "Play", "space");
    this.slider = h("input", { type: "range", min: 0, max: this.count, value: 0, class: "mgv-slider", "aria-label": "Step of the backward pass",
      oninput: (event) => { this.pause(); this.go(Number(event.target.value)); } });
    this.counter = h("output", { class: "mgv-count" });
    this.tools = this.buildTools();
    // In a notebook the row of ipywidgets plays and slides; the pane then keeps the single steps only.
    const whole = options.controls !== "steps";
    const buttons = h("span", { class: "mgv-buttons", role: "toolbar", "aria-label": "Steps" }, button("first", "To the start", "home"), button("back", "Back one step", "←"),
      whole ? this.playButton : null, button("next", "Forward one step", "→"), button("last", "To the end", "end"));
    this.bar = whole ? h("div", { class: "mgv-bar" }, buttons, this.slider, this.counter, this.tools) : null;
    this.sentence = h("p", { class: "mgv-sentence", role: "status", "aria-live": "polite", "aria-atomic": "true" });
    const label = options.label ? h("p", { class: "mgv-label-of" }, options.label) : null;
    this.head = h("div", { class: "mgv-head" }, whole ? null : buttons, this.sentence, whole ? null : this.tools);
    this.picture = this.buildPicture();
    for (const number of Object.keys(data.differs || {})) { const item = this.nodes.get(data.steps[number - 1].node); if (item) { item.base += Number(number) === (data.first ?? Number(number)) ? " mgv-bad" : " mgv-later"; item.group.setAttribute("class", item.base); } }
    this.view = h("div", { class: "mgv-view" }, this.picture);
    this.zoomer = h("span", { class: "mgv-zoom", role: "group", "aria-label": "Zoom" }, button("smaller", "Smaller"), button("fit", "Fit to the width"), button("larger", "Larger"));
    this.stage = h("div", { class: "mgv-stage" }, this.view, this.zoomer);
    this.flow = h("div", { class: "mgv-flow" });
    this.side = h("div", { class: "mgv-side" });
    this.tip = h("div", { class: "mgv-tip", role: "tooltip", hidden: true });
    this.overlayNote = h("p", { class: "mgv-note", hidden: true });
    const notes = (data.notes || []).map((note) => h("p", { class: "mgv-note" }, note));
    this.frame = h("div", { class: "mgv-frame", tabindex: 0, role: "group", "aria-label": `Backward pass of ${data.title || "a tensor"}. Arrow keys step, space plays, home and end jump.` },
      label, this.bar, this.head, h("div", { class: "mgv-body" }, this.stage, this.flow, this.side), h("div", { class: "mgv-notes" }, this.overlayNote, this.badNote(), notes), this.tip);
    el.append(this.frame);
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.picture.addEventListener("click", (event) => { const id = this.nodeAt(event); if (id) this.goToNode(id); });
    if (options.cut && this.model.send) this.offerCuts();
    this.picture.addEventListener("pointerover", (event) => { const id = event.pointerType === "touch" ? null : this.nodeAt(event); if (id) this.showTip(id, event); });
    this.picture.addEventListener("pointerout", () => this.hideTip());
  }

  buildPicture() {
    const svg = cleanSvg(this.data.svg);
    for (const name of ["width", "height"]) svg.removeAttribute(name);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `Graph of ${this.data.title || "a tensor"}: ${Object.keys(this.data.nodes).length} boxes`);
    svg.setAttribute("class", "mgv-svg");
    const root = svg.querySelector("g");
    const shift = /translate\(\s*(-?[\d.]+)[ ,]+(-?[\d.]+)/.exec((root && root.getAttribute("transform")) || "");
    this.shift = shift ? [Number(shift[1]), Number(shift[2])] : [0, 0];
    const background = root && root.querySelector(":scope > polygon");
    if (background) background.remove(); // the pane's own background shows
    this.nodes = new Map();
    this.edges = new Map();
    for (const group of svg.querySelectorAll("g[id]")) {
      const id = group.getAttribute("id");
      group.removeAttribute("id"); // several panes on one page must not share ids
      const known = id in this.data.nodes ? this.nodes : id in this.data.edges ? this.edges : null;
      if (!known) continue;
      group.dataset.id = id;
      known.set(id, { group, base: group.getAttribute("class") || "", state: "", grad: null, badge: null });
    }
    for (const [id, item] of this.nodes) {
      const node = this.data.nodes[id];
      item.bounds = node.at ? { x: node.at[0], y: node.at[1], width: node.at[2], height: node.at[3] } : null;
      for (const key of ["value", "tangent"]) if (node.box?.[key] && node[key]?.shape) item.group.append(paintBox(node[key], ...node.box[key]));
    }
    // when a node or an edge comes to be in the forward pass
    this.appears = new Map();
    this.forward.forEach((made, i) => made.nodes.forEach((id) => this.appears.set(id, i + 1)));
    for (const [id, edge] of Object.entries(this.data.edges)) this.appears.set(id, Math.max(this.appears.get(edge.from) || 0, this.appears.get(edge.to) || 0));
    const box = (svg.getAttribute("viewBox") || `0 0 ${this.data.width} ${this.data.height}`).split(/[ ,]+/).map(Number);
    this.size = [box[2], box[3]];
    return svg;
  }

  // In viz.explore a click on an edge cuts or joins it. Python does it; the list of edges above the picture does the same by keys.
  offerCuts() {
    for (const [id, name] of Object.entries(this.data["edge names"] || {})) {
      const group = this.edges.get(id)?.group, line = group?.querySelector(".line");
      if (!line) continue;
      const wide = s("path", { d: line.getAttribute("d"), class: "mgv-hit" });
      wide.append(s("title", {}, `${this.data.edges[id].kind === "cut" ? "Join" : "Cut"} ${name}`));
      wide.addEventListener("click", () => this.model.send({ edge: name }));
      group.append(wide);
    }
  }

  buildTools() {
    const { data } = this;
    const tools = [];
    if (this.options.ask) {
      this.askBox = h("input", { type: "checkbox", onchange: (event) => this.setAsking(event.target.checked) });
      this.askBox.checked = this.asking;
      tools.push(h("label", { class: "mgv-tool" }, this.askBox, "Ask me"));
    }
    const overlays = [["plain", "Plain"], ["size", "Gradient size"]];
    this.bytes = bytesOf(data);
    if (this.bytes.size) overlays.push(["memory", "Memory kept"]);
    if (this.count > 1) tools.push(h("label", { class: "mgv-tool" }, "Show", h("select", { onchange: (event) => this.setOverlay(event.target.value) }, overlays.map(([value, name]) => h("option", { value }, name)))));
    if (Object.keys(data.nodes).length > 14) {
      this.found = h("span", { class: "mgv-count", role: "status" });
      tools.push(h("label", { class: "mgv-tool" }, "Find", h("input", { type: "search", size: 12, spellcheck: "false", oninput: (event) => this.search(event.target.value),
        onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); this.nextFound(); } } })), this.found);
    }
    return h("span", { class: "mgv-tools" }, tools);
  }

  // ---- moving

  act(action) {
    if (["first", "back", "next", "last"].includes(action)) this.pause();
    if (action === "first") this.go(0);
    else if (action === "back") this.go(this.shown - 1);
    else if (action === "next") this.go(this.shown + 1);
    else if (action === "last") this.go(this.count);
    else if (action === "play") this.timer || this.model.get("playing") ? this.pause() : this.play();
    else if (action === "fit") this.fit(null);
    else if (action === "larger") this.fit(this.scale * 1.25);
    else if (action === "smaller") this.fit(this.scale / 1.25);
  }

  play() {
    if (this.options.controls === "steps") { // the widget above plays
      this.model.set("playing", true);
      return this.model.save_changes();
    }
    if (this.shown >= this.count) this.go(0);
    this.timer = setInterval(() => this.go(this.shown + 1), this.options.interval || 1200);
    this.playLook();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.playLook();
    // In a notebook a widget plays. It sets its next timer after it has told the step: stopped from within, it could not start again.
    if (this.model.get("playing")) queueMicrotask(() => { this.model.set("playing", false); this.model.save_changes(); });
  }

  playLook() {
    if (!this.playButton) return;
    const name = this.timer ? "Pause" : "Play";
    this.playButton.replaceChildren(icon(name.toLowerCase()));
    this.playButton.setAttribute("aria-label", name);
    this.playButton.title = `${name} (space)`;
  }

  // `told`: the step comes from the model, which may count further than this pass (two passes side by side).
  go(step, told = false) {
    const wanted = Math.max(0, Math.min(this.count, step || 0));
    const asked = this.firstAsked(wanted - this.ahead);
    const position = asked ? this.ahead + asked - 1 : wanted;
    if (this.asking) this.limit = Math.max(this.limit, position - this.ahead);
    if (asked) this.pause();
    if (this.model.get("step") !== position && (asked || !told)) {
      this.model.set("step", position);
      this.model.save_changes();
    }
    this.show(position);
    if (this.model.get("step") >= (this.options.last ?? this.count)) this.pause();
    if (asked !== this.posed) this.pose(asked);
  }

  firstAsked(k) {
    if (this.asking) for (let n = this.limit + 1; n <= k; n++) if (this.questions[n]) return n;
    return null;
  }

  goToNode(id) {
    if (this.posed && this.questions[this.posed].kind === "order") return this.answerOrder(id);
    const node = this.data.nodes[id];
    const at = this.time.fired[id] ?? this.time.fired[node.grad_fn_id ?? node.function];
    // a folded box: its next step, after the last its first
    if (at) { this.pause(); this.go(this.ahead + (at.find((k) => k > this.k) ?? at[0])); }
    else if (this.appears.has(id)) { this.pause(); this.go(this.appears.get(id)); }
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    const action = { ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last", " ": "play" }[event.key];
    if (event.key === "Escape") this.hideTip();
    if (!action || typing || (event.key === " " && event.target.tagName === "BUTTON")) return;
    this.act(action);
    event.preventDefault();
    event.stopPropagation();
  }

  // ---- showing step k

  show(step) {
    const at = Math.max(0, Math.min(this.count, step || 0)), k = at - this.ahead;
    if (at === this.shown) return;
    this.shown = at;
    this.k = k;
    const now = k > 0 ? this.data.steps[k - 1] : k < 0 ? this.forward[at - 1] : null;
    this.paint(k, at);
    this.slider.value = at;
    this.slider.setAttribute("aria-valuetext", `step ${at} of ${this.count}`);
    this.counter.textContent = `${at} / ${this.count}`;
    this.sentence.textContent = now ? now.sentence : k < 0 ? "Nothing is computed yet: these are the tensors that the program starts from." : this.data.start ? this.data.start.sentence : "";
    const differs = k > 0 && (this.data.differs || {})[k];
    if (differs) this.sentence.append(h("span", { class: "mgv-alarm" }, ` ≠ ${k === this.data.first ? "The first difference" : "Differs"}: ${differs}.`));
    const [flow, side] = k < 0 ? [this.forwardPanel(at), this.forwardSide(at)] : [this.flowPanel(k), this.sidePanel(k)], inside = this.frame.contains(document.activeElement);
    this.flow.replaceChildren(...flow.filter(Boolean));
    this.side.replaceChildren(...side.filter(Boolean));
    if (inside && !this.frame.contains(document.activeElement)) this.frame.focus({ preventScroll: true }); // what had the focus is gone
    this.el.dataset.step = at;
    this.posed = null;
    this.hideTip();
    this.followNow();
  }

  // ---- asking

  setAsking(yes) {
    remember(!yes);
    this.asking = yes;
    this.askBox.checked = yes;
    this.limit = Math.max(0, this.k);
    this.time = timeline(this.data, yes);
    const at = this.shown;
    this.shown = null;
    this.show(at);
  }

  // Shows the question before step n: what arrives and the rule are there, what comes out is asked.
  pose(n) {
    this.posed = n;
    if (!n) return this.flow.replaceChildren(...(this.k < 0 ? this.forwardPanel(this.shown) : this.flowPanel(this.k)).filter(Boolean)); // the question is withdrawn
    const question = this.questions[n], step = this.data.steps[n - 1];
    const card = this.questionCard(n, question);
    this.flow.replaceChildren(...(question.kind === "order" ? [card] : [this.receives(step, true), this.rule(step, true), card]));
    if (question.kind !== "order") this.followNow();
    this.sentence.textContent = `Before step ${n} of ${this.data.steps.length} shows: predict.`;
    if (this.frame.contains(document.activeElement) && document.activeElement.type !== "range") (card.querySelector("input, .mgv-chip") || card).focus({ preventScroll: true });
  }

  questionCard(n, question) {
    const feedback = h("p", { class: "mgv-feedback", role: "status", "aria-live": "polite" });
    this.feedback = feedback;
    const plain = (label, action) => h("button", { type: "button", class: "mgv-text-button", onclick: action }, label);
    const outs = h("p", { class: "mgv-outs" }, plain("Show this step", () => this.reveal(n, "shown")), plain("Just show me from now on", () => { this.note(n, null, "shown"); this.setAsking(false); this.go(this.ahead + n); this.frame.focus(); }));
    let form;
    if (question.kind === "order") {
      const chips = Object.keys(this.data.nodes).filter((id) => this.time.last(id) >= n).sort((a, b) => Number(a.slice(1)) - Number(b.slice(1))).slice(0, 12).map((id) => this.chip(id));
      form = h("div", { class: "mgv-choices" }, h("p", { class: "mgv-note" }, "Click it in the picture, or here:"), chips);
    } else if (question.kind === "shape") {
      form = h("div", { class: "mgv-choices" }, question.choices.map((choice) => h("button", { type: "button", class: "mgv-chip", onclick: () => {
        const right = String(choice.shape) === String(question.answer.shape);
        this.note(n, shapeText(choice.shape), right ? "right" : choice.cause);
        right ? this.reveal(n, "right") : (feedback.textContent = `Not yet. ${choice.says}`);
      } }, shapeText(choice.shape))));
    } else {
      const input = h("input", { type: "text", class: "mgv-answer", autocomplete: "off", spellcheck: "false", "aria-label": question.text, placeholder: "3 or [1, 2] or [[1], [2]]" });
      form = h("form", { class: "mgv-form", onsubmit: (event) => { event.preventDefault(); this.answer(n, question, input.value); } }, input, h("button", { type: "submit", class: "mgv-submit" }, "Check"));
    }
    return this.column("Predict", h("p", { class: "mgv-ask" }, question.text), form, feedback, outs);
  }

  answer(n, question, text) {
    const parsed = parseAnswer(text);
    if (!parsed) { this.feedback.textContent = "Write a number, as 3 or 1/3, or a list, as [1, 2] or [[1], [2]]."; return; }
    const { right, cause, says } = judge(parsed, question);
    this.note(n, text, right ? "right" : cause);
    if (right) this.reveal(n, "right");
    else this.feedback.textContent = `Not yet. ${says}`;
  }

  answerOrder(id) {
    const n = this.posed, question = this.questions[n];
    const node = this.data.nodes[id], who = id in this.time.fired ? id : node.grad_fn_id ?? node.function;
    const at = this.time.last(who);
    if (question.ready.includes(who)) {
      const more = who === question.next ? "" : ` It may fire. Of the ready ones the engine takes the newest first: ${this.nodeName(question.next)}.`;
      this.note(n, this.nodeName(who), "right");
      return this.reveal(n, "right", more);
    }
    const says = at < n ? `${this.nodeName(who)} has fired already. Firing it again would send its gradient twice.`
      : question.early[who] || (at ? `No gradient has reached ${this.nodeName(who)} yet.` : `${this.nodeName(id)} is not a node of the backward pass.`);
    this.note(n, this.nodeName(id), at < n ? "fires twice" : question.early[who] ? "early" : "nothing arrived");
    this.feedback.textContent = `Not yet. ${says}`;
  }

  reveal(n, how, more = "") {
    const inside = this.frame.contains(document.activeElement);
    if (how === "shown") this.note(n, null, how);
    this.limit = n;
    this.go(this.ahead + n);
    if (how === "right") this.sentence.textContent = `Correct.${more} ${this.data.steps[n - 1].sentence}`;
    if (inside) this.frame.focus({ preventScroll: true });
  }

  // What was answered, for whoever wants to know: Python reads it as stepper.answers.
  note(n, given, outcome) {
    this.model.set("answers", [...(this.model.get("answers") || []), { step: n, given, outcome }]);
    this.model.save_changes();
  }

  // ---- overlays and search

  setOverlay(name) {
    this.el.dataset.overlay = name;
    for (const [id, item] of this.edges) {
      const array = this.time.edges[id]?.array;
      const line = item.group.querySelector(".line");
      if (line) line.style.strokeWidth = name === "size" && array && array.shape ? `${this.width_of(array)}px` : "";
    }
    for (const [id, item] of this.nodes) {
      item.note?.remove();
      item.note = null;
      if (name !== "memory" || !this.bytes.has(id) || !item.bounds) continue;
      const { x, y, width, height } = item.bounds, text = bytesText(this.bytes.get(id)), w = 8 + 5.6 * text.length;
      item.note = s("g", { class: "mgv-bytes" });
      item.note.append(s("rect", { x: x + width - w, y: y + height - 8, width: w, height: 14, rx: 3 }), s("text", { x: x + width - w / 2, y: y + height + 2.5, "text-anchor": "middle" }, text));
      item.group.append(item.note);
    }
    this.legend(name);
  }

  // Edge width by the size of the gradient, on a logarithmic scale from the smallest to the largest of this pass.
  width_of(array) {
    this.range ||= (() => { const sizes = Object.values(this.time.edges).map((e) => e.array && e.array.shape && scaleOf(e.array)).filter(Boolean).map(Math.log10); return [Math.min(...sizes), Math.max(...sizes)]; })();
    const [low, high] = this.range;
    return (1 + 6 * (high > low ? (Math.log10(scaleOf(array)) - low) / (high - low) : 0.5)).toFixed(2);
  }

  legend(name) {
    const text = name === "size" && this.range ? `Width of an arrow: largest entry of its gradient, from ${number(10 ** this.range[0])} to ${number(10 ** this.range[1])}, logarithmic.`
      : name === "memory" ? `Saved tensors keep ${bytesText([...this.bytes.values()].reduce((a, b) => a + b, 0))} until the nodes fire.` : "";
    this.overlayNote.textContent = text;
    this.overlayNote.hidden = !text;
  }

  search(text) {
    const words = text.trim().toLowerCase();
    this.hits = [];
    for (const [id, item] of this.nodes) {
      const node = this.data.nodes[id];
      const hit = words && `${node.name || ""} ${node.label || ""} ${node.tooltip || ""}`.toLowerCase().includes(words);
      item.group.classList.toggle("mgv-found", Boolean(hit));
      if (hit) this.hits.push(id);
    }
    this.hit = -1;
    this.found.textContent = words ? `${this.hits.length} found` : "";
    if (this.hits.length) this.follow(this.hits[0]);
  }

  nextFound() {
    if (!this.hits || !this.hits.length) return;
    this.hit = (this.hit + 1) % this.hits.length;
    this.goToNode(this.hits[this.hit]);
    this.follow(this.hits[this.hit]);
  }

  paint(k, at) {
    const { time, data } = this;
    const made = k < 0 && at > 0 ? this.forward[at - 1].nodes : [];
    const hidden = this.asking && this.options.ask === "order" && k >= this.limit; // who is ready is what is asked
    for (const [id, item] of this.nodes) {
      let state = k >= 0 ? time.nodeState(id, k) : this.appears.get(id) > at ? "mgv-future" : made.includes(id) ? "mgv-made" : "";
      if (hidden && (state === "mgv-ready" || state === "mgv-waiting")) state = "";
      if (state !== item.state) {
        const found = item.group.classList.contains("mgv-found") ? " mgv-found" : "";
        item.group.setAttribute("class", `${item.base}${state && ` ${state}`}${found}`);
        item.state = state;
        this.number(id, item, k);
      }
      const box = data.nodes[id].box;
      if (!box || !box.grad) continue;
      const grad = time.grads[id];
      const want = grad && grad.at <= k ? grad.array : null;
      if (want !== item.grad) {
        if (item.cells) item.cells.remove();
        item.cells = want && want.shape ? paintBox(want, ...box.grad) : null;
        if (item.cells) item.group.append(item.cells);
        item.grad = want;
      }
    }
    const many = this.edges.size > 80;
    for (const [id, item] of this.edges) {
      const state = k >= 0 ? time.edgeState(id, k) : this.appears.get(id) > at ? "mgv-future" : "";
      if (state === item.state) continue;
      item.group.setAttribute("class", state ? `${item.base} ${state}` : item.base);
      item.state = state;
      this.label(id, item, k > 0 && state && !(many && state === "mgv-done"));
    }
  }

  // The order in which nodes fired, written on them: "done" is told by a number, not by colour alone.
  number(id, item, k) {
    const at = this.time.first(id), last = this.time.last(id);
    const want = at !== undefined && at <= k;
    if (want && !item.badge && item.bounds) {
      const { x, y, width, height } = item.bounds;
      const check = this.data.steps[at - 1].check; // its gradient against a finite difference: a tick, or an exclamation mark
      const text = (last > at ? `${at}–${last}` : String(at)) + ((this.data.differs || {})[at] ? "≠" : "") + (check && !check.ok ? "!" : ""), mark = check && check.ok ? 9 : 0, w = 8 + 5.5 * text.length + mark;
      const diamond = /\baccumulate\b/.test(item.base), round = /\bfunction\b/.test(item.base) && this.data.view === "graph";
      const [dx, dy] = diamond ? [0.24, 0.2] : round ? [0.12, 0.1] : [0.01, 0.02];
      const cx = x + width * dx, cy = y + height * dy;
      item.badge = s("g", { class: check && !check.ok ? "mgv-order wrong" : "mgv-order" });
      item.badge.append(s("rect", { x: cx - w / 2, y: cy - 7, width: w, height: 14, rx: 7 }), s("text", { x: cx - mark / 2, y: cy + 3.2, "text-anchor": "middle" }, text));
      if (mark) item.badge.append(s("path", { d: `M${cx + w / 2 - 11} ${cy + 0.4}l2.2 2.4l4 -5` }), s("title", {}, check.text));
      item.group.append(item.badge);
    } else if (!want && item.badge) {
      item.badge.remove();
      item.badge = null;
    }
  }

  label(id, item, want) {
    item.group.classList.toggle("mgv-told", Boolean(want && this.time.edges[id].array)); // the number takes the word's place
    if (item.label) { item.label.style.display = want ? "" : "none"; return; }
    const array = this.time.edges[id] && this.time.edges[id].array;
    if (!want || !array || !array.shape) return;
    const at = this.data.edges[id].label_box;
    const middle = at ? [at[0] + at[2] / 2, at[1] + at[3] / 2] : middleOf(item.group);
    if (!middle) return;
    item.label = s("g", { class: "mgv-label" });
    if (array.values && array.values.length === 1) {
      const text = number(array.values[0]), w = 8 + 5.6 * text.length;
      item.label.append(s("rect", { x: middle[0] - w / 2, y: middle[1] - 7.5, width: w, height: 15, rx: 4, class: "plate" }), s("text", { x: middle[0], y: middle[1] + 3.3, "text-anchor": "middle" }, text));
    } else {
      const { rows, cols } = grid(array);
      if (!rows || !cols) return;
      const side = Math.max(2.5, Math.min(7, 28 / Math.max(rows, cols))), w = cols * side, t = rows * side;
      item.label.append(s("rect", { x: middle[0] - w / 2 - 2.5, y: middle[1] - t / 2 - 2.5, width: w + 5, height: t + 5, rx: 2.5, class: "plate" }), paintCells(array, middle[0] - w / 2, middle[1] - t / 2, w, t, 0.5));
    }
    item.group.append(item.label);
  }

  // The first number that is not finite, backward in the order of the steps: where it comes from, not where it ends.
  badNote() {
    const bad = (a) => a && a.nonfinite > 0;
    const value = Object.entries(this.data.nodes).filter(([, node]) => bad(node.value)).map(([id]) => id);
    for (const id of value) this.nodes.get(id)?.group.classList.add("mgv-bad");
    for (const id of value) if (this.nodes.has(id)) this.nodes.get(id).base += " mgv-bad";
    const step = this.data.steps.find((step) => bad(step.total) || (step.outgoing || []).some((out) => bad(out.value)));
    for (const [id, edge] of Object.entries(this.time.edges)) if (bad(edge.array) && this.edges.has(id)) this.edges.get(id).base += " mgv-bad";
    if (!step) return null;
    return h("p", { class: "mgv-alarm" }, "NaN or Inf: the first gradient that is not finite comes out of ", this.chip(step.node));
  }

  // ---- the panels

  nodeName(id) {
    const node = this.data.nodes[id];
    if (!node) return String(id);
    return this.stores(node) ? `${node.name}.grad` : node.name || node.label;
  }

  stores(node) { return Boolean(node.name) && (node.kind === "accumulate" || (node.kind === "leaf" && typeof node.step === "number")); }

  chip(id, note) {
    const node = this.data.nodes[id] || { kind: "none", label: String(id) };
    const short = String(node.label).split("\n")[0].replace(/^torch::autograd::/, "");
    return h("button", { type: "button", class: `mgv-chip ${node.kind}`, title: `Go to ${short}`, onclick: () => this.goToNode(id) },
      node.name ? [h("b", {}, this.nodeName(id)), " "] : null, this.stores(node) || short === node.name ? null : h("span", {}, short), note ? h("i", {}, note) : null);
  }

  flowPanel(k) {
    if (k === 0) {
      const seed = this.data.start && this.data.start.seed;
      return seed ? [this.column("Seed", h("p", { class: "mgv-note" }, this.data.of === "L" ? `What arrives at ${this.data.title}: the gradient of what follows. The pass starts with it.` : `The gradient of ${this.data.title} with respect to itself. The pass starts with it.`), arrayView(seed))] : [];
    }
    const step = this.data.steps[k - 1];
    return [this.receives(step), this.rule(step), this.sends(step)];
  }

  // ---- the forward pass: what is computed, and what is kept for the way back

  forwardPanel(at) {
    if (at === 0) return [this.column("Forward", h("p", { class: "mgv-note" }, "Each step runs one operation, makes its result and adds one node to the graph."))];
    const made = this.forward[at - 1];
    const back = this.data.steps.find((step) => step.node === made.node);
    const saved = back ? (back.saved || []).map((item) => h("div", { class: "mgv-part" }, h("span", { class: "mgv-who" }, h("code", {}, item.name), item.label ? ` = ${item.label}` : ""), arrayView(item.value))) : [];
    return [
      this.column("Computes", h("p", { class: "mgv-name" }, h("code", {}, made.operation ? `${made.name} = ${made.operation}` : made.name)), made.value ? arrayView(made.value) : null),
      this.column("Adds to the graph", this.chip(made.node)),
      this.column("Keeps for the way back", saved.length ? saved : h("span", { class: "mgv-none" }, "nothing")),
    ];
  }

  forwardSide(at) {
    return [this.sourceAt(at ? this.forward[at - 1].line : null)];
  }

  column(title, ...children) {
    return h("section", { class: `mgv-col mgv-col-${title.toLowerCase().replace(/[^a-z]/g, "")}` }, h("h4", {}, title), ...children);
  }

  receives(step, asked) {
    const parts = step.incoming || [];
    const rows = parts.map((part, i) => h("div", { class: "mgv-part" },
      parts.length > 1 ? h("span", { class: "mgv-op" }, i ? "+" : "") : null,
      h("span", { class: "mgv-who" }, part.from ? ["from ", this.nodeName(part.from)] : "seed"), arrayView(part.value)));
    if (asked) rows.push(parts.length > 1 ? h("div", { class: "mgv-part mgv-total" }, h("span", { class: "mgv-op" }, "="), h("span", { class: "mgv-who" }, "?")) : "");
    else if (step.totals) step.totals.forEach((total, nr) => rows.push(h("div", { class: "mgv-part mgv-total" }, h("span", { class: "mgv-op" }, "="), h("span", { class: "mgv-who" }, `total of output ${nr}`), arrayView(total))));
    else if (parts.length > 1 || !parts.length || step.wrong) rows.push(h("div", { class: "mgv-part mgv-total" }, h("span", { class: "mgv-op" }, step.wrong ? "≠" : "="), h("span", { class: "mgv-who" }, step.wrong ? "arrived" : "total"), arrayView(step.total)));
    if (step.wrong) rows.push(h("p", { class: "mgv-note" }, `${step.wrong}.`));
    return this.column("Receives", rows);
  }

  rule(step, asked) {
    const name = h("p", { class: "mgv-name" }, h("code", {}, step.name), step.tensor ? [" of ", h("b", {}, step.tensor)] : null);
    const accumulate = step.accumulate;
    const rules = accumulate
      ? h("p", { class: "mgv-rule" }, h("code", {}, `${accumulate.leaf}.grad ${accumulate.before ? "+=" : "="} grad`))
      : (step.rules || []).map((rule) => h("div", { class: "mgv-rule" },
        h("span", { class: "mgv-input" }, rule.input), rule.math ? h("span", { class: "mgv-math" }, rule.math) : null, rule.code ? h("code", {}, rule.code) : null));
    const saved = (step.saved || []).map((item) => h("div", { class: "mgv-part" },
      h("span", { class: "mgv-who" }, h("code", {}, item.name), item.label ? ` = ${item.label}` : ""), arrayView(item.value)));
    return this.column("Rule", name, rules, saved.length ? [h("h5", {}, "Saved tensors that it reads"), saved] : null, asked ? null : this.check(step.check));
  }

  check(check) {
    if (!check) return null;
    return h("p", { class: `mgv-check ${check.ok ? "ok" : "wrong"}` }, h("b", {}, check.ok ? "checked" : "check failed"), " ", check.text);
  }

  sends(step) {
    const accumulate = step.accumulate;
    if (accumulate) {
      const line = (op, who, value, extra) => h("div", { class: `mgv-part ${extra || ""}` }, h("span", { class: "mgv-op" }, op), h("span", { class: "mgv-who" }, who), arrayView(value));
      return this.column("Adds to .grad", line("", "before", accumulate.before), line("+", "this pass", accumulate.contribution), line(accumulate.wrong ? "≠" : "=", `${accumulate.leaf}.grad`, accumulate.after, "mgv-total"),
        accumulate.wrong ? h("p", { class: "mgv-note" }, `${accumulate.wrong}.`) : null);
    }
    const rows = (step.outgoing || []).map((out) => h("div", { class: "mgv-part" },
      h("span", { class: "mgv-who" }, out.to ? ["to ", this.nodeName(out.to)] : h("code", {}, out.input)),
      out.value ? arrayView(out.value) : h("span", { class: "mgv-not" }, out.reason || "not computed"),
      out.reduced ? h("span", { class: "mgv-reduced" }, out.reduced) : null));
    return this.column("Sends", rows);
  }

  sidePanel(k) {
    return [this.leaves(k), this.queue(k), this.source(k)].filter(Boolean);
  }

  leaves(k) {
    const rows = (this.data.leaves || []).map((leaf) => {
      let value = leaf.before, changed = false;
      for (let i = 0; i < k; i++) {
        const a = this.data.steps[i].accumulate;
        if (a && (a.node === leaf.node || a.leaf === leaf.name)) { value = a.after; changed = i === k - 1; }
      }
      return h("div", { class: `mgv-part ${changed ? "mgv-changed" : ""}`, "data-leaf": leaf.name }, h("span", { class: "mgv-who" }, h("b", {}, `${leaf.name}.grad`)), arrayView(value));
    });
    return rows.length ? this.column(".grad so far", h("div", { class: "mgv-scroll" }, rows)) : null;
  }

  queue(k) {
    if (this.asking && this.options.ask === "order" && k >= this.limit && this.questions[k + 1]) return this.column("Queue", h("p", { class: "mgv-note" }, "It shows after your answer."));
    const step = k ? this.data.steps[k - 1] : { ready: this.data.steps.length ? [this.data.steps[0].node] : [], waiting: [] };
    const total = this.data.steps.length, next = k < total ? this.data.steps[k].node : null;
    const names = (ids) => { const all = [...new Set(ids.map((id) => this.nodeName(id)))]; return all.slice(0, 4).join(", ") + (all.length > 4 ? " …" : ""); };
    const ready = [...new Set(step.ready || [])].map((id) => this.chip(id, id === next ? "next" : null));
    const waiting = (step.waiting || []).map((w) => h("li", {}, this.chip(w.node), h("span", {}, ` has ${w.got} of ${w.needs}`),
      w.for && w.for.length ? h("span", {}, `, waits for ${names(w.for)}`) : null));
    return this.column("Queue", h("p", { class: "mgv-ready-list" }, h("span", { class: "mgv-who" }, "ready"), ready.length ? ready : h("span", { class: "mgv-none" }, k < total ? "none" : "empty: the pass is done")),
      waiting.length ? h("ul", { class: "mgv-waits" }, waiting) : null);
  }

  source(k) { return this.sourceAt(k ? this.data.steps[k - 1].line : null); }

  sourceAt(lit) {
    const source = this.data.source;
    if (!source || !source.lines.length) return null;
    const lines = source.lines.map((text, i) => h("span", { class: `mgv-line ${i === lit ? "mgv-lit" : ""}`, "aria-current": i === lit ? "step" : null, onclick: () => this.goToLine(i) },
      h("i", { "aria-hidden": "true" }, i === lit ? "▸" : String((source.first || 1) + i)), h("code", {}, text || " ")));
    return this.column("Source", h("pre", { class: "mgv-source", "aria-label": source.file || "source" }, lines));
  }

  goToLine(line) {
    const i = this.data.steps.findIndex((step) => step.line === line);
    const j = this.k < 0 ? this.forward.findIndex((made) => made.line === line) : -1;
    if (j >= 0) { this.pause(); this.go(j + 1); }
    else if (i >= 0) { this.pause(); this.go(this.ahead + i + 1); }
  }

  // ---- looking

  nodeAt(event) {
    const group = event.target.closest && event.target.closest("g[data-id]");
    return group && this.nodes.has(group.dataset.id) ? group.dataset.id : null;
  }

  showTip(id, event) {
    const node = this.data.nodes[id], grad = this.time.grads[id];
    const known = grad && grad.at <= this.k ? grad.array : null;
    this.tip.replaceChildren(
      h("p", {}, h("b", {}, node.name || node.label), node.name && node.label !== node.name ? ` ${String(node.label).replace("torch::autograd::", "")}` : ""),
      node.tooltip ? h("p", { class: "mgv-note" }, node.tooltip) : "",
      node.value ? h("div", { class: "mgv-part" }, h("span", { class: "mgv-who" }, "value"), arrayView(node.value)) : "",
      node.tangent ? h("div", { class: "mgv-part" }, h("span", { class: "mgv-who" }, "tangent"), arrayView(node.tangent)) : "",
      known ? h("div", { class: "mgv-part" }, h("span", { class: "mgv-who" }, "grad"), arrayView(known)) : "");
    this.tip.hidden = false;
    const frame = this.frame.getBoundingClientRect();
    const x = Math.min(event.clientX - frame.left + 14, frame.width - this.tip.offsetWidth - 8);
    this.tip.style.left = `${Math.max(4, x)}px`;
    this.tip.style.top = `${event.clientY - frame.top + 16}px`;
  }

  hideTip() { this.tip.hidden = true; }

  // The panels keep the height of the tallest step so far: what is below must not jump while one steps.
  resized(entries) {
    if (this.view.offsetWidth !== this.width) return this.settle();
    for (const { target, borderBoxSize } of entries)
      if (target !== this.view && borderBoxSize[0].blockSize > (parseFloat(target.style.minHeight) || 0)) target.style.minHeight = `${Math.ceil(borderBoxSize[0].blockSize)}px`;
  }

  // Takes the room that there is, in one go: what was measured in another width is forgotten. Ready is what has its place.
  settle() {
    if (!this.view.offsetWidth || this.view.offsetWidth === this.width) return; // not on the page yet, or nothing new
    const panels = [this.flow, this.side];
    for (const panel of panels) panel.style.minHeight = "";
    this.fit();
    for (const panel of panels) panel.style.minHeight = `${Math.ceil(panel.getBoundingClientRect().height)}px`;
    this.width = this.view.offsetWidth;
    this.el.closest(".widget-vbox")?.addEventListener("focusin", keepKeys); // the sliders above the pane
    this.el.dataset.ready = "true";
  }

  // Natural size, or smaller where that makes it fit and it can still be read; else the view scrolls.
  fit(zoom) {
    if (zoom !== undefined) this.zoom = zoom;
    // a picture that needs little more than half of the width stands beside the panels
    const wide = this.frame.clientWidth;
    this.el.classList.toggle("mgv-beside", wide >= 880 && this.size[0] * 0.85 <= wide * 0.56 && this.size[1] >= 200);
    const room = this.view.clientWidth - 8;
    if (room <= 0) return;
    const across = room / this.size[0], fitted = Math.min(across, (parseFloat(getComputedStyle(this.view).maxHeight) - 22) / this.size[1]);
    this.scale = this.zoom ? Math.max(0.1, Math.min(4, this.zoom)) : zoom === null ? Math.min(1.34, across) : Math.min(1.34, fitted >= 0.72 ? fitted : Math.min(0.85, across >= 0.72 ? across : 1));
    if (zoom === null) this.zoom = null;
    this.picture.style.width = `${this.size[0] * this.scale}px`;
    this.picture.style.height = `${this.size[1] * this.scale}px`;
    this.zoomer.classList.toggle("mgv-loose", fitted >= 0.72 && this.zoom === null);
    this.followNow();
  }

  followNow() {
    const { steps } = this.data, made = this.forward[Math.max(0, this.shown - 1)];
    const now = this.posed ? steps[this.posed - 1] : this.k > 0 ? steps[this.k - 1] : this.k < 0 ? made : steps[0];
    if (now) this.follow(now.node);
  }

  // Keeps the active node in sight when the picture is larger than its view. No layout is read but the scroll position.
  follow(id) {
    const item = this.nodes.get(id);
    if (!item || !item.bounds || !this.scale) return;
    const { x, y, width, height } = item.bounds;
    const left = (x + this.shift[0]) * this.scale, top = (y + this.shift[1]) * this.scale;
    const view = this.view, w = width * this.scale, t = height * this.scale;
    const dx = left < view.scrollLeft + 20 || left + w > view.scrollLeft + view.clientWidth - 20;
    const dy = top < view.scrollTop + 10 || top + t > view.scrollTop + view.clientHeight - 10;
    if (!dx && !dy) return;
    view.scrollTo({ left: dx ? left + w / 2 - view.clientWidth / 2 : view.scrollLeft, top: dy ? top + t / 2 - view.clientHeight / 2 : view.scrollTop,
      behavior: this.calm.matches || this.timer === null ? "auto" : "smooth" });
  }
}

export default { render };
