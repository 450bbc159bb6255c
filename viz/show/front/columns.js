// A tall picture in columns, like a newspaper: cut between ranks where few arrows cross, read from top to bottom and continued
// at the top of the next column. There is no new layout: what Graphviz placed is moved, column by column.

import { anew, moved, movedNode, numbersOf } from "./svg.js";

const GAP = 34, LANE = 7, GUTTER = 16, HEADS = 18; // the gap at a cut

// The boxes and arrows of a picture as numbers, read from its SVG once.
function geometry(picture) {
  if (picture.geometry) return picture.geometry;
  const { root } = anew(picture), lines = {}, boxes = Object.values(picture.nodes).map((node) => node.at);
  for (const path of root.querySelectorAll("g.edge > path.line")) lines[path.parentNode.id] = numbersOf(path.getAttribute("d"));
  for (const frame of root.querySelectorAll("g.cluster > rect")) boxes.push(["x", "y", "width", "height"].map((name) => Number(frame.getAttribute(name))));
  const ranges = boxes.map(([, y, , h]) => [y, y + h]).sort((a, b) => a[0] - b[0]), gaps = [];
  const middle = (id) => { const [, y, , h] = picture.nodes[id]?.at ?? picture.frames?.[id] ?? []; return y + h / 2; }, inOrder = (...pair) => pair.sort((a, b) => a - b);
  const arrows = Object.entries(lines).map(([id, p]) => {
    const { from, to } = picture.edges[id], at = inOrder(p[1], p.at(-1)), boxes = inOrder(middle(from), middle(to));
    return { at, boxes: boxes.includes(NaN) ? at : boxes }; // an arrow to or from a box that is not drawn
  });
  let end = ranges[0][1];
  for (const [from, to] of ranges) {
    if (from > end + HEADS) { // a cut passes between the arrow ends at the boxes above it and those at the boxes below it
      const low = Math.max(end, ...arrows.filter(({ at, boxes }) => boxes[0] < end && at[0] < from).map(({ at }) => at[0]));
      const high = Math.min(from, ...arrows.filter(({ at, boxes }) => boxes[1] > from && at[1] > end).map(({ at }) => at[1]));
      if (low < high) gaps.push([(low + high) / 2, arrows.filter(({ boxes }) => boxes[0] < end && boxes[1] > from).length]);
    }
    end = Math.max(end, to);
  }
  return (picture.geometry = { lines, gaps, sets: {} });
}

// Where to cut for k columns: minimise the height of the tallest column, plus a price for every cut arrow beyond the first.
function cuts(picture, k) {
  const { gaps } = geometry(picture), at = [0, ...gaps.map(([y]) => y), picture.height], price = [0, ...gaps.map(([, n]) => 24 * (n - 1) + 0.001), 0];
  if (at.length < k + 1) return null;
  let best = at.slice();
  const from = [];
  for (let c = 2; c <= k; c++) {
    const now = Array(at.length).fill(Infinity), back = Array(at.length).fill(-1);
    for (let j = c; j < at.length; j++) for (let i = c - 1; i < j; i++) {
      const tallest = Math.max(best[i], at[j] - at[i] + price[i]);
      if (tallest < now[j]) { now[j] = tallest; back[j] = i; }
    }
    best = now;
    from.push(back);
  }
  const out = [];
  for (let c = k - 2, j = at.length - 1; c >= 0; c--) { j = from[c][j]; if (j < 1) return null; out.unshift(at[j]); }
  return out;
}

// Splits one Bézier segment [x0, y0 ... x3, y3] in two at t.
export function halves(p, t) {
  const mid = (a, b) => a + (b - a) * t, first = [], second = [];
  for (const o of [0, 1]) {
    const [a, b, c, d] = [p[o], p[2 + o], p[4 + o], p[6 + o]], ab = mid(a, b), bc = mid(b, c), cd = mid(c, d), l = mid(ab, bc), r = mid(bc, cd), m = mid(l, r);
    [a, ab, l, m].forEach((x, i) => { first[2 * i + o] = x; });
    [m, r, cd, d].forEach((x, i) => { second[2 * i + o] = x; });
  }
  return [first, second];
}

const flipped = (p) => { const out = []; for (let i = p.length - 2; i >= 0; i -= 2) out.push(p[i], p[i + 1]); return out; }, goesUp = (p) => p[1] > p[p.length - 1];

// An arrow, from its upper end, split into the pieces that lie in one column each: [[column, points], ...]
function pieces(points, cut, columnOf) {
  const todo = [], out = [];
  for (let i = 0; i + 7 < points.length; i += 6) todo.push(points.slice(i, i + 8));
  while (todo.length) {
    let p = todo.shift();
    const a = Math.max(out.at(-1)?.[0] ?? 0, columnOf(p[1] + 0.01)), b = columnOf(p[7] - 0.01);
    if (a < b) {
      let low = 0, high = 1;
      for (let i = 0; i < 22; i++) { const t = (low + high) / 2; halves(p, t)[0][7] < cut[a] ? (low = t) : (high = t); }
      const [first, rest] = halves(p, (low + high) / 2);
      first[7] = cut[a]; rest[1] = cut[a] + 0.02;
      todo.unshift(rest);
      p = first;
    }
    const last = out.at(-1);
    last?.[0] === a ? last[1].push(...p.slice(2)) : out.push([a, p.slice()]);
  }
  return out;
}

// The picture in k columns: its size, how far each height is moved, and each arrow redrawn. Null if it cannot be cut.
export function columns(picture, k) {
  const known = geometry(picture);
  if (k in known.sets) return known.sets[k];
  const cut = k === 1 ? [] : cuts(picture, k);
  if (!cut) return (known.sets[k] = null);
  const columnOf = (y) => { let c = 0; while (c < cut.length && y > cut[c]) c++; return c; };
  const set = Array.from({ length: k }, (_, c) => ({ top: c ? cut[c - 1] : 0, end: c < k - 1 ? cut[c] : picture.height, low: Infinity, high: -Infinity, crossed: 0 }));
  const stretch = (c, x) => { set[c].low = Math.min(set[c].low, x); set[c].high = Math.max(set[c].high, x); };
  // a step's number sticks out on the left
  for (const { at: [x, y, w, h] } of Object.values(picture.nodes)) { const c = columnOf(y + h / 2); stretch(c, x - 16); stretch(c, x + w + 6); }
  for (const [x, y, w, h] of Object.values(picture.frames || {})) { const c = columnOf(y + h / 2); stretch(c, x - 6); stretch(c, x + w + 6); }
  const cutUp = {};
  for (const [id, points] of Object.entries(known.lines)) {
    cutUp[id] = pieces(goesUp(points) ? flipped(points) : points, cut, columnOf);
    cutUp[id].forEach(([c, p], i) => { for (let j = 0; j < p.length; j += 2) stretch(c, p[j]); if (i) set[c].crossed++; });
  }
  let x = 8, height = 0;
  set.forEach((column, c) => {
    const lanes = LANE * Math.max(0, column.crossed - 1);
    x += c ? GAP + lanes : 0;
    column.gutter = x - GAP / 2 - lanes;
    column.move = [x - column.low, (k > 1 ? GUTTER : 0) - column.top];
    x += column.high - column.low;
    column.bottom = column.end + column.move[1];
    height = Math.max(height, column.bottom);
  });
  const lanes = set.map(() => 0), edges = {}, text = (q) => q.map((v) => v.toFixed(1)).join(" ");
  for (const [id, all] of Object.entries(cutUp)) {
    const path = [], corner = (cx, cy, x, y) => { const [fx, fy] = path.slice(-2); path.push(fx + (cx - fx) / 3, fy + (cy - fy) / 3, cx, cy, x, y); }; // towards (cx, cy), then around the corner
    all.forEach(([c, points], i) => {
      const [dx, dy] = set[c].move, q = points.map((v, j) => v + (j % 2 ? dy : dx));
      if (!i) { path.push(...q); return; }
      // down, through the gutter, and over the top into this column
      const lane = lanes[c]++, gutter = set[c].gutter + lane * LANE, low = set[c - 1].bottom + 3 + (lane % 2) * 4, top = 5 + (lane % 2) * 4, [px] = path.slice(-2), [qx] = q, r = 5, way = px < gutter ? r : -r;
      for (const [x, y, ...bend] of [[px, low - r, px, low, px + way, low], [gutter - r, low, gutter, low, gutter, low - r], [gutter, top + r, gutter, top, gutter + r, top], [qx - r, top, qx, top, qx, top + r]]) { corner(x, y, x, y); corner(...bend); }
      corner(...q.slice(0, 2), ...q.slice(0, 2));
      path.push(...q.slice(2));
      height = Math.max(height, low + 3);
    });
    const moves = all.map(([c]) => set[c].move), way = goesUp(known.lines[id]) ? (moves.reverse(), flipped(path)) : path; // its head is at its end
    edges[id] = { d: `M${text(way.slice(0, 2))}C${text(way.slice(2))}`, moves };
  }
  const moveAt = (y) => set[columnOf(y)].move, crossed = set.reduce((n, column) => n + Math.max(0, column.crossed - 1), 0);
  return (known.sets[k] = { width: k > 1 ? x + 8 : picture.width, height: k > 1 ? height + 12 : picture.height, edges, moveAt, crossed });
}

// The picture in k columns, computed once; it is used like any other picture.
export function inColumns(picture, k) {
  const set = columns(picture, k);
  if (k === 1 || set.made) return set.made ?? picture;
  const { root, groupOf, finished } = anew(picture), nodes = {}, edges = {}, frames = {};
  for (const [id, node] of Object.entries(picture.nodes)) nodes[id] = movedNode(groupOf(id), node, ...set.moveAt(node.at[1] + node.at[3] / 2));
  for (const frame of root.querySelectorAll(".cluster, .over")) { const move = set.moveAt(Number(frame.querySelector("rect").getAttribute("y"))); for (const part of frame.children) moved(part, ...move); }
  for (const [id, [x, y, ...size]] of Object.entries(picture.frames || {})) { const [dx, dy] = set.moveAt(y); frames[id] = [x + dx, y + dy, ...size]; }
  for (const [id, edge] of Object.entries(picture.edges)) {
    edges[id] = edge;
    if (!set.edges[id]) continue;
    const { d, moves } = set.edges[id], group = groupOf(id);
    group.querySelector(".line").setAttribute("d", d);
    for (const part of group.querySelectorAll(".head, .hook")) moved(part, ...moves.at(-1));
    if (!edge.label_box) continue;
    const [x, y, w, h] = edge.label_box, [dx, dy] = moves.length > 1 ? set.moveAt(y + h / 2) : moves[0];
    edges[id] = { ...edge, label_box: [x + dx, y + dy, w, h] };
  }
  return (set.made = finished(set.width, set.height, { nodes, edges, ...(picture.frames && { frames }), whole: picture.whole ?? picture, uncut: picture }));
}
