// The picture from the payload, made harmless.

import { SVG } from "./elements.js";

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
