// The graph as a table: the positions of its rows, functions, leaves and arrows in a window of this width, and one painted frame.

import { changeOf, READ, shape, TICK, widthOf, write } from "./colours.js";
import { broken, isKnown, NONE, normText } from "./data.js";

export const TOP = 90; // above the rows: loss, flags, headings
export const FOOT = 34; // below them: the functions of the loss, the axis
const TIP = 8, BELOW_ROWS = 21; // of an arrow; where the functions of the loss are: as in the stepper, values flow down, gradients up
// what a row shows, from most to least: first functions, a leaf's numbers, its first and last norm; then whatever fits
const LEVELS = [
  { fn: 72, gap: 26, leaf: 236, numbers: 3, name: 92, ends: 100 },
  { fn: 74, gap: 28, leaf: 128, numbers: 1, name: 86, ends: 108 },
  { fn: 64, gap: 22, leaf: 124, numbers: 1, name: 80, ends: 108 },
  { fn: 70, gap: 20, leaf: 0, numbers: 0, name: 80, ends: 108 },
  { fn: 64, gap: 22, leaf: 124, numbers: 1, name: 80, ends: 0 },
  { fn: 70, gap: 20, leaf: 0, numbers: 0, name: 80, ends: 0 },
  { fn: 26, gap: 16, leaf: 0, numbers: 0, name: 80, ends: 108, map: true },
  { fn: 26, gap: 16, leaf: 0, numbers: 0, name: 80, map: true },
  { fn: 0, gap: 0, leaf: 0, numbers: 0, name: 76 },
];

// The positions in one scene, in a view of this width.
export function layOut(scene, width, options = {}) {
  const rows = scene.rows.length - 1, gates = scene.functions.some((f) => f.gate >= 0);
  const tall = options.tall || 500;
  const pitch = Math.max(5, Math.min(Math.max(44, scene.most * 17 + 6), Math.floor((2 * tall) / Math.max(1, rows)) / 2));
  const side = scene.lanes ? 14 + 9 * Math.min(scene.lanes, 6) : 12;
  const wide = (level) => side + (gates && level.fn > 30 ? 54 : 0) + scene.wide * (level.fn + level.gap) + level.leaf + level.name + 76 + (level.ends || 0);
  const share = options.beside ? 0.4 : 0.28; // the ribbon's share of the width
  const line = Math.min(18, (pitch - 3) / Math.max(1, scene.most));
  const readable = (l) => !l.fn || (l.map ? pitch >= 7 : pitch >= 17 && (!l.leaf || line >= READ + 2));
  const level = LEVELS.slice(options.beside ? 5 : 0).find((l) => wide(l) <= width * (1 - share) && readable(l)) || LEVELS[LEVELS.length - 1];
  const at = { level, pitch, line, width, rows, boxes: [], leaves: [], arrows: [], texts: !level.map, numbers: level.numbers > 0 };
  const spine = !level.fn, col = level.fn + level.gap;
  at.names = withoutModel(scene.rows.map(({ name }) => name));
  at.graph = side + (gates && level.fn > 30 ? 54 : 0); // where the leftmost column begins
  const end = spine ? 30 : at.graph + scene.wide * col; // where the leaves begin
  at.nameX = end + level.leaf + (level.leaf ? 20 : 6);
  at.normX = at.nameX + level.name + 52;
  at.ribbonX = at.normX + 22 + (level.ends || 0);
  at.ribbonW = Math.max(60, width - at.ribbonX - 14);
  at.height = TOP + rows * pitch + FOOT;
  at.bottom = TOP + rows * pitch;
  at.named = Array.from({ length: rows }, (_, r) => r + 1).filter((r) => (r - 1) % Math.ceil((READ + 1) / pitch) === 0); // if rows are narrow, every second or third is named
  at.rowY = (r) => (r === 0 ? at.bottom + BELOW_ROWS : at.bottom - pitch * (r - 0.5));
  at.rowAt = (y) => (y > TOP && y < at.bottom ? Math.ceil((at.bottom - y) / pitch) : 0);
  at.thick = Math.max(1.6, Math.min(12, pitch >= 30 ? (pitch - 20) * 0.5 : pitch * 0.34));
  const h = at.fnH = Math.max(3, Math.min(22, pitch * (pitch < 20 ? 0.76 : 0.56)));
  if (spine) { spineOf(scene, at); return at; }
  scene.functions.forEach((f, k) => {
    const x = end - level.gap - level.fn / 2 - col * (scene.rows[f.row].functions - 1 - f.column) + (level.leaf ? 0 : level.gap - 8);
    at.boxes.push({ k, x, y: at.rowY(f.row), w: level.fn, h: f.row || level.map ? h : 22, row: f.row });
  });
  if (level.leaf) scene.leaves.forEach((leaf, k) => {
    const y = at.rowY(leaf.row) + (leaf.place - (scene.rows[leaf.row].leaves - 1) / 2) * line;
    at.leaves.push({ k, x: end + level.leaf / 2, y, w: level.leaf, h: line - (line > 8 ? 3 : 1), row: leaf.row });
  });
  scene.arrows.forEach((a) => { const way = pathOf(a, scene, at); if (way) at.arrows.push(way); });
  return at;
}

// No space for functions: one arrow into each row, its width the norm of the gradient that the row receives.
function spineOf(scene, at) {
  for (let r = 1; r < scene.rows.length; r++) {
    const y = at.rowY(r);
    at.boxes.push({ row: r, x: 16, y, w: 5, h: 5, dot: true });
    at.arrows.push(ended({ column: scene.rows[r].into, row: r, x1: 16, y1: at.rowY(r - 1) - 2, x2: 16, y2: y + 2 }));
  }
}

function ended(way) {
  const fromX = way.cx2 ?? way.x1, fromY = way.cy2 ?? way.y1, dx = way.x2 - fromX, dy = way.y2 - fromY, d = Math.hypot(dx, dy) || 1;
  const tip = Math.min(TIP, d * 0.6);
  return Object.assign(way, { angle: Math.atan2(dy, dx), tip, ex: way.x2 - (dx / d) * (tip - 1), ey: way.y2 - (dy / d) * (tip - 1) });
}

// The path of an arrow: straight and parallel between rows, so that widths can be compared; around anything in between.
function pathOf(a, scene, at) {
  const from = at.boxes[a.from], leaf = a.leaf !== null, to = leaf ? at.leaves.find((l) => l.k === a.leaf) : at.boxes[a.to];
  if (!to) return null;
  const way = { column: a.column, row: to.row, arrow: a }, v = Math.sign(to.y - from.y);
  if (from.row === to.row) {
    const off = leaf ? Math.sign(Math.round(to.y - from.y)) : 0, between = leaf ? scene.rows[from.row].functions - 1 - scene.functions[a.from].column : scene.functions[a.to].column - scene.functions[a.from].column - 1;
    Object.assign(way, { x1: from.x + from.w / 2 - (off ? 6 : 0), y1: from.y + off * from.h * 0.22, x2: to.x - to.w / 2 - 1, y2: to.y - off });
    if (between > 0) { // over the functions in between
      const up = leaf && off < 0 ? -1 : 1, lift = from.h * 0.5 + Math.min(11, at.pitch * 0.24);
      Object.assign(way, { x1: from.x + from.w * 0.3, y1: from.y + up * from.h * 0.36, cx1: from.x + from.w * 0.55, cy1: from.y + up * lift * 1.25, cx2: to.x - to.w / 2 - 26, cy2: leaf ? to.y : to.y + up * lift * 1.25 });
      if (!leaf) Object.assign(way, { x2: to.x - to.w * 0.3, y2: to.y + up * to.h * 0.42, cx2: to.x - to.w * 0.5 });
    }
    return ended(way);
  }
  if (a.lane) { // past the rows in between, on the left
    const x = Math.max(5, at.graph - 8 - 9 * Math.min(a.lane, 6)), x1 = from.x - from.w / 2, x2 = to.x - to.w / 2;
    return ended(Object.assign(way, { lane: x, x1, y1: from.y, x2, y2: to.y - v * to.h * 0.12, cx2: x2 - 8, cy2: to.y - v * to.h * 0.12 }));
  }
  if (Math.abs(from.x - to.x) < 4) return ended(Object.assign(way, { x1: from.x, y1: from.y + (v * from.h) / 2, x2: to.x, y2: to.y - v * (to.h / 2 + 1) }));
  const s = Math.sign(to.x - from.x);
  return ended(Object.assign(way, { x1: from.x + s * from.w * 0.3, y1: from.y + v * from.h * 0.36, x2: to.x - s * to.w * 0.33, y2: to.y - v * to.h * 0.42 }));
}

function trace(c, way, x, y) {
  c.beginPath();
  c.moveTo(way.x1, way.y1);
  if (way.lane !== undefined) {
    const r = Math.max(2, Math.min(10, Math.abs(way.y2 - way.y1) / 3, way.x1 - way.lane, way.x2 - way.lane));
    c.arcTo(way.lane, way.y1, way.lane, way.y2, r);
    c.arcTo(way.lane, way.y2, x, way.y2, r);
    c.lineTo(x, y);
  } else if (way.cx1 !== undefined) c.bezierCurveTo(way.cx1, way.cy1, way.cx2, way.cy2, x, y);
  else c.lineTo(x, y);
}

// One frame of the graph: frame `i` of the scene, in decades between scale.low and scale.high.
export function paintTable(c, film, scene, i, at, scale, k, selected) {
  const { pitch } = at, old = i - 1, wide = (l) => 0.8 + (at.thick - 0.8) * Math.max(0, Math.min(1, (l - scale.low) / (scale.high - scale.low)));
  if (selected > 0 && selected <= at.rows) { c.fillStyle = k["now-soft"]; c.fillRect(0, at.rowY(selected) - pitch / 2, at.ribbonX - 6 - (at.level.ends || 0), pitch); }
  for (const way of at.arrows) {
    const l = film.at(scene, i, way.column), bad = broken(l), ok = isKnown(l), under = ok && l < scale.low - 0.5;
    c.strokeStyle = c.fillStyle = bad ? k.alarm : k[ok && old >= 0 ? changeOf(l - film.at(scene, old, way.column)) : "steady"];
    const w = ok ? wide(l) : bad ? 2.5 : 1;
    c.lineWidth = w;
    c.setLineDash(bad ? [2, 3] : under ? [3, 3] : ok ? [] : [1, 4]);
    trace(c, way, way.ex, way.ey);
    c.stroke();
    if (l === NONE) continue;
    const half = w / 2 + (pitch < 14 ? 1.2 : 2.2), cos = Math.cos(way.angle), sin = Math.sin(way.angle), bx = way.x2 - cos * way.tip, by = way.y2 - sin * way.tip;
    shape(c, c.strokeStyle, [[way.x2, way.y2], [bx - sin * half, by + cos * half], [bx + sin * half, by - cos * half]]);
  }
  c.setLineDash([]);
  paintFunctions(c, film, scene, i, at, k);
  paintLeaves(c, film, scene, i, at, k);
  paintNames(c, film, scene, i, at, k, selected);
}

function paintFunctions(c, film, scene, i, at, k) {
  const guilty = film.findings.find((f) => f.kind === "nan" && f.from <= scene.at[i] && scene === film.scenes[f.scene]);
  for (const box of at.boxes) {
    if (box.dot) { c.fillStyle = k["fn-line"]; c.beginPath(); c.arc(box.x, box.y, 2, 0, 7); c.fill(); continue; }
    const f = scene.functions[box.k], zero = f.gate >= 0 ? film.zeros(scene, i, f.gate) : -1, bad = guilty && guilty.node === f.name && guilty.row === f.row;
    c.beginPath();
    c.ellipse(box.x, box.y, box.w / 2, box.h / 2, 0, 0, 7);
    c.fillStyle = k.fn;
    if (zero > 0) {
      const edge = 1 - zero, g = c.createLinearGradient(box.x - box.w / 2, 0, box.x + box.w / 2, 0);
      for (const [stop, colour] of [[0, k.fn], [edge, k.fn], [edge, k.bg], [1, k.bg]]) g.addColorStop(Math.max(0, Math.min(1, stop)), colour);
      c.fillStyle = g;
    }
    c.fill();
    c.strokeStyle = bad ? k.alarm : k["fn-line"];
    c.lineWidth = bad ? 2.6 : at.pitch < 12 ? 0.8 : 1.2;
    c.stroke();
    if (!at.texts) continue;
    const percent = zero > 0.005 ? `${Math.round(100 * zero)} %` : "", within = box.w - 14, dead = f.gate >= 0 && scene.deadAt[i] ? scene.deadAt[i][f.gate] : 0;
    const both = percent && Math.min(within, widthOf(c, f.label)) + 34 < box.w - 10;
    write(c, f.label, both ? box.x - box.w / 2 + 8 : box.x, box.y + 0.5, k.ink, { align: both ? "left" : "center", within });
    if (both) write(c, percent, box.x + box.w / 2 - 7, box.y + 0.5, k.mute, { align: "right" });
    if (dead && f.column === 0) write(c, `○ ${dead} dead`, box.x - box.w / 2 - 4, box.y + 0.5, k.mute, { align: "right" });
  }
}

function paintLeaves(c, film, scene, i, at, k) {
  for (const box of at.leaves) {
    const leaf = scene.leaves[box.k], x = box.x - box.w / 2, y = box.y - box.h / 2;
    c.beginPath();
    c.roundRect(x, y, box.w, box.h, Math.min(4, box.h / 2));
    c.setLineDash(leaf.alias ? [4, 2.5] : []);
    c.strokeStyle = k["leaf-line"];
    c.lineWidth = 1;
    if (!leaf.alias) { c.fillStyle = k.leaf; c.fill(); }
    if (box.h >= 10) c.stroke(); // in a lower box an outline would cross the text
    c.setLineDash([]);
    const three = at.level.numbers === 3, y0 = box.y + 0.5;
    write(c, leaf.label, x + 7, y0, k.ink, { within: three ? 62 : 58 });
    leafNumbers(film, scene, i, leaf).slice(...(three ? [0, 3] : [1, 2])).forEach(([text, look], n) =>
      write(c, text, x + box.w - 8 - (three ? (2 - n) * 56 : 0), y0, k[look ?? "ink"], { align: "right", mono: true }));
  }
}

// The norms of the value and of .grad, and update ÷ value, as text, coloured if there is a finding. For an alias, its contribution.
export function leafNumbers(film, scene, i, leaf) {
  if (leaf.alias) { const l = film.at(scene, i, leaf.column); return [["", null], [normText(l), broken(l) ? "alarm" : null], ["", null]]; }
  return ["value", "grad", "update"].map((kind) => {
    const l = film.leaf(scene, i, kind, leaf.leaf);
    if (kind === "update" && l === Infinity) return ["from 0", "mute"]; // no ratio: all entries were zero
    const odd = kind === "update" && (l === -Infinity ? "down-2" : isKnown(l) && l > -1 ? "now" : null);
    return [normText(l), broken(l) ? "alarm" : odd || null];
  });
}

function paintNames(c, film, scene, i, at, k, selected) {
  for (const r of at.named) {
    const y = at.rowY(r) + 0.5, l = film.into(scene, i, r), d = i > 0 ? l - film.into(scene, i - 1, r) : 0;
    write(c, at.names[r], at.nameX, y, k.ink, { weight: r === selected ? 700 : 600, within: at.level.name });
    write(c, normText(l), at.normX, y, broken(l) ? k.alarm : k.ink, { align: "right", mono: true });
    if (d > 0.0414 || d < -0.0414) write(c, d > 0 ? "▲" : "▼", at.normX + 13, y, k.mute, { size: TICK, align: "right" });
  }
}

// The item at a point: { row, text } for a tooltip, or null.
export function whatIsAt(film, scene, i, at, x, y) {
  const inside = (b) => Math.abs(x - b.x) <= b.w / 2 + 2 && Math.abs(y - b.y) <= b.h / 2 + 2;
  const leaf = at.leaves.find(inside), fn = at.boxes.find((b) => !b.dot && inside(b));
  if (leaf) {
    const it = scene.leaves[leaf.k], [value, grad, update] = leafNumbers(film, scene, i, it).map(([text]) => text);
    return { row: it.row, text: it.alias ? `${it.name}, one of ${it.uses} uses: this one adds ${grad}` : `${it.name} ${it.shape}: ‖value‖ ${value}, ‖grad‖ ${grad}, update ÷ value ${update}${it.uses > 1 ? `; used ${it.uses} times` : ""}` };
  }
  if (fn) {
    const f = scene.functions[fn.k], zero = f.gate >= 0 ? film.zeros(scene, i, f.gate) : -1;
    return { row: f.row, text: `${f.name}${zero >= 0 ? `: ${(100 * zero).toFixed(1)} % of what it sends is zero` : ""}` };
  }
  for (const way of at.arrows) {
    if (way.lane !== undefined ? Math.abs(x - way.lane) > 5 || y < Math.min(way.y1, way.y2) || y > Math.max(way.y1, way.y2) : distance(x, y, way) > 5) continue;
    const l = film.at(scene, i, way.column), before = i > 0 ? film.at(scene, i - 1, way.column) : NONE;
    const change = isKnown(l) && isKnown(before) ? `, ×${Number((10 ** (l - before)).toPrecision(2))} since the frame before` : "";
    const hops = way.arrow && way.arrow.hops ? `; past ${way.arrow.hops} that only re-index${way.arrow.hops > 1 ? "" : "es"}` : "";
    return { row: way.row, text: l === NONE ? "no gradient is computed here" : `gradient norm ${normText(l)}${change}${hops}` };
  }
  return at.rowAt(y) ? { row: at.rowAt(y), text: "" } : null;
}

function distance(x, y, { x1, y1, x2, y2 }) {
  const t = Math.max(0, Math.min(1, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / ((x2 - x1) ** 2 + (y2 - y1) ** 2 || 1)));
  return Math.hypot(x - x1 - t * (x2 - x1), y - y1 - t * (y2 - y1));
}
