// The history: loss over training steps, the ribbon (a row per layer, a column per frame), flags for findings, one shared axis.

import { line, markOf, shape, TICK, widthOf, write } from "./colours.js";
import { broken, isKnown, lossText, NONE } from "./data.js";
import { TOP } from "./table.js";

const LOSS = [30, 70]; // top and bottom of the loss curve

// The position of a training step, from the first frame to the end of the last.
export function axisOf(film, at, span) {
  const first = span ? span[0] : film.steps[0], last = span ? span[1] : film.steps[film.count - 1] + film.every;
  const x = (step) => at.ribbonX + (at.ribbonW * (step - first)) / Math.max(1, last - first);
  const left = (frame) => x(frame < film.count ? film.steps[frame] : Math.min(last, film.steps[film.count - 1] + film.every));
  return { first, last, x, left, middle: (frame) => (left(frame) + Math.min(left(frame + 1), left(frame) + x(first + film.every) - x(first))) / 2,
    stepAt: (px) => first + ((px - at.ribbonX) / at.ribbonW) * (last - first) };
}

export function lossScale(film) {
  const known = film.losses.filter((v) => v !== null && Number.isFinite(v));
  if (!known.length) return null;
  const low = Math.min(...known), high = Math.max(...known), log = low > 0 && high / low > 20;
  const base = log ? low : Math.min(0, low), part = (v) => (log ? Math.log(v / low) / Math.log(high / low || 1) : (v - base) / (high - base || 1));
  return { low: base, high, log, y: (v) => LOSS[1] - part(v) * (LOSS[1] - LOSS[0]) };
}

// Everything that does not depend on the frame: painted once for each size, theme, scene and mode.
// mode: "all" rows on one scale, or "each" on its own.
export function paintHistory(c, film, scene, at, axis, scale, k, mode) {
  paintLoss(c, film, at, axis, k);
  paintCourse(c, film, scene, at, k);
  const paint = cellPainter(c, k);
  const ratio = window.devicePixelRatio || 1, snap = (x) => Math.round(x * ratio) / ratio; // no seams between cells
  const count = scene.at.length, gap = at.pitch >= 12 ? 1.5 : at.pitch >= 7 ? 0.5 : 0;
  for (let r = 1; r < scene.rows.length; r++) {
    const y = snap(at.rowY(r) - at.pitch / 2 + gap), h = snap(at.pitch - 2 * gap);
    const ends = mode === "each" ? film.range(scene, r) : [scale.low, scale.high];
    let i = 0;
    while (i < count) { // frames that share a pixel are one cell: NaN wins, then the largest norm
      const x0 = snap(axis.left(scene.at[i])), first = i;
      let value = NONE;
      do {
        const v = film.into(scene, i, r);
        value = value === NONE || broken(v) ? (broken(value) ? value : v) : broken(value) || v === NONE ? value : Math.max(value, v);
        i += 1;
      } while (i < count && snap(axis.left(film.until(scene, i))) <= x0);
      paint(value, x0, y, Math.max(1 / ratio, snap(axis.left(film.until(scene, i - 1))) - x0), h, ends);
    }
  }
  const n = Math.max(2, Math.min(6, Math.floor(at.ribbonW / 70))), by = niceStep((axis.last - axis.first) / n);
  for (let step = Math.ceil(axis.first / by) * by; step <= axis.last; step += by) {
    const x = axis.x(step);
    write(c, String(step), x, at.bottom + 10, k.mute, { size: TICK, align: x > at.ribbonX + at.ribbonW - 12 ? "right" : "center" });
  }
  for (const frame of Object.keys(film.kept)) { // ◆: frames that can be stepped into
    const x = axis.middle(Number(frame)), y = at.bottom + 19;
    shape(c, k.mute, [[x, y - 5], [x + 5, y], [x, y + 5], [x - 5, y]]);
  }
  if (film.scenes.length > 1) film.scenes.forEach((other, s) => other.at.forEach((frame) => { // which frames show this graph
    const x = axis.left(frame), w = Math.max(1, axis.left(film.until(other, other.inScene.get(frame))) - x - 0.5);
    c.fillStyle = other === scene ? k.mute : k.rule;
    c.fillRect(x, TOP - 5 - (other === scene ? 1 : 0), Math.min(w, axis.left(frame + 1) - x), other === scene ? 3 : 1);
  }));
  for (const flag of flagsOf(film, axis)) {
    c.save();
    c.translate(flag.x - 4.5, flag.y - 4.5);
    c.scale(9 / 13, 9 / 13);
    const [shape, colour] = markOf(flag.kind);
    c.fillStyle = k[colour];
    c.fill(new Path2D(shape), "evenodd");
    c.restore();
  }
}

const niceStep = (x) => { const p = 10 ** Math.floor(Math.log10(Math.max(1, x))), m = Math.max(1, x) / p; return Math.max(1, (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10) * p); };

// Findings as flags above the ribbon, the most important first: a flag that does not fit is left out, never moved.
export function flagsOf(film, axis) {
  const taken = [], out = [];
  for (const f of film.findings) {
    const x = axis.middle(f.from);
    if (taken.some((other) => Math.abs(other - x) < 11)) continue;
    taken.push(x);
    out.push({ ...f, x, y: TOP - 14 });
  }
  return out;
}

// Next to each row its first and last norm, and the change in words if there is space for a second line.
function paintCourse(c, film, scene, at, k) {
  if (!at.level.ends) return;
  const two = at.pitch >= 30, x = at.ribbonX - 12;
  for (const r of at.named) {
    const course = film.course(scene, r), y = at.rowY(r) + 0.5;
    if (!course) continue;
    write(c, course[0], x, two ? y - 7 : y, k.ink, { weight: two ? 700 : 400, align: "right" });
    if (two) write(c, course[1], x, y + 8, k.mute, { align: "right" });
  }
}

function paintLoss(c, film, at, axis, k) {
  const scale = lossScale(film), right = at.ribbonX + at.ribbonW;
  if (!scale) return;
  if (at.ribbonW > 170) write(c, scale.log ? "log scale" : "linear", right, 14, k.mute, { align: "right" });
  [scale.high, scale.low].forEach((value, n) => write(c, lossText(value, 2), at.ribbonX - 8, LOSS[n], k.mute, { size: TICK, align: "right", mono: true }));
  line(c, k.rule, 1, [[at.ribbonX, LOSS[1] + 0.5], [right, LOSS[1] + 0.5]]);
  c.strokeStyle = k.ink;
  c.lineWidth = 1.5;
  c.lineJoin = "round";
  c.beginPath();
  let pen = false;
  film.losses.forEach((v, i) => {
    const ok = v !== null && Number.isFinite(v);
    if (ok) c[pen ? "lineTo" : "moveTo"](axis.middle(i), scale.y(v));
    if (ok && !pen && film.count === 1) c.lineTo(axis.middle(i) + 1, scale.y(v));
    pen = ok;
  });
  c.stroke();
}

// A cell: a colour for a size; a dot for zero, hatching for NaN and Inf, a line for what was not computed.
function cellPainter(c, k) {
  return (l, x, y, w, h, [low, high]) => {
    if (isKnown(l)) {
      c.fillStyle = k.ramp((l - low) / (high - low));
      c.fillRect(x, y, w, h);
      if (l > high + 0.5 && h > 10) shape(c, k.bg, [[x + w / 2, y + 3], [x + w / 2 + 3, y + 8], [x + w / 2 - 3, y + 8]]);
    } else if (l === -Infinity) {
      const size = Math.min(2, w, h);
      c.fillStyle = k.mute;
      c.fillRect(x + w / 2 - size / 2, y + h / 2 - size / 2, size, size);
    } else if (l === NONE) {
      c.fillStyle = k.rule;
      c.fillRect(x, y + h / 2 - 0.5, w, 1);
    } else {
      c.save();
      c.beginPath();
      c.rect(x, y, w, h);
      c.clip();
      c.strokeStyle = k.alarm;
      c.lineWidth = 1.4;
      c.beginPath();
      for (let d = Math.floor((x - h) / 6) * 6; d < x + w + h; d += 6) { c.moveTo(d, y + h); c.lineTo(d + h, y); }
      c.stroke();
      c.restore();
    }
  };
}

// The headings of the columns, and the loss of this frame.
export function paintHead(c, film, frame, at, axis, k, label) {
  const v = film.losses[frame], scale = lossScale(film), x = axis.middle(frame), ok = v !== null && Number.isFinite(v), y = TOP - 10;
  write(c, "LOSS", at.ribbonX, 14, k.mute, { weight: 700 });
  write(c, lossText(v), at.ribbonX + 40, 14, ok || v === null ? k.ink : k.alarm, { size: 14, weight: 700, mono: true });
  const k0 = film.sceneOf[frame], folded = film.scenes[k0]?.folded, graphs = film.scenes.length > 1 ? `graph ${k0 + 1} of ${film.scenes.length}; ` : "";
  const within = at.ribbonX - 28, flows = `${graphs}the gradient flows up from the loss`, more = folded ? `; ${folded} node${folded > 1 ? "s" : ""} that only re-index${folded > 1 ? " are" : "es is"} folded` : "";
  const said = [flows + more, flows, `${graphs}gradient flows up`].find((text) => at.level.fn && widthOf(c, text) <= within) || graphs;
  write(c, label || said, 12, 14, label ? k.ink : k.mute, { size: label ? 13 : 11, weight: label ? 700 : 400, within });
  if (at.numbers) {
    const box = at.leaves[0], right = box.x + box.w / 2 - 8, titles = at.level.numbers === 3 ? ["‖value‖", "‖grad‖", "update"] : ["‖grad‖"];
    write(c, "leaf", box.x - box.w / 2 + 7, y, k.mute);
    titles.forEach((text, n) => write(c, text, right - (titles.length - 1 - n) * 56, y, k.mute, { align: "right" }));
  }
  write(c, "row", at.nameX, y, k.mute);
  write(c, at.level.name > 76 ? "‖gradient‖" : "‖g‖", at.normX, y, k.mute, { align: "right" });
  if (at.level.ends) write(c, "first → last", at.ribbonX - 12, y, k.mute, { align: "right" });
  line(c, k.now, 1.5, [[x, 26], [x, at.bottom]]);
  shape(c, k.now, [[x - 5, 23], [x + 5, 23], [x, 29]]);
  if (ok && scale) { c.beginPath(); c.arc(x, scale.y(v), 4, 0, 7); c.fill(); c.strokeStyle = k.bg; c.stroke(); }
}
