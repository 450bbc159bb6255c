// The SVG of a picture: sanitised, and redrawn when its boxes move.

import { s, SVG } from "./elements.js";

const ALLOWED = new Set(["svg", "g", "path", "ellipse", "rect", "text"]);
const ATTRIBUTES = new Set(["id", "class", "d", "cx", "cy", "rx", "ry", "x", "y", "width", "height", "viewBox", "transform", "font-size", "font-weight"]);

// Only drawing elements and drawing attributes pass: no script, no on*, no href, no style, no url().
export function cleanSvg(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (parsed.nodeName !== "svg") throw new Error("viz: the picture in the payload is not an SVG");
  const copy = (node) => {
    if (!ALLOWED.has(node.nodeName)) return null;
    const el = document.createElementNS(SVG, node.nodeName);
    for (const { name, value } of node.attributes) if (ATTRIBUTES.has(name) && !/url\s*\(|javascript:/i.test(value)) el.setAttribute(name, value);
    for (const child of node.childNodes) {
      if (child.nodeType === 3) { if (/^(text|g)$/.test(node.nodeName)) el.append(child.nodeValue); continue; }
      const c = child.nodeType === 1 ? copy(child) : null;
      if (c) el.append(c);
    }
    return el;
  };
  return copy(parsed);
}

export const numbersOf = (d) => (d.match(/-?\d*\.?\d+(?:e-?\d+)?/g) || []).map(Number);

// A copy of a picture to be redrawn: its SVG, its groups by id, and the finished picture, whose size and other differences the caller
// gives. Measurements of the old picture are not copied.
export function anew(picture) {
  const svg = new DOMParser().parseFromString(picture.svg, "image/svg+xml"), root = svg.documentElement;
  const finished = (width, height, differs) => {
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    return { ...picture, svg: new XMLSerializer().serializeToString(root), width, height, geometry: null, least: null, ...differs };
  };
  return { svg, root, groupOf: (id) => root.querySelector(`[id="${id}"]`), finished };
}

// Moves a part of a box or an arrow. A frame, its caption and a hook have coordinates of their own; everything else gets a transformed group.
export function moved(el, dx, dy) {
  if (el.classList.contains("hook")) return el.setAttribute("d", el.getAttribute("d").replace(/^M([^,]+),([^l]+)/, (_, x, y) => `M${Number(x) + dx},${Number(y) + dy}`));
  if (el.closest(".cluster, .over")) for (const [key, by] of [["x", dx], ["y", dy]]) el.setAttribute(key, Number(el.getAttribute(key)) + by);
  else {
    const g = s("g", { transform: `translate(${dx.toFixed(1)} ${dy.toFixed(1)})` });
    el.replaceWith(g);
    g.append(el);
  }
}

// Moves a box with its contents; returns the node as the new picture describes it.
export function movedNode(group, node, dx, dy) {
  for (const part of [...group.children]) moved(part, dx, dy);
  const there = ([x, y, ...size]) => [x + dx, y + dy, ...size];
  return { ...node, at: there(node.at), ...(node.box && { box: Object.fromEntries(Object.entries(node.box).map(([key, at]) => [key, there(at)])) }) };
}
