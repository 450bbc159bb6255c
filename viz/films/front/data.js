// A film as it comes from Python, unpacked: the numbers of each frame, in decades (log10), by what they belong to.

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const floatsOf = (text) => new Float32Array(bytesOf(text).buffer);

export const NONE = 999; // not computed
export const fine = (l) => l !== NONE && Number.isFinite(l);
export const broken = (l) => l !== l || l === Infinity;

// Two digits of a norm: "0.031", "1.3e-9", "0", "NaN"; "–" where it was not computed.
export function say(l) {
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

export function lossText(v) {
  return v === null || v === undefined ? "–" : v !== v ? "NaN" : Math.abs(v) === Infinity ? (v < 0 ? "-Inf" : "Inf")
    : v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e5) ? v.toExponential(2).replace("e+", "e") : String(Number(v.toPrecision(4)));
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
      scene.deadAt = scene.at.map(() => null); // frame -> { gate: units }, filled from the runs
      for (const [gate, , first, last] of scene.dead) for (let i = first; i <= last; i++) { const d = (scene.deadAt[i] ||= {}); d[gate] = (d[gate] || 0) + 1; }
      scene.wide = Math.max(...scene.rows.map((row) => row.functions));
      scene.most = Math.max(0, ...scene.rows.map((row) => row.leaves));
    }
  }

  // One number: of column `column` in frame `i` of the scene; undefined before the first.
  at(scene, i, column) { return i < 0 || column < 0 ? NONE : scene.table[i * scene.width + column]; }
  into(scene, i, row) { return this.at(scene, i, scene.rows[row].into); }
  leaf(scene, i, kind, k) { return this.at(scene, i, scene.parts[kind] + k); }
  zeros(scene, i, gate) { return this.at(scene, i, scene.parts.zero + gate); }

  // The last frame at or before a training step.
  frameAt(step) {
    let low = 0, high = this.count - 1;
    while (low < high) { const mid = (low + high + 1) >> 1; if (this.steps[mid] <= step) low = mid; else high = mid - 1; }
    return low;
  }

  // Where a scene's frame number `i` ends: the scene's next frame, unless others stand long between.
  until(scene, i) {
    const here = scene.at[i], next = scene.at[i + 1] ?? this.count;
    return Math.min(next, here + 1 + (next - here - 1 <= 8 ? 8 : 0));
  }

  // The norms of all arrows and rows, sorted, for a scale.
  norms() {
    const out = [];
    for (const scene of this.scenes) for (let i = 0; i < scene.at.length; i++) for (let c = 0; c < scene.parts.value; c++) { const l = scene.table[i * scene.width + c]; if (fine(l)) out.push(l); }
    return out;
  }

  apart() {
    const out = [];
    for (const scene of this.scenes) for (let i = 0; i < scene.at.length; i++) for (let r = 2; r < scene.rows.length; r++) { const d = this.into(scene, i, r) - this.into(scene, i, 1); if (fine(this.into(scene, i, r)) && fine(this.into(scene, i, 1))) out.push(Math.abs(d)); }
    return out;
  }
}

// Whole decades that hold the norms of all films; what lies far out is marked, it does not stretch the scale.
export function scaleOf(films) {
  const all = Float32Array.from(films.flatMap((film) => film.norms())).sort(), apart = Float32Array.from(films.flatMap((film) => film.apart())).sort();
  const q = (p) => all[Math.min(all.length - 1, Math.floor(all.length * p))];
  if (!all.length) return { low: -6, high: 0, side: 3, ticks: [-6, -4, -2, 0] };
  let high = Math.ceil(q(0.95)), low = Math.floor(q(0.02));
  if (q(1) <= high + 2) high = Math.ceil(q(1));
  if (all[0] >= low - 2) low = Math.floor(all[0]);
  low = Math.max(Math.min(low, high - 6), high - 12);
  const ticks = [], by = Math.ceil((high - low) / 4);
  for (let t = high; t >= low; t -= by) ticks.unshift(t);
  const side = [3, 6, 9].find((s) => s >= (apart[Math.floor(apart.length * 0.95)] || 0)) || 12;
  return { low, high, side, ticks };
}
