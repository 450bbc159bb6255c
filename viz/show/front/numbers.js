// Numbers and arrays: how they are written, and how they are painted as cells.

import { h, s } from "./elements.js";

// Four significant digits: enough for a learner to compare, few enough to fit a cell. ASCII minus, so it can be pasted.
export function number(x) {
  if (typeof x !== "number") return String(x);
  const size = Math.abs(x);
  if (x === 0) return "0";
  if (Number.isInteger(x) && size < 1e6) return String(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(x.toPrecision(4)));
}

// The numbers of one array with the same number of decimals, so that they line up.
export function numbers(values, most = 4) {
  const sizes = values.filter((x) => typeof x === "number" && x !== 0).map(Math.abs);
  if (!sizes.length || Math.max(...sizes) >= 1e5 || Math.max(...sizes) < 1e-3) return values.map(number);
  const decimals = Math.max(0, ...values.map((x) => (typeof x === "number" ? (String(Number(x.toFixed(most))).split(".")[1] || "").length : 0)));
  return values.map((x) => (typeof x === "number" ? x.toFixed(decimals) : x));
}

// The numbers of a small array, if they fit into so many pixels: with four decimals, else with two, else null.
export function fitting(values, cols, room) {
  if (values.length === 1) return values.map(number);
  for (const most of [4, 2]) {
    const texts = numbers(values, most);
    if (cols * (Math.max(...texts.map((text) => text.length)) * 7.3 + 13) <= room && (most > 2 || values.every((x, i) => !(Number(texts[i]) === 0 && x)))) return texts;
  }
  return null;
}

export function shapeText(shape) {
  if (!shape) return "";
  return shape.length === 0 ? "scalar" : `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
}

export const finite = (x) => (typeof x === "number" ? Math.abs(x) : 0);
export const scaleOf = (a) => Math.max(finite(a.min), finite(a.max)) || 1;

const SIDE = 8;
const parts = (n) => { // 0 ... n in at most SIDE parts of about equal length
  const count = Math.min(SIDE, n), long = n % count, size = Math.floor(n / count), starts = [0];
  for (let i = 0; i < count; i++) starts.push(starts[i] + size + (i < long ? 1 : 0));
  return starts;
};

// At most 8 x 8 cells for an array of any shape: leading axes are stacked, and if there are still too many entries, a cell
// represents a block by its entry of largest magnitude. Computed once.
export function grid(a) {
  if (a.cells && (a.cells.values || !a.values)) return a.cells;
  const known = shaped.get(a);
  if (known) return known;
  const cols = a.shape.length ? a.shape[a.shape.length - 1] : 1, values = a.values || [], rows = cols ? values.length / cols : 0;
  let made = { rows, cols, values, downsampled: false };
  if (rows > SIDE || cols > SIDE) {
    const down = parts(rows), across = parts(cols), small = [];
    for (let i = 1; i < down.length; i++) for (let j = 1; j < across.length; j++) {
      let most = values[down[i - 1] * cols + across[j - 1]];
      for (let r = down[i - 1]; r < down[i]; r++) for (let c = across[j - 1]; c < across[j]; c++) { const x = values[r * cols + c]; if (typeof x !== "number" || Math.abs(x) > Math.abs(most)) most = x; }
      small.push(most);
    }
    made = { rows: down.length - 1, cols: across.length - 1, values: small, downsampled: true };
  }
  shaped.set(a, made);
  return made;
}
const shaped = new WeakMap();

// A cell's class is its sign; its opacity is its size. The minus mark repeats the sign, without colour.
export function cellLook(x, scale) {
  if (typeof x !== "number") return ["bad", 1];
  const size = Math.min(1, Math.abs(x) / scale) ** 0.7;
  return [x < 0 ? "minus" : x > 0 ? "plus" : "zero", size];
}

// Paints an array into a box of the given size, the same way in the graph and in the panels. With `texts`, the numbers are
// written on their cells, which are then paler.
export function paintCells(a, x, y, width, height, gap = 0.8, texts = null, font = 0) {
  const { rows, cols, values } = grid(a);
  const g = s("g", { class: texts ? "mgv-cells mgv-written" : "mgv-cells" });
  if (!rows || !cols) return g;
  const w = width / cols, t = height / rows, scale = scaleOf(a), [least, most] = texts ? [0.06, 0.24] : [0.12, 0.88];
  let marks = "", crosses = "";
  values.forEach((value, i) => {
    const cx = x + (i % cols) * w, cy = y + Math.floor(i / cols) * t;
    const [sign, size] = cellLook(value, scale);
    const rect = s("rect", { x: cx + gap / 2, y: cy + gap / 2, width: Math.max(0.5, w - gap), height: Math.max(0.5, t - gap), class: sign });
    if (texts || sign === "plus" || sign === "minus") rect.setAttribute("fill-opacity", sign === "bad" ? 0.15 : (least + most * size).toFixed(3));
    g.append(rect);
    if (texts) g.append(s("text", { x: cx + w / 2, y: cy + t / 2 + font * 0.36, "text-anchor": "middle", "font-size": font }, texts[i]));
    else if (sign === "minus") marks += `M${cx + w * 0.3} ${cy + t / 2}h${w * 0.4}`;
    else if (sign === "bad") crosses += `M${cx + w * 0.3} ${cy + t * 0.3}l${w * 0.4} ${t * 0.4}m0 ${-t * 0.4}l${-w * 0.4} ${t * 0.4}`;
  });
  if (marks) g.append(s("path", { d: marks, class: "sign" }));
  if (crosses) g.append(s("path", { d: crosses, class: "cross" }));
  return g;
}

// Paints the box of an array: the numbers are written if they fit in letters of size `least`, otherwise cells are painted.
export function paintBox(a, x, y, width, height, least) {
  const { rows, cols } = grid(a), w = width / cols, t = height / rows, few = a.values?.length && a.values.length <= 12 && rows * cols === a.values.length;
  let font;
  const texts = few ? [3, 2].map((digits) => a.values.map((value) => (value.toPrecision ? number(Number(value.toPrecision(digits))) : value)))
    .find((all) => (font = Math.floor(10 * Math.min(11, t - 2, (w - 3) / (0.58 * Math.max(...all.map((text) => text.length))))) / 10) >= least) : null;
  return texts ? paintCells(a, x, y, width, height, 1, texts, font) : paintCells(a, x, y, width, height); // no number is written too small to be read
}

export function arrayText(a) {
  if (a === null || a === undefined) return "None";
  if (!a.shape) return a.text || "";
  if (a.values && a.values.length === 1) return number(a.values[0]) + (a.shape.length ? ` ${shapeText(a.shape)}` : "");
  if (a.values && a.values.length <= 16) return `${shapeText(a.shape)}: ${a.values.map(number).join(", ")}`;
  return `${shapeText(a.shape)}, from ${number(a.min)} to ${number(a.max)}`;
}

// An array as cells of at most `side` pixels, `most` for its longer side.
function heatMap(a, side, most) {
  const { rows, cols } = grid(a), size = Math.min(side, most / Math.max(rows, cols, 1)), [width, height] = [cols * size, rows * size];
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `heat map ${arrayText(a)}` });
  svg.append(paintCells(a, 0, 0, width, height, size > 4 ? 0.9 : 0.3));
  return svg;
}

// Small arrays as numbers, larger ones as a heat map with shape, range and scale. `room`: how many pixels it may take in a
// line; by default the width of a panel's column. `most`: how many pixels its cells may take, without numbers.
export function arrayView(a, room = null, most = null) {
  if (a === null || a === undefined) return h("span.none", "None");
  if (!a.shape) return h("code.plain", a.text || "");
  const { rows, cols } = grid(a), count = a.values?.length, shape = h("span.shape", shapeText(a.shape));
  const title = [a.parts ? shapeText(a.shape) : arrayText(a), a.dtype, a.nonfinite ? `${a.nonfinite} not finite` : null].filter(Boolean).join(", ");
  const array = (kind, ...inside) => h(`span.array${kind}`, { title, "data-values": a.values ? JSON.stringify(a.values) : null, "data-shape": JSON.stringify(a.shape) }, inside);
  if (a.parts) return array(".complex", a.parts.map((part, i) => h("span.part", h("span.subject", ["real", "imaginary"][i]), arrayView(part))));
  if (count === 0) return array("", h("span.none", "empty"), shape);
  const texts = (most === null || count === 1) && cols <= 6 && rows <= 6 && count <= 20 && rows * cols === count ? fitting(a.values, cols, room ?? 230) : null;
  if (texts) {
    const scale = scaleOf(a);
    const cells = a.values.map((value, i) => {
      const [sign, size] = cellLook(value, scale);
      return h("span", { class: `mgv-num ${sign}`, style: `--size:${size.toFixed(2)}` }, texts[i]);
    });
    return array("", h("span", { class: a.shape.length ? "mgv-matrix" : "mgv-scalar", style: `--cols:${cols}` }, cells), room === null || a.shape.length % 2 ? shape : null);
  }
  if (room !== null) return array("", heatMap(a, 10, most ?? Math.min(room, 56)), shape);
  return array(".heat", heatMap(a, 12, 72),
    h("span.caption", shape, a.cells?.downsampled ? h("span", `in ${rows}×${cols}`) : null,
      h("span", `${number(a.min)} … ${number(a.max)}`),
      h("span.scale", { title: "blue with a minus mark is negative, orange is positive" }, h("i", { "aria-hidden": "true" }), `±${number(scaleOf(a))}`),
      a.nonfinite ? h("span.alarm", `${a.nonfinite} not finite`) : null));
}
