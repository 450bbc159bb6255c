// Unpacks the payload, and computes the state after k steps.

// The payload as it was recorded: each array is sent once, in `arrays`, and {$: 7} refers to it wherever it occurs.
export function unpack(sent) {
  const data = typeof sent === "string" ? JSON.parse(sent) : sent;
  if (!data.arrays) return data;
  const arrays = [];
  for (const a of data.arrays) {
    const known = (a.values || []).filter((x) => typeof x === "number"), parts = a.parts?.map((part) => arrays[part.$]); // the parts of a complex array, which are sent before it
    arrays.push(!a.values ? { ...a, parts } : { ...a, min: known.length ? Math.min(...known) : "nan", max: known.length ? Math.max(...known) : "nan", nonfinite: a.values.length - known.length });
  }
  const walk = (x) => {
    if (Array.isArray(x)) return x.map(walk);
    if (!x || typeof x !== "object") return x;
    if ("$" in x) return arrays[x.$];
    const out = {};
    for (const key in x) out[key] = walk(x[key]);
    return out;
  };
  const { arrays: _, ...rest } = data, whole = walk(rest);
  const plate = (picture) => { picture.svg = restored(picture); Object.values(picture.insides || {}).forEach(plate); };
  [whole, ...(whole.pictures || [])].forEach(plate);
  return whole;
}

// Nodes and arrows as they were drawn: positions, points and heads.
const restored = ({ svg, nodes }) => svg.replace(/<g class="node[^"]*" id="(\w+)">.*?<\/g>/g, (group, id) => {
  const [x, y] = nodes[id].at;
  return group.replace(/[ ]([xy])="(-?\d+(?:\.\d)?)"/g, (place, o, by) => ` ${o}="${Number((Number(by) + (o === "x" ? x : y)).toFixed(1))}"`);
}).replace(/\bd="([-\d ]+)"\/>/g, (path, steps) => {
  const at = steps.split(" ").map(Number);
  for (let i = 2; i < at.length; i++) at[i] += at[i - 2];
  const p = at.map((v) => v / 10), [x, y, tx, ty] = p.slice(-4), wing = 3.4 / (Math.hypot(tx - x, ty - y) || 1), dx = (ty - y) * wing, dy = (tx - x) * wing;
  return `d="M${p.slice(0, 2)}C${p.slice(2, -2).join(" ")}"/><path class="head" d="M${tx},${ty}L${x - dx},${y + dy}L${x + dx},${y - dy}Z"/>`;
});

// The state after k steps, by node and edge of the graph; a box or an arrow of a picture looks up those that it draws.
// A contribution is keyed by its edge and step, a gradient by its node and step: the answer is the same however the graph is folded.
// `late`: a total is shown when its node fires, not when its last part arrives, so that a question can ask for it.
export function timeline(data, drawn, late) {
  const steps = data.steps, fired = {}, ready = {}, touched = {}, freed = {}, grads = {}, stored = {}, sent = {};
  const add = (into, id, entry) => (into[id] ??= []).push(entry);
  if (steps.length) { ready[steps[0].node] = 0; add(grads, steps[0].node, { at: 0, array: data.start ? data.start.seed : null }); }
  steps.forEach((step, i) => {
    const k = i + 1;
    if (step.total || !grads[step.node]) add(grads, step.node, { at: late || fired[step.node] ? k : Math.min(k, ready[step.node] ?? k), array: step.total, each: step.totals });
    add(fired, step.node, k); // a faulty engine may fire a node twice
    for (const out of step.outgoing || []) {
      if (out.edge && out.value) add(sent, out.edge, { at: k, array: out.value });
      if (out.to && out.value) touched[out.to] ??= k;
    }
    for (const id of step.ready || []) ready[id] ??= k;
    for (const id of step.freed || []) freed[id] ??= k;
    if (step.accumulate) add(stored, step.node, { at: k, array: step.accumulate.after });
  });
  const latest = (entries, k) => { let found = null; for (const entry of entries || []) if (entry.at <= k) found = entry; return found; };
  // the nodes of the graph that a box stands for, and whether it is only next to them (a tensor next to its function)
  const members = {}, mirrors = {}, lines = {};
  for (const [f, box] of Object.entries(drawn.folds)) (members[box] ??= []).push(f);
  for (const [id, node] of Object.entries(drawn.nodes)) {
    if (members[id]) continue;
    members[id] = id in fired || !node.function ? [id] : [node.function];
    mirrors[id] = members[id][0] !== id;
  }
  for (const id of Object.keys(drawn.edges)) lines[id] = [id];
  for (const [edge, id] of Object.entries(drawn.lines)) lines[id].push(edge);
  const firings = {}, sendings = {}; // by box and by arrow: their steps, in order
  for (const id in members) { const all = members[id].flatMap((f) => fired[f] || []); if (all.length) firings[id] = members[id].length > 1 ? all.sort((a, b) => a - b) : all; }
  for (const id in lines) {
    const all = lines[id].flatMap((e) => sent[e] || []), { kind, from, to } = drawn.edges[id];
    const by = kind === "store" ? from : kind === "arrives" ? to : null; // arrows that change at the step of a function
    if (by && !all.length) for (const at of firings[by] || []) all.push({ at, array: null });
    if (all.length) sendings[id] = lines[id].length > 1 ? all.sort((a, b) => a.at - b.at) : all;
  }
  // for each box the first steps at which one of its nodes is ready, touched and freed: used at every step, computed once
  const soonest = (table) => Object.fromEntries(Object.entries(members).map(([id, all]) => [id, all.reduce((at, f) => Math.min(at, table[f] ?? Infinity), Infinity)]));
  const readyAt = soonest(ready), touchedAt = soonest(touched), freedAt = soonest(freed);
  const firesAt = (id, k) => { const at = firings[id], i = upTo(at, k); return i > 0 && at[i - 1] === k; };
  const nodeState = (id, k) => {
    const at = firings[id], mirrored = mirrors[id], { kind } = drawn.nodes[id];
    if (drawn.view === "lanes" && mirrored && kind !== "gradient") return at && firesAt(id, k) ? "mgv-near" : ""; // the lane of values only highlights the matching function
    if (at && at[0] <= k) {
      if (firesAt(id, k)) return mirrored ? "mgv-near" : "mgv-firing";
      if (k < at.at(-1)) return members[id].length > 1 ? "mgv-near" : "mgv-done";
      return !mirrored && freedAt[id] <= k ? "mgv-done mgv-freed" : "mgv-done";
    }
    if (mirrored) return "";
    return readyAt[id] <= k ? "mgv-ready" : touchedAt[id] <= k ? "mgv-waiting" : "";
  };
  // what goes along an arrow in step k; consecutive entries of `sendings`
  const sentAt = (id, k) => { const all = sendings[id] || [], end = upTo(all, k); let i = end; while (i && all[i - 1].at === k) i--; return all.slice(i, end); };
  const edgeState = (id, k) => { const all = sendings[id]; return !all || k < all[0].at ? "" : sentAt(id, k).length ? "mgv-active" : "mgv-done"; };
  // the gradient in a box of the picture: for a leaf its .grad, for a node with several outputs that of the output drawn
  const shownIn = (id) => { const { kind } = drawn.nodes[id], f = members[id][0]; return kind === "leaf" || kind === "alias" ? stored[f] : stored[id] || grads[f]; };
  const gradOf = (id, k) => {
    const node = drawn.nodes[id], entry = latest(shownIn(id), k);
    return !entry ? null : mirrors[id] && entry.each && typeof node.output === "number" ? entry.each[node.output] : entry.array;
  };
  // the gradient shown on an arrow: the one sent in this step, else an earlier one if the arrow is one edge that was used once
  const sentAlong = (id, k) => {
    const all = sendings[id] || [], now = sentAt(id, k);
    return now.length ? now : all.length === 1 && all[0].at <= k ? all : [];
  };
  // which boxes and arrows change at step k; all others stay as they are
  const changes = {}, change = (k, id) => { if (k >= 0 && k < Infinity) (changes[k] ??= new Set()).add(id); };
  for (const id in drawn.nodes) {
    for (const k of firings[id] || []) { change(k, id); change(k + 1, id); }
    for (const k of [readyAt[id], touchedAt[id], freedAt[id], ...(drawn.nodes[id].box?.grad ? (shownIn(id) || []).map(({ at }) => at) : [])]) change(k, id);
  }
  for (const id in sendings) for (const entry of sendings[id]) { change(entry.at, id); change(entry.at + 1, id); }
  const landed = Object.entries(stored).map(([f, all]) => ({ f, at: all[0].at })).sort((a, b) => a.at - b.at);
  return { fired, sent, firings, sendings, members, mirrors, lines, changes, landed, nodeState, edgeState, gradOf, sentAlong, storedIn: (f, k) => latest(stored[f], k), landedBy: (k) => upTo(landed, k),
    first: (id) => firings[id]?.[0], last: (id) => firings[id]?.at(-1) };
}

// How many entries of a sorted list of steps (or of items with a step) are at most k.
export function upTo(list, k) {
  let low = 0, high = list.length;
  while (low < high) { const middle = (low + high) >> 1; (list[middle].at ?? list[middle]) <= k ? (low = middle + 1) : (high = middle); }
  return low;
}

// Bytes that each node keeps until it fires; memory shared by several nodes is counted at one of them.
export const bytesOf = (data) => new Map(data.steps.filter(({ kept }) => kept).map(({ node, kept }) => [node, kept]));

export const bytesText = (n) => (n < 1000 ? `${n} B` : n < 1e6 ? `${Number((n / 1000).toPrecision(3))} kB` : `${Number((n / 1e6).toPrecision(3))} MB`);
