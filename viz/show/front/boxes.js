// A box that stands for several opens in place: the picture is stretched around it, and its contents are put into a frame.
// There is no new layout: the contents were laid out once, and stretching never makes two things overlap.

import { halves } from "./columns.js";
import { s } from "./elements.js";
import { anew, moved, movedNode, numbersOf } from "./svg.js";

const HEAD = 22, PAD = 4; // of the frame: a line for its name, and a margin

// An arrow: `to` maps its points, its ends move with the boxes they touch (`ends`: by how much), its head with its last point,
// and its label with its middle.
function movedEdge(group, edge, to, ends = null) {
  const line = group.querySelector(".line"), v = numbersOf(line.getAttribute("d"));
  let curves = Array.from({ length: (v.length - 2) / 6 }, (_, i) => v.slice(6 * i, 6 * i + 8));
  for (let i = 0; ends && i < 3; i++) curves = curves.flatMap((curve) => halves(curve, 0.5)); // a stretched curve, in pieces, each of which goes where the stretch puts it
  const points = [v.slice(0, 2), ...curves.flatMap((p) => [p.slice(2, 4), p.slice(4, 6), p.slice(6)])], n = points.length;
  // its ends move with their boxes, its middle with the stretch; the points between are interpolated
  const mix = (at, end, i) => { const t = end ? Math.max(0, Math.min(1, (i - 1) / (n / 3))) : 1; return at.map((v, o) => (t < 1 ? t * v + (1 - t) * end[o] : v)); };
  const pairs = points.map(([x, y], i) => { const [tx, ty] = to(x, y), [dx, dy] = mix(mix([tx - x, ty - y], ends?.[0], i), ends?.[1], n - 1 - i); return [x + dx, y + dy]; });
  const text = (list) => list.map((p) => p.map((x) => x.toFixed(1)).join(",")).join(" "), last = pairs[n - 1], tip = v.slice(-2);
  line.setAttribute("d", `M${text(pairs.slice(0, 1))}C${text(pairs.slice(1))}`);
  for (const part of group.querySelectorAll(".head, .hook")) moved(part, last[0] - tip[0], last[1] - tip[1]);
  if (!edge.label_box) return edge;
  const [x, y, w, h] = edge.label_box, [cx, cy] = to(x + w / 2, y + h / 2);
  return { ...edge, label_box: [cx - w / 2, cy - h / 2, w, h] };
}

// The picture with some of its boxes open, and where their frames are. `set` may first lay out each picture again, with
// the space that its open boxes take.
export function opened(picture, open, set, depth = 0) {
  const boxes = [...open].filter((id) => id in (picture.insides || {})), insides = Object.fromEntries(boxes.map((id) => [id, opened(picture.insides[id], open, set, depth + 1)]));
  const said = (id) => picture.nodes[id].name.replace(/^(.{27})..+/, "$1…");
  const need = (id, axis) => (axis ? insides[id].height + HEAD : Math.max(insides[id].width, 6.6 * said(id).length + 44)) + 2 * PAD;
  picture = set?.(picture, depth, boxes, need) ?? picture;
  if (!boxes.length) return picture;
  const { svg, root, groupOf, finished } = anew(picture), first = root.firstElementChild, nodes = {}, edges = {}, frames = {};
  const along = (axis) => {
    const grows = boxes.map((id) => { const { at } = picture.nodes[id]; return [at[axis], at[axis] + at[axis + 2], Math.max(0, need(id, axis) / at[axis + 2] - 1)]; });
    const ends = grows.flatMap(([from, to]) => [from, to]).sort((a, b) => a - b); // boxes above one another share the space that one of them needs
    const parts = ends.slice(1).map((to, i) => [ends[i], to, Math.max(0, ...grows.filter(([a, b]) => a <= ends[i] && to <= b).map(([, , slope]) => slope))]);
    return (v) => parts.reduce((sum, [from, to, slope]) => sum + slope * Math.max(0, Math.min(to, v) - from), v);
  };
  const X = along(0), Y = along(1);
  const by = {}; // how far a box that stays closed moves; its size does not change
  for (const [id, { at: [x, y, w, h] }] of Object.entries(picture.nodes)) if (!boxes.includes(id)) by[id] = [X(x + w / 2) - w / 2 - x, Y(y + h / 2) - h / 2 - y];
  for (const [id, edge] of Object.entries(picture.edges)) { const group = groupOf(id); edges[id] = group ? movedEdge(group, edge, (x, y) => [X(x), Y(y)], [by[edge.from], by[edge.to]]) : edge; }
  for (const [id, node] of Object.entries(picture.nodes)) {
    const [x, y, w, h] = node.at, group = groupOf(id);
    if (by[id]) { nodes[id] = movedNode(group, node, ...by[id]); continue; }
    // the frame is as large as the space made for it, which other open boxes may have enlarged
    const wide = X(x + w) - X(x), tall = Y(y + h) - Y(y), inner = insides[id], left = X(x) + (wide - inner.width) / 2, top = Y(y) + HEAD + PAD + (tall - HEAD - 2 * PAD - inner.height) / 2;
    const frame = s("g", { class: "cluster", id: `open-${id}` });
    frame.append(s("rect", { class: "shape", x: X(x), y: Y(y), width: wide, height: tall, rx: 9 }), s("text", { class: "caption", x: X(x) + wide / 2, y: Y(y) + 16, "font-size": 12, "font-weight": 600, "text-anchor": "middle" }, said(id)));
    root.insertBefore(frame, first);
    group.remove();
    frames[id] = [X(x), Y(y), wide, tall];
    for (const [own, [fx, fy, ...size]] of Object.entries(inner.frames || {})) frames[own] = [fx + left, fy + top, ...size];
    for (const part of [...anew(inner).root.children]) {
      const own = part.getAttribute("id"), here = root.appendChild(svg.importNode(part, true));
      if (own in inner.edges) edges[own] = movedEdge(here, inner.edges[own], (px, py) => [px + left, py + top]);
      else if (own in inner.nodes) nodes[own] = movedNode(here, inner.nodes[own], left, top);
      else for (const child of here.children) moved(child, left, top); // a frame
    }
  }
  const folds = Object.fromEntries(Object.entries(picture.folds).filter(([, box]) => !boxes.includes(box)));
  const all = Object.values(insides), join = (own, key) => Object.assign(own, ...all.map((inner) => inner[key]));
  return finished(X(picture.width), Y(picture.height), { nodes, edges, frames, folds: join(folds, "folds"), lines: join({ ...picture.lines }, "lines"), insides: join({ ...picture.insides }, "insides") });
}
