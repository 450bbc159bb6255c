// The picture from the payload, made harmless.

import { s, SVG } from "./elements.js";

const ALLOWED = new Set(["svg", "g", "path", "polygon", "polyline", "ellipse", "circle", "rect", "line", "text", "tspan", "defs", "marker", "linearGradient", "stop"]);
const ATTRIBUTES = new Set(["id", "class", "d", "points", "cx", "cy", "rx", "ry", "r", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "width", "height", "viewBox",
  "transform", "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "opacity", "text-anchor", "font-family", "font-size",
  "font-weight", "font-style", "text-decoration", "textLength", "lengthAdjust", "offset", "stop-color", "xml:space"]);

// Only drawing elements and drawing attributes pass: no script, no on*, no href, no style, no url().
export function cleanSvg(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (parsed.nodeName !== "svg") throw new Error("viz: the picture in the payload is not an SVG");
  const copy = (node) => {
    if (node.nodeName === "a") { // a table cell's anchor: keep what is in it, as a group
      const g = s("g", node.getAttribute("id") ? { id: node.getAttribute("id") } : {});
      for (const child of node.childNodes) { const c = child.nodeType === 1 ? copy(child) : null; if (c) g.append(c); }
      return g;
    }
    if (!ALLOWED.has(node.nodeName)) return null;
    const el = document.createElementNS(SVG, node.nodeName);
    for (const { name, value } of node.attributes) if (ATTRIBUTES.has(name) && !/url\s*\(|javascript:/i.test(value)) el.setAttribute(name, value);
    for (const child of node.childNodes) {
      if (child.nodeType === 3) { if (node.nodeName === "text" || node.nodeName === "tspan") el.append(child.nodeValue); continue; }
      const c = child.nodeType === 1 ? copy(child) : null;
      if (c) el.append(c);
    }
    return el;
  };
  return copy(parsed);
}

// The point half-way along an edge, from its Bézier control points.
export function middleOf(group) {
  const path = group.querySelector("path");
  const n = ((path && path.getAttribute("d")) || "").match(/-?\d*\.?\d+(?:e-?\d+)?/g);
  if (!n || n.length < 4) return null;
  const p = []; for (let i = 0; i + 1 < n.length; i += 2) p.push([Number(n[i]), Number(n[i + 1])]);
  const segments = (p.length - 1) / 3;
  if (segments < 1) return p[Math.floor(p.length / 2)];
  if (segments % 2 === 0) return p[(segments / 2) * 3];
  const [a, b, c, d] = p.slice(((segments - 1) / 2) * 3);
  return [0, 1].map((k) => (a[k] + 3 * b[k] + 3 * c[k] + d[k]) / 8);
}
