// Colours and marks: the palette for sizes, the colours of changes, marks that need no colour, the theme.

const RAMP = ["#fffde0", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494", "#081d58"];
const RAMP_DARK = ["#141d2b", "#1c2f5c", "#22509a", "#1d7dbb", "#35a9c2", "#74c9bb", "#bfe6b5", "#eaf7b4", "#fffde0"];
const NAMES = ["bg", "raised", "ink", "mute", "rule", "fn", "fn-line", "leaf", "leaf-line", "alarm", "now", "now-soft", "steady", "down-2", "down-1", "up-1", "up-2", "faint"];

const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

// The colours of the theme of `el`; `ramp(t)` takes 0 … 1.
export function coloursOf(el) {
  const probe = document.createElement("span"), colours = {};
  probe.style.forcedColorAdjust = "none"; // forced colours must not replace the colours of changes
  el.append(probe);
  for (const name of NAMES) { probe.style.color = `var(--${name})`; colours[name] = getComputedStyle(probe).color; }
  probe.remove();
  const [r, g, b] = colours.bg.match(/[\d.]+/g).map(Number), dark = r + g + b < 380;
  const stops = (dark ? RAMP_DARK : RAMP).map(channels), table = Array.from({ length: 256 }, (_, n) => {
    const x = (n / 255) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(x));
    return `rgb(${stops[k].map((c, j) => Math.round(c + (stops[k + 1][j] - c) * (x - k)))})`;
  });
  return { ...colours, dark, ramp: (t) => table[Math.round(Math.max(0, Math.min(1, t)) * 255)] };
}

// A mark for each family of findings, in a square of 13, and the kinds it covers: shape repeats what colour says.
const MARKS = [
  ["M2.8 1L6.5 4.7 10.2 1 12 2.8 8.3 6.5 12 10.2 10.2 12 6.5 8.3 2.8 12 1 10.2 4.7 6.5 1 2.8z", "alarm", "nan"],
  ["M6.5 1L12 11.5H1z", "up-2", "explode grew rising runaway"],
  ["M1 2h11L6.5 12z", "down-2", "vanish still saturated zero small shrinks"],
  ["M6.5 1.2a5.3 5.3 0 1 0 .01 0zM6.5 3a3.5 3.5 0 1 1-.01 0z", "mute", "missing dead flat frozen eval"],
  ["M1.2 6.8l1.6-1.6 2.5 2.5 5-5.2 1.6 1.6-6.6 6.8z", "leaf-line", "fine"],
  ["M6.5 .6l5.9 5.9-5.9 5.9L.6 6.5z", "now", ""], // all others: something in the training itself
];
export const markOf = (kind) => MARKS.find(([, , kinds]) => kinds.split(" ").includes(kind)) ?? MARKS.at(-1);

// The colour of a change from the previous frame, in five steps: steady is ± 10 %, the extremes are half and double.
export function changeOf(d) {
  return !Number.isFinite(d) || Math.abs(d) < 0.0414 ? "steady" : d > 0.301 ? "up-2" : d > 0 ? "up-1" : d < -0.301 ? "down-2" : "down-1";
}

// A canvas as large as its box, sharp on every screen. Returns its context, in CSS pixels.
export function sized(canvas, width, height) {
  const s = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * s);
  canvas.height = Math.round(height * s);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const c = canvas.getContext("2d");
  c.setTransform(s, 0, 0, s, 0, 0);
  return c;
}

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';
export const READ = 11; // px: all text; TICK: the numbers on an axis
export const TICK = 10;

const fontOf = ({ size = READ, weight = 400, mono = false }) => `${weight} ${size}px ${mono ? MONO : SANS}`;

// Words on a canvas, centred at height y. `within`: the width they may take.
export function write(c, text, x, y, colour, look = {}) {
  c.fillStyle = colour;
  c.font = fontOf(look);
  c.textAlign = look.align ?? "left";
  c.textBaseline = "middle";
  c.fillText(look.within ? cut(c, text, look.within) : text, x, y);
}

export function widthOf(c, text) {
  c.font = fontOf({});
  return c.measureText(text).width;
}

function along(c, points) {
  c.beginPath();
  points.forEach(([x, y], i) => c[i ? "lineTo" : "moveTo"](x, y));
}

// A line through some points; and the area that some points enclose.
export function line(c, colour, width, points) {
  c.strokeStyle = colour;
  c.lineWidth = width;
  along(c, points);
  c.stroke();
}

export function shape(c, colour, points) {
  c.fillStyle = colour;
  along(c, points);
  c.fill();
}

// Text cut to a width (a dotted name loses its beginning); measured once.
const cuts = new Map();
function cut(c, text, width) {
  const key = `${c.font}|${Math.round(width)}|${text}`;
  if (cuts.has(key)) return cuts.get(key);
  let out = text;
  const start = /\w\.\w/.test(text);
  if (c.measureText(text).width > width) while (out.length > 1 && c.measureText(start ? `…${out}` : `${out}…`).width > width) out = start ? out.slice(1) : out.slice(0, -1);
  out = out === text ? text : start ? `…${out}` : `${out}…`;
  if (cuts.size > 5000) cuts.clear();
  cuts.set(key, out);
  return out;
}
