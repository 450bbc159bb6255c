// A film as Python sends it, unpacked: the numbers of each frame, in decades (log10), by the item they belong to.

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const floatsOf = (text) => new Float32Array(bytesOf(text).buffer);

export const NONE = 999; // not computed
export const isKnown = (l) => l !== NONE && Number.isFinite(l);
export const broken = (l) => l !== l || l === Infinity;

// Two digits of a norm: "0.031", "1.3e-9", "0", "NaN"; "–" where it was not computed.
export function normText(l) {
  if (l === NONE || l === undefined) return "–";
  if (l !== l) return "NaN";
  if (l === Infinity) return "Inf";
  if (l === -Infinity) return "0";
  if (Math.abs(l) > 300) return `1e${Math.floor(l)}`;
  const v = 10 ** l, two = Number(v.toPrecision(2));
  if (two >= 0.01 && two < 10000) return two >= 100 ? v.toFixed(0) : v.toPrecision(2);
  const [digits, power] = v.toExponential(1).split("e");
  return `${digits}e${Number(power)}`;
}

export function lossText(v, digits = 4) {
  return v === null || v === undefined ? "–" : v !== v ? "NaN" : Math.abs(v) === Infinity ? (v < 0 ? "-Inf" : "Inf")
    : v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e5) ? v.toExponential(Math.min(2, digits - 1)).replace("e+", "e") : String(Number(v.toPrecision(digits)));
}

export class Film {
  constructor(raw) {
    Object.assign(this, raw);
    this.losses = raw.losses.map((v) => (v === null ? null : Number(v)));
    this.count = this.steps.length;
    this.scenes = raw.scenes.map((scene) => ({ ...scene, table: floatsOf(scene.table), inScene: new Map(scene.at.map((frame, i) => [frame, i])) }));
    this.sceneOf = new Array(this.count).fill(-1);
    this.scenes.forEach((scene, k) => scene.at.forEach((frame) => { this.sceneOf[frame] = k; }));
    for (const scene of this.scenes) {
      scene.deadAt = scene.at.map(() => null); // frame -> { gate: units }, expanded from the runs
      for (const [gate, , first, last] of scene.dead) for (let i = first; i <= last; i++) { const d = (scene.deadAt[i] ||= {}); d[gate] = (d[gate] || 0) + 1; }
      scene.wide = Math.max(...scene.rows.map((row) => row.functions));
      scene.most = Math.max(0, ...scene.rows.map((row) => row.leaves));
    }
  }

  // One number: column `column` of frame `i` of the scene; not computed before the first frame.
  at(scene, i, column) { return i < 0 || column < 0 ? NONE : scene.table[i * scene.width + column]; }
  into(scene, i, row) { return this.at(scene, i, scene.rows[row].into); }
  leaf(scene, i, kind, k) { return this.at(scene, i, scene.parts[kind] + k); }
  zeros(scene, i, gate) { return this.at(scene, i, scene.parts.zero + gate); }

  // The last frame at or before a training step.
  frameAt(step) { return Math.max(0, upTo(this.steps, step) - 1); }

  // Where frame `i` of a scene ends: at the scene's next frame, unless many frames of other scenes come between.
  until(scene, i) {
    const here = scene.at[i], next = scene.at[i + 1] ?? this.count;
    return Math.min(next, here + 1 + (next - here - 1 <= 8 ? 8 : 0));
  }

  // The least and the largest norm of a row, moved apart if they are close, so that a row that hardly changes has one colour.
  range(scene, r) {
    const all = scene.at.map((_, i) => this.into(scene, i, r)).filter(isKnown), low = Math.min(...all), high = Math.max(...all), wide = Math.max(0, 0.15 - (high - low)) / 2;
    return [low - wide, high + wide];
  }

  // A row's first and last norm, and the change: ["0.20 → 0.049", "falls to 25 %"]; null if none is known or there is only one.
  course(scene, r) {
    const all = scene.at.map((_, i) => this.into(scene, i, r)).filter((l) => l !== NONE), first = all.find(isKnown), last = all[all.length - 1];
    if (first === undefined || all.length < 2) return null;
    const times = 10 ** (last - first), share = 100 * times;
    const becomes = broken(last) ? `ends as ${normText(last)}` : last === -Infinity ? "falls to 0" : times >= 1.05 ? `grows ×${normText(last - first)}` : times > 0.95 ? "hardly changes" : share < 0.1 ? `falls ×${normText(last - first)}` : `falls to ${Number(share.toPrecision(2))} %`;
    return [`${normText(first)} → ${normText(last)}`, becomes];
  }

  // The norms of all arrows and rows, for a scale.
  norms() {
    const out = [];
    for (const scene of this.scenes) for (let i = 0; i < scene.at.length; i++) for (let c = 0; c < scene.parts.value; c++) { const l = scene.table[i * scene.width + c]; if (isKnown(l)) out.push(l); }
    return out;
  }
}

const NARROW = 2; // decades: rows with a smaller range get a scale of their own

// Whole decades that cover the norms of all films; outliers are marked and do not stretch the scale.
export function scaleOf(films) {
  const all = Float32Array.from(films.flatMap((film) => film.norms())).sort();
  const q = (p) => all[Math.min(all.length - 1, Math.floor(all.length * p))];
  if (!all.length) return { low: -6, high: 0, ticks: [-6, -4, -2, 0], narrow: false };
  let high = Math.ceil(q(0.95)), low = Math.floor(q(0.02));
  if (q(1) <= high + 2) high = Math.ceil(q(1));
  if (all[0] >= low - 2) low = Math.floor(all[0]);
  const rows = films.flatMap((film) => film.scenes.flatMap((scene) => scene.rows.flatMap((_, r) => (r ? film.range(scene, r) : [])))).filter(Number.isFinite);
  const narrow = Math.max(...rows) - Math.min(...rows) < NARROW;
  low = Math.max(Math.min(low, high - (narrow ? NARROW : 6)), high - 12);
  const ticks = [], by = Math.ceil((high - low) / 4);
  for (let t = high; t >= low; t -= by) ticks.unshift(t);
  return { low, high, ticks, narrow };
}
