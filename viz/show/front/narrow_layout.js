// A new arrangement of a picture for a window that is too narrow for it: the same boxes, from top to bottom, as many in a row as fit.
// An arrow that passes a row has a lane in it, so none lies under a box. Python does not send this arrangement; it is computed
// when needed, and a page whose pictures all fit does not include this file.

import { abilities } from "./pane.js";
import { anew, moved, movedNode, numbersOf } from "./svg.js";
import { readable } from "./viewport.js";

const BETWEEN = 18, BESIDE = 11, BELOW = 25, HEAD_LONG = 7, EDGE = [16, 10], SWEEPS = 12, MOST = 60, INSET = 72; // points: between boxes, beside a lane, between rows, of an arrowhead, left (where step numbers stick out) and right; the number of sweeps; the maximum number of boxes; pixels for a frame and the lanes beside it

// Assigns boxes to rows: first those that complete the most arrows, as long as there is space for them and for the lanes of incomplete arrows.
function inRows(boxes, lines, most) {
  const rows = [];
  let ready = boxes.filter((box) => !box.above.length), lanes = 0;
  for (const box of boxes) { box.waits = box.above.length; box.since = 0; }
  while (ready.length) {
    const row = [], opens = (box) => box.below.length - box.above.length;
    let wide = 0, left = lanes;
    for (const box of ready.sort((a, b) => opens(a) - opens(b) || b.since - a.since || a.x - b.x)) {
      const now = left - box.above.length;
      if (row.length && wide + box.w + BETWEEN + now * BESIDE > most) continue;
      row.push(box);
      wide += box.w + BETWEEN;
      left = now;
    }
    ready = ready.filter((box) => !row.includes(box));
    for (const box of row) {
      box.row = rows.length;
      lanes += opens(box);
      for (const line of box.below) if (!--line.low.waits) { line.low.since = rows.length; ready.push(line.low); }
    }
    rows.push(row);
  }
  for (const line of lines) { // the lanes between its two ends
    line.way = [line.high];
    for (let r = line.high.row + 1; r < line.low.row; r++) {
      const t = (r - line.high.row) / (line.low.row - line.high.row), lane = { lane: true, w: 0, x: line.high.x + (line.low.x - line.high.x) * t, next: [] };
      rows[r].push(lane);
      line.way.push(lane);
    }
    line.way.push(line.low);
    line.way.slice(1).forEach((b, i) => { const a = line.way[i], price = a.lane && b.lane ? 8 : 1; a.next.push([b, 1, price]); b.next.push([a, -1, price]); });
  }
  return rows;
}

const apart = (a, b) => (a.w + b.w) / 2 + (a.lane || b.lane ? BESIDE : BETWEEN);

// The positions in a row closest to those the boxes want; boxes that compete for a position share the difference.
function placed(row, most) {
  let at = 0;
  const blocks = [];
  row.forEach((box, i) => {
    at += i ? apart(row[i - 1], box) : 0;
    box.off = at;
    let block = { of: [box], sum: (box.want - at) * box.price, price: box.price };
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).price > block.sum / block.price) {
      const before = blocks.pop();
      block = { of: [...before.of, ...block.of], sum: before.sum + block.sum, price: before.price + block.price };
    }
    blocks.push(block);
  });
  const low = row[0].w / 2, high = Math.max(low, most - at - row.at(-1).w / 2);
  for (const { of, sum, price } of blocks) for (const box of of) box.x = box.off + Math.max(low, Math.min(high, sum / price));
}

function crossings(rows) {
  let n = 0;
  for (const row of rows) {
    const legs = row.flatMap((a, i) => a.next.filter(([, way]) => way > 0).map(([b]) => [i, b.x]));
    legs.forEach(([i, x], k) => { for (const [j, y] of legs.slice(k + 1)) if ((i - j) * (x - y) < 0) n++; });
  }
  return n;
}

// Orders each row by where its arrows come from and lead to, downwards and upwards in turn; keeps the order with the fewest crossings.
function arranged(rows, most) {
  const want = (box, ways) => {
    const near = box.next.filter(([, way]) => ways.includes(way));
    box.price = near.reduce((sum, [, , price]) => sum + price, 0) || 0.1;
    box.want = near.length ? near.reduce((sum, [other, , price]) => sum + price * other.x, 0) / box.price : box.x;
  };
  const sweep = (ways, sorts) => (ways[0] < 0 ? rows : [...rows].reverse()).forEach((row) => {
    for (const box of row) want(box, ways);
    if (sorts) row.sort((a, b) => a.want - b.want);
    placed(row, most);
  });
  let best = null;
  for (const row of rows) row.sort((a, b) => a.x - b.x);
  for (let k = 0; k < SWEEPS; k++) {
    sweep(k % 2 ? [1] : [-1], k);
    const n = crossings(rows);
    if (!best || n < best.n) best = { n, rows: rows.map((row) => [...row]) };
  }
  rows.splice(0, rows.length, ...best.rows);
  for (let k = 0; k < SWEEPS; k++) sweep(k % 2 ? [1, -1] : [-1, 1], false);
}

// Where a line leaves its upper box and reaches its lower one: lines on the same side are spread apart.
function ports(boxes) {
  for (const box of boxes) for (const side of ["above", "below"]) {
    const end = side === "below" ? "from" : "to", other = (line) => line.way.at(side === "below" ? 1 : -2).x;
    const all = box[side].sort((a, b) => other(a) - other(b)), by = Math.min(16, (box.w - 24) / all.length);
    all.forEach((line, i) => { line[end] = box.x + (i - (all.length - 1) / 2) * by; });
  }
}

// A function that arranges a picture in rows, with the space that its open boxes need; inside a frame there is less of it.
abilities.grown = (space) => (picture, depth, boxes, need) => {
  const grown = boxes.map((id) => { const node = picture.nodes[id], [x, y, w, h] = node.at, [wide, tall] = [need(id, 0), need(id, 1)]; return [id, { ...node, at: [x + (w - wide) / 2, y + (h - tall) / 2, wide, tall] }]; });
  const before = boxes.length ? { ...picture, nodes: { ...picture.nodes, ...Object.fromEntries(grown) }, width: Infinity, rows: null } : picture, set = inWidth(before, space - INSET * depth);
  return set === before ? picture : set;
};

// The picture, no wider than `space` if it can then be read and its boxes fit. Unchanged if an arrow joins two boxes at the same height.
function inWidth(picture, space) {
  const most = Math.floor(space / readable(picture));
  if (picture.direction === "LR" || picture.view === "lanes" || picture.frames || picture.width <= most || Object.keys(picture.nodes).length > MOST) return picture;
  if (picture.rows?.most === most) return picture.rows.made;
  const all = Object.entries(picture.nodes).map(([id, { at: [x, y, w, h] }]) => ({ id, x: x + w / 2, y: y + h / 2, w, h, above: [], below: [], next: [] })), of = Object.fromEntries(all.map((box) => [box.id, box]));
  const lines = Object.entries(picture.edges).map(([id, { from, to }]) => { const [a, b] = [of[from], of[to]], up = a.y > b.y; return { id, up, high: up ? b : a, low: up ? a : b }; });
  if (lines.some(({ high, low }) => low.y - high.y < 8)) return picture;
  for (const line of lines) { line.high.below.push(line); line.low.above.push(line); }
  const rows = inRows(all, lines, most - EDGE[0] - EDGE[1]);
  arranged(rows, most - EDGE[0] - EDGE[1]);
  const least = Math.min(...rows.flat().map(({ x, w }) => x - w / 2)) - EDGE[0];
  let y = 12;
  for (const row of rows) {
    const tall = Math.max(0, ...row.map(({ h }) => h ?? 0));
    for (const box of row) Object.assign(box, { x: box.x - least, from: y, till: y + tall, top: y + (box.lane ? 0 : (tall - box.h) / 2), end: y + (box.lane ? tall : (tall + box.h) / 2) });
    y += tall + BELOW;
  }
  ports(all);
  const { root, groupOf, finished } = anew(picture), nodes = {}, edges = {};
  for (const el of root.querySelectorAll(".cluster, .over, .label")) el.remove();
  for (const { id, x, top, w } of all) {
    const node = picture.nodes[id];
    nodes[id] = movedNode(groupOf(id), node, x - w / 2 - node.at[0], top - node.at[1]);
  }
  for (const { id, up, way, from, to } of lines) {
    const { label_box: _, ...edge } = picture.edges[id], el = groupOf(id), line = el?.querySelector(".line"), xs = way.map(({ x }, i) => (i ? (i < way.length - 1 ? x : to) : from));
    edges[id] = edge;
    if (!line) continue;
    const p = [xs[0], way[0].end + (up ? HEAD_LONG : 0)], end = way.at(-1).top - (up ? 0 : HEAD_LONG);
    const go = (x, y) => { const [fx, fy] = p.slice(-2), mid = (fy + y) / 2; if (y > fy + 0.5) p.push(fx, mid, x, mid, x, y); };
    go(xs[0], way[0].till); // straight down beside a taller neighbour
    way.slice(1).forEach((next, i) => { go(xs[i + 1], Math.min(end, next.from)); go(xs[i + 1], Math.min(end, next.till)); });
    const points = up ? p.reduce((out, _v, i) => (i % 2 ? out : [p[i], p[i + 1], ...out]), []) : p, old = numbersOf(line.getAttribute("d")).slice(-4), [x, y] = points.slice(-2);
    line.setAttribute("d", `M${points.slice(0, 2)}C${points.slice(2).map((v) => v.toFixed(1)).join(" ")}`);
    for (const part of el.querySelectorAll(".head, .hook")) {
      const d = part.getAttribute("d"), tip = numbersOf(d), [dx, dy] = (tip.length === 6 ? tip : old).slice(0, 2).map((v, o) => (tip.length === 6 ? v - old[2 + o] : old[2 + o] - v)), long = (up ? -1 : 1) / (Math.hypot(dx, dy) || 1);
      if (/[Aal]/.test(d)) moved(part, x - old[2], y - old[3]); // a hook and a pair of scissors are moved, not rotated
      else part.setAttribute("d", d.replace(/(-?[\d.]+)[ ,](-?[\d.]+)/g, (_all, px, py) => { const [u, v] = [px - old[2], py - old[3]]; return `${(x + (u * dy - v * dx) * long).toFixed(1)},${(y + (u * dx + v * dy) * long).toFixed(1)}`; }));
    }
  }
  const made = finished(Math.max(...rows.flat().map(({ x, w }) => x + w / 2)) + EDGE[1], y - BELOW + 12, { nodes, edges, whole: picture });
  picture.rows = { most, made };
  return made;
}

abilities.inRows = (pictures, space) => pictures.map((picture) => inWidth(picture, space));
