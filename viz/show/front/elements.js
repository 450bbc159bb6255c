// HTML and SVG elements, and the icons. Everything in a payload is untrusted text: it reaches the page only through
// textContent.

export const SVG = "http://www.w3.org/2000/svg";

// Jupyter's shortcuts ("d d" deletes a cell, in Notebook 7 also the arrows) look at the focused element: everything that can have the focus opts out.
export const keepKeys = ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true");

// h("p.note", { role: "status" }, "text", ...): an element of class mgv-note; the properties are optional.
export function h(what, props, ...children) {
  if (props?.constructor !== Object) [props, children] = [{}, [props, ...children]];
  const [tag, ...classes] = what.split("."), el = document.createElement(tag);
  el.className = classes.map((name) => `mgv-${name}`).join(" ");
  for (const [key, value] of Object.entries(tag === "button" ? { type: "button", ...props } : props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") el.className = value;
    else if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else el.setAttribute(key, value === true ? "" : value);
  }
  if (props.tabindex !== undefined || /^(button|input|select)$/.test(tag)) keepKeys({ target: el });
  el.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return el;
}

// A button that looks like a word in the text.
export const textButton = (text, act) => h("button.text-button", { onclick: act }, text);

export function s(tag, attributes = {}, text) {
  const el = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, value);
  if (text !== undefined) el.textContent = text;
  return el;
}

// Puts the given children into an element, in this order; children that are already in place are not touched.
export function arrange(parent, wanted) {
  let there = parent.firstElementChild;
  for (const child of wanted) child === there ? (there = there.nextElementSibling) : parent.insertBefore(child, there);
  while (there) { const next = there.nextElementSibling; there.remove(); there = next; }
}

const ICONS = {
  first: "M4 3v10M13 3 6 8l7 5z",
  back: "M10 3 5 8l5 5",
  play: "M4 2.5 13 8l-9 5.5z",
  pause: "M4.5 3v10M11.5 3v10",
  next: "M6 3l5 5-5 5",
  more: "M3 8h.1M8 8h.1M13 8h.1",
  find: "M7 2.5a4.5 4.5 0 1 1-.01 0M10.5 10.5 14 14",
  full: "M2 6V2h4M14 10v4h-4M10 2h4v4M6 14H2v-4",
  last: "M12 3v10M3 3l7 5-7 5z",
  smaller: "M3 8h10",
  larger: "M3 8h10M8 3v10",
  fit: "M3 5h10v6H3z",
};

export function icon(name) {
  const svg = s("svg", { viewBox: "0 0 16 16", class: `mgv-icon mgv-icon-${name}`, "aria-hidden": "true", focusable: "false" });
  svg.append(s("path", { d: ICONS[name] }));
  return svg;
}
