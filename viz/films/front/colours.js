// What is painted: two palettes with two meanings (size; change), the marks that say the same without colour, the theme.

const RAMP = ["#fffde0", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494", "#081d58"];
const RAMP_DARK = ["#141d2b", "#1c2f5c", "#22509a", "#1d7dbb", "#35a9c2", "#74c9bb", "#bfe6b5", "#eaf7b4", "#fffde0"];
const APART = ["#08395c", "#0072b2", "#8fc1e3", "#eef1f4", "#f3b488", "#d55e00", "#6e2a00"]; // against the top row: as large as it is neutral
const APART_DARK = ["#b5defc", "#4aa8e8", "#1f5a85", "#262d35", "#8a4a1c", "#f5893b", "#ffd9b8"];
const NAMES = ["bg", "raised", "ink", "mute", "rule", "fn", "fn-line", "leaf", "leaf-line", "alarm", "now", "now-soft", "steady", "down-2", "down-1", "up-1", "up-2", "faint"];

const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

// The colours of the theme of `el`. `ramp(t)` and `apart(t)` take 0 … 1.
export function coloursOf(el) {
  const probe = document.createElement("span"), colours = {};
  el.append(probe);
  for (const name of NAMES) { probe.style.color = `var(--${name})`; colours[name] = getComputedStyle(probe).color; }
  probe.remove();
  const [r, g, b] = colours.bg.match(/[\d.]+/g).map(Number), dark = r + g + b < 380;
  const mixer = (stops) => {
    const table = stops.map(channels), made = [];
    for (let n = 0; n <= 255; n++) {
      const x = (n / 255) * (table.length - 1), k = Math.min(table.length - 2, Math.floor(x)), f = x - k;
      made.push(`rgb(${table[k].map((c, j) => Math.round(c + (table[k + 1][j] - c) * f))})`);
    }
    return (t) => made[Math.round(Math.max(0, Math.min(1, t)) * 255)];
  };
  return { ...colours, dark, ramp: mixer(dark ? RAMP_DARK : RAMP), apart: mixer(dark ? APART_DARK : APART) };
}

// One mark a kind of finding, in a square of 13: shape says what colour says.
export const MARKS = {
  nan: ["M2.8 1L6.5 4.7 10.2 1 12 2.8 8.3 6.5 12 10.2 10.2 12 6.5 8.3 2.8 12 1 10.2 4.7 6.5 1 2.8z", "alarm"],
  explode: ["M6.5 1L12 11.5H1z", "up-2"],
  vanish: ["M1 2h11L6.5 12z", "down-2"],
  missing: ["M1 5h11v3H1z", "mute"],
  dead: ["M6.5 1.2a5.3 5.3 0 1 0 .01 0zM6.5 3a3.5 3.5 0 1 1-.01 0z", "mute"],
  still: ["M1.5 1.5h10v10h-10zM3.3 3.3v6.4h6.4V3.3z", "down-2"],
  grew: ["M6.5 1l5 5.5h-3V12h-4V6.5h-3z", "up-2"],
  large: ["M.6 6.5L4 2.8v2.5h5V2.8l3.4 3.7L9 10.2V7.7H4v2.5z", "now"],
  sign: ["M6.5 1l5.5 11H1z", "alarm"],
  accumulate: ["M5 1h3v4h4v3H8v4H5V8H1V5h4z", "now"],
  nll: ["M1 5h11v3H1z", "alarm"],
  broadcast: ["M1 1h4v4H1zM8 1h4v4H8zM1 8h4v4H1zM8 8h4v4H8z", "now"],
  double: ["M1 2h8v8H1zM5 5h7v7H5z", "now"],
  classes: ["M1 1h11v3H1zM1 9h11v3H1zM5 4h3v5H5z", "now"],
  unstepped: ["M2 1h3v11H2zM8 1h3v11H8z", "now"],
  alike: ["M1 3h11v2.6H1zM1 7.4h11V10H1z", "now"],
  start: ["M6.5 1L12 11.5H1z", "now"],
  saturated: ["M1 11h3.5C6 11 6 2 8 2h4v2H9C7.5 4 7.5 13 5 13H1z", "down-2"],
  zero: ["M6.5 1C10 1 11 4 11 6.5S10 12 6.5 12 2 9 2 6.5 3 1 6.5 1zM6.5 3.5C5 3.5 4.5 5 4.5 6.5s.5 3 2 3 2-1.5 2-3-.5-3-2-3z", "down-2"],
  small: ["M5 5h3v3H5z", "down-2"],
  rising: ["M1 11l6-7-3 0V2h8v8h-2V6l-6.5 7z", "now"],
  runaway: ["M1 2l6.5 7V5h2v7H2v-2h4L1 4z", "alarm"],
  flat: ["M.6 5h11.8v2.6H.6z", "mute"],
  frozen: ["M5.5 1h2v11h-2zM1 5.5h11v2H1z", "mute"],
  eval: ["M1.5 1.5h10v10h-10zM3.3 3.3v6.4h6.4V3.3z", "mute"],
  fine: ["M1.2 6.8l1.6-1.6 2.5 2.5 5-5.2 1.6 1.6-6.6 6.8z", "leaf-line"],
};

// The colour of a change against the frame before, in five steps: steady is ± 10 %, the ends are half and double.
export function changeOf(d) {
  return !Number.isFinite(d) || Math.abs(d) < 0.0414 ? "steady" : d > 0.301 ? "up-2" : d > 0 ? "up-1" : d < -0.301 ? "down-2" : "down-1";
}

// A canvas of the size of its box, sharp on every screen. Returns its context, in CSS pixels.
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

export const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
export const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';

// Text cut to a width, its beginning for a dotted name; measured once.
const cuts = new Map();
export function cut(c, text, width) {
  const key = `${c.font}|${Math.round(width)}|${text}`;
  if (cuts.has(key)) return cuts.get(key);
  let out = text;
  const start = /\w\.\w/.test(text);
  while (out.length > 1 && c.measureText(start ? `…${out}` : `${out}…`).width > width && c.measureText(out).width > width) out = start ? out.slice(1) : out.slice(0, -1);
  out = out === text ? text : start ? `…${out}` : `${out}…`;
  if (cuts.size > 5000) cuts.clear();
  cuts.set(key, out);
  return out;
}
