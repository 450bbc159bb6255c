// Builds the picture in the pane once, and updates it at each step.

import { halves } from "./columns.js";
import { h, keepKeys, s } from "./elements.js";
import { arrayText, grid, number, paintBox, paintCells } from "./numbers.js";
import { cleanSvg, numbersOf } from "./svg.js";

export const painting = {
  buildPicture() {
    const svg = cleanSvg(this.drawn.svg);
    for (const name of ["width", "height"]) svg.removeAttribute(name);
    svg.setAttribute("role", Object.keys(this.drawn.folds).length ? "group" : "img"); // an element with the role img hides its buttons from screen readers
    svg.setAttribute("aria-label", `Graph of ${this.data.title || "a tensor"}: ${Object.keys(this.drawn.nodes).length} boxes`);
    svg.setAttribute("class", "mgv-svg");
    this.nodes = new Map();
    this.edges = new Map();
    const frames = [];
    for (const group of svg.querySelectorAll("g[id]")) {
      const id = group.getAttribute("id");
      if (id.startsWith("open-")) frames.push([id.slice(5), group]);
      group.removeAttribute("id"); // several panes on one page must not share ids
      const known = id in this.drawn.nodes ? this.nodes : id in this.drawn.edges ? this.edges : null;
      if (!known) continue;
      group.dataset.id = id;
      known.set(id, { group, base: group.getAttribute("class") || "", state: "", grad: null, badge: null });
    }
    for (const [id, item] of this.nodes) {
      const node = this.drawn.nodes[id];
      item.bounds = node.at ? { x: node.at[0], y: node.at[1], width: node.at[2], height: node.at[3] } : null;
      if (node.box?.value && node.value?.shape) item.group.append((item.value = paintBox(node.value, ...node.box.value, this.least)));
    }
    // when a node or an edge appears in the forward pass
    this.appears = new Map();
    this.forward.forEach((made, i) => made.nodes.forEach((id) => this.appears.set(id, i + 1)));
    for (const [id, edge] of Object.entries(this.drawn.edges)) this.appears.set(id, Math.max(this.appears.get(edge.from) || 0, this.appears.get(edge.to) || 0));
    const box = (svg.getAttribute("viewBox") || `0 0 ${this.drawn.width} ${this.drawn.height}`).split(/[ ,]+/).map(Number);
    this.size = [box[2], box[3]];
    for (const [id, { group, bounds }] of this.nodes) if (this.canOpen(id)) group.append(this.opener(id, this.drawn.nodes[id].name, false, bounds.x + bounds.width - 2, bounds.y + 1));
    for (const [id, group] of frames) { const [x, y, wide] = this.drawn.frames[id]; group.append(this.opener(id, group.textContent, true, x + wide - 13, y + 13)); }
    this.clearLabels([...svg.querySelectorAll("g.cluster text")].map((text) => [...["x", "y"].map((name) => Number(text.getAttribute(name))), 6.6 * text.textContent.length]));
    return svg;
  },

  // Places the labels on the arrows where they overlap least. Each obstacle: its middle, its size, its cost, and the item it belongs to.
  clearLabels(captions) {
    const { nodes, edges } = this, around = (this.around = []), box = (x, y, w, h, price, of) => around.push([x + w / 2, y + h / 2, w, h, price, of]);
    const several = new Set(Object.values(this.drawn.folds ?? {}));
    for (const [id, { bounds, group }] of nodes) {
      if (!bounds) continue;
      const { x, y, width, height } = bounds;
      several.has(id) ? box(x, y - 6, width + 6, height + 6, 9) : box(x, y, width, height, 9); // a folded box has a second outline behind it
      box(x - 8, y - 9, several.has(id) ? 56 : 34, 17, 3); // the number of its step, or of its first and last step
      if (group.querySelector(".mgv-open")) box(x + width - 10, y - 7, 16, 16, 9);
    }
    for (const [x, y, w] of captions) box(x - w / 2, y - 12, w, 15, 9);
    for (const [id, item] of edges) {
      const way = edges.size <= 80 ? this.pathOf(item) : []; // with more edges there are no labels: an arrow shows its gradient only at its own step
      way.forEach(([x, y], i) => (way[i + 1] ? box(x, y, 0, 0, 1, item) : box(x - 5, y - 5, 10, 10, 3)));
      for (const hook of item.group.querySelectorAll(".hook")) { const [x, y] = numbersOf(hook.getAttribute("d")); box(x - 6, y - 1, 12, 12, 3); } // its path begins at the top
      const labelled = this.drawn.edges[id].label_box;
      if (labelled) box(...labelled, 9, id);
    }
    for (const [x, y, w, h, , id] of around.filter((one) => edges.has(one[5]))) {
      const item = edges.get(id), label = item.group.querySelector(".label"), [left, top] = this.drawn.edges[id].label_box;
      item.spot = this.clear(id, w, h, [x, y]);
      label.replaceChildren(s("rect", { class: "label-bg", x: left + 3, y: top + 1, width: w - 6, height: h - 2, rx: 4 }), s("text", { class: "label-text", x: left + w / 2, y: top + h / 2 + 3.5, "font-size": 10 }, label.textContent));
      label.setAttribute("display", item.spot[2] >= 1 ? "none" : "inline"); // if it overlaps something wherever it is put, it is hidden; the panels show it
      label.setAttribute("transform", `translate(${item.spot[0] - left - w / 2} ${item.spot[1] - top - h / 2})`);
    }
  },

  // Points along an arrow, about 3 apart.
  pathOf(item) {
    if (item.way) return item.way;
    const v = numbersOf(item.group.querySelector(".line")?.getAttribute("d") ?? ""), way = (item.way = []);
    for (let i = 0; i + 7 < v.length; i += 6) {
      const count = Math.max(2, Math.ceil(Math.hypot(v[i + 6] - v[i], v[i + 7] - v[i + 1]) / 3));
      for (let k = i ? 1 : 0; k <= count; k++) way.push(halves(v.slice(i, i + 8), k / count)[0].slice(6));
    }
    return way;
  },

  // Where a label of this size overlaps least, on its arrow or beside it, and how much. `from`: its present place, which it keeps if nothing overlaps there.
  clear(id, w, h, from) {
    const item = this.edges.get(id), way = this.pathOf(item), start = from ?? way[way.length >> 1], ends = [[w, 0], [h, 1]].map(([by, o]) => { const at = [start[o], ...way.map((p) => p[o])]; return [Math.min(...at) - 1.5 * by - 9, Math.max(...at) + 1.5 * by + 9]; });
    const [[low, high], [top, end]] = ends, others = (this.around = this.around.filter((one) => one[5] !== id));
    const near = others.filter(([x, y, wide, tall, , of]) => of !== item && x + wide / 2 > low && x - wide / 2 < high && y + tall / 2 > top && y - tall / 2 < end).sort((a, b) => b[4] - a[4]); // the most expensive first
    const trouble = (x, y, most, more) => { // stops once the cost reaches the limit
      let n = more + (x < w / 2 || y < h / 2 || x > this.size[0] - w / 2 || y > this.size[1] - h / 2 ? 9 : 0) + Math.hypot(x - start[0], y - start[1]) / 300;
      for (let i = 0; i < near.length && n < most; i++) { const one = near[i]; if (Math.abs(x - one[0]) < (w + one[2]) / 2 + 1 && Math.abs(y - one[1]) < (h + one[3]) / 2 + 1) n += one[4]; }
      return n;
    };
    let best = [...start.slice(0, 2), trouble(...start.slice(0, 2), Infinity, 0)];
    if (best[2] >= 1) for (const [x, y] of way.slice(way.length >> 3)) for (const [dx, dy] of [[0, 0], [w / 2 + 7, 0], [-w / 2 - 7, 0], [w / 4, 0], [-w / 4, 0], [0, -h / 2 - 8], [0, h / 2 + 8]]) {
      const price = trouble(x + dx, y + dy, best[2], dx || dy ? 0.2 : 0);
      if (price < best[2]) best = [x + dx, y + dy, price];
    }
    others.push([best[0], best[1], w, h, 9, id]);
    return best;
  },

  // Whether the contents of a box fit where the box is. A wide window can scroll; in a narrow one nothing may be wider than the window.
  hasRoom(id) {
    const picture = this.base?.nodes[id] ? this.base : this.drawn.uncut ?? this.drawn, inside = picture.insides?.[id], room = this.el.clientWidth || window.innerWidth;
    return !inside || room >= 600 || picture.width + Math.max(0, Math.max(inside.width, 6.6 * Math.min(28, picture.nodes[id].name.length) + 44) + 12 - picture.nodes[id].at[2]) <= room - 18;
  },

  // The button on a box that opens in place, and the one on its frame that closes it.
  opener(id, name, open, x, y) {
    const g = s("g", { class: "mgv-open", "data-toggle": id, tabindex: 0, role: "button", "aria-expanded": open, "aria-label": `${open ? "Close" : "Open"} ${name}` });
    g.append(s("circle", { cx: x, cy: y, r: 8 }), s("path", { d: `M${x - 4} ${y}h8${open ? "" : `M${x} ${y - 4}v8`}` }));
    keepKeys({ target: g });
    return g;
  },

  canOpen(id) { return Object.values(this.drawn.folds).includes(id) && (Boolean(this.options.opens) || id in (this.drawn.insides || {})) && this.hasRoom(id); },

  // A double click opens a box and does nothing else.
  opens(id) {
    if (!id || !this.canOpen(id)) return;
    this.pop.hidden = true;
    this.tip.hidden = true;
    this.toggle(id);
  },

  // Repaints the arrays in the boxes, with letters no smaller than `least`.
  rewrite(least) {
    this.least = least;
    for (const [id, item] of this.nodes) {
      const node = this.drawn.nodes[id], again = (old, array, box) => { const el = paintBox(array, ...box, least); old.replaceWith(el); return el; };
      if (item.value) item.value = again(item.value, node.value, node.box.value);
      if (item.cells && item.grad.shape) item.cells = again(item.cells, item.grad, node.box.grad);
    }
  },

  // Opens or closes a box, and zooms to its contents; when it closes, its corner stays where it was.
  toggle(id, then = () => {}) {
    if (!this.open.has(id) && !(id in (this.drawn.insides || {}))) return this.fetch(id, then);
    const corner = () => this.picture.querySelector(`[data-toggle="${id}"]`)?.parentNode.querySelector(".shape:last-of-type, rect").getBoundingClientRect(), before = corner();
    if (!this.open.size) this.base = this.drawn.whole ?? this.drawn;
    this.open.delete(id) || this.open.add(id);
    this.layOutPane(true);
    const after = corner(), button = this.picture.querySelector(`[data-toggle="${id}"]`);
    if (this.open.has(id)) this.zoomTo(id);
    else if (before && after) { this.view.scrollLeft += after.left - before.left; this.view.scrollTop += after.top - before.top; }
    this.showCrumbs();
    this.markFound();
    if (document.activeElement !== this.finder) button?.focus({ preventScroll: true }); // the focus stays in the search field
  },

  // Paints the picture as it is after step k. From one step of the pass to the next, only what changes is touched.
  paint(k, at) {
    const from = this.painted, steps = Math.abs(k - from), { changes } = this.time, ids = new Set();
    this.painted = this.ahead || this.options.ask === "order" ? null : k; // everything is repainted during the forward pass and when the question is which node is ready
    if (this.painted === null || from === null || steps > 40) for (const id of [...this.nodes.keys(), ...this.edges.keys()]) ids.add(id);
    else for (let i = Math.min(k, from) + 1; i <= Math.max(k, from); i++) for (const id of changes[i] || []) ids.add(id);
    const made = k < 0 && at > 0 ? this.forward[at - 1].nodes : [];
    const hidden = this.asking && this.options.ask === "order" && k >= this.limit; // which nodes are ready is the question
    for (const id of ids) this.nodes.has(id) ? this.paintNode(id, k, at, made, hidden) : this.edges.has(id) && this.paintEdge(id, k, at);
    this.travel?.(k, from);
  },

  paintNode(id, k, at, made, hidden) {
    const { time } = this, item = this.nodes.get(id), { box } = this.drawn.nodes[id];
    let state = k >= 0 ? time.nodeState(id, k) : this.appears.get(id) > at ? "mgv-future" : made.includes(id) ? "mgv-made" : "";
    if (hidden && (state === "mgv-ready" || state === "mgv-waiting")) state = "";
    if (state !== item.state) {
      const kept = ["mgv-found", "mgv-selected"].filter((name) => item.group.classList.contains(name));
      item.group.setAttribute("class", [item.base, state, ...kept].filter(Boolean).join(" "));
      item.state = state;
      this.number(id, item, k);
    }
    if (!box || !box.grad) return;
    const want = time.gradOf(id, k) ?? this.heldBefore?.(id) ?? null;
    if (want === item.grad) return;
    item.cells?.remove();
    const [x, y, w, t] = box.grad;
    item.cells = want === "None" ? s("text", { class: "note", x: x + w / 2, y: y + t / 2 + 3.5, "font-size": 10 }, want) : want && want.shape ? paintBox(want, x, y, w, t, this.least) : null;
    if (item.cells) item.group.append(item.cells);
    item.grad = want;
  },

  paintEdge(id, k, at) {
    const { time } = this, item = this.edges.get(id);
    const state = k >= 0 ? time.edgeState(id, k) : this.appears.get(id) > at ? "mgv-future" : "";
    const sent = k > 0 && state && (this.writtenOn?.(id) ?? true) && (state === "mgv-active" || ((this.drawn.edges[id].label_box || this.drawn.view === "lanes") && this.edges.size <= 80)) ? time.sentAlong(id, k) : [];
    if (state !== item.state) item.group.setAttribute("class", state ? `${item.base} ${state}` : item.base);
    item.state = state;
    if (sent.length || item.sent) this.label(id, item, sent);
  },

  // Writes the order in which nodes fired on them: "done" is shown by a number, not by colour alone.
  number(id, item, k) {
    const at = this.time.first(id), last = this.time.last(id);
    const want = at !== undefined && at <= k && !(this.drawn.view === "lanes" && this.drawn.nodes[id].function !== id); // once for each function
    if (want && !item.badge && item.bounds) {
      const { x, y, width, height } = item.bounds;
      const check = this.data.steps[at - 1].check; // its gradient compared with a finite difference: a tick or an exclamation mark
      const text = (last > at ? `${at}–${last}` : String(at)) + ((this.data.differs || {})[at] ? "≠" : "") + (check && !check.ok ? "!" : ""), mark = check && check.ok ? 9 : 0, w = 8 + 5.5 * text.length + mark;
      const diamond = /\baccumulate\b/.test(item.base), round = /\bfunction\b/.test(item.base) && this.drawn.view === "graph";
      const [dx, dy] = diamond ? [0.24, 0.2] : round ? [0.12, 0.1] : [0.01, /\balias\b/.test(item.base) ? -0.04 : 0.02];
      const above = this.drawn.view === "lanes" && /\bfunction\b/.test(item.base), cx = above ? x + width / 2 : Math.max(x + width * dx, x - 8 + w / 2), cy = above ? y - 8 : y + height * dy; // it may stick out of its own box, but not over the next one
      item.badge = s("g", { class: check && !check.ok ? "mgv-order mgv-badge wrong" : "mgv-order mgv-badge" });
      item.badge.append(s("rect", { x: cx - w / 2, y: cy - 7, width: w, height: 14, rx: 7 }), s("text", { x: cx - mark / 2, y: cy + 3.2, "text-anchor": "middle" }, text));
      if (mark) item.badge.append(s("path", { d: `M${cx + w / 2 - 11} ${cy + 0.4}l2.2 2.4l4 -5` }), s("title", {}, check.text));
      item.group.append(item.badge);
    } else if (!want && item.badge) {
      item.badge.remove();
      item.badge = null;
    }
  },

  // Writes the gradient on an arrow instead of its label. Two gradients that go along one arrow of a folded picture in one step are counted.
  label(id, item, sent) {
    const array = sent.length === 1 ? sent[0].array : null;
    item.group.classList.toggle("mgv-has-label", Boolean(sent.length && (array || sent.length > 1)));
    const key = sent.length > 1 ? sent.length : array;
    if (key === item.sent) return;
    item.label?.remove();
    item.label = null;
    item.sent = key;
    if (!this.drawn.edges[id].label_box) this.around = this.around.filter((one) => one[5] !== id);
    if (!key || (array && !array.shape)) return;
    const written = sent.length > 1 ? `${sent.length} gradients` : array.values && array.values.length === 1 ? number(array.values[0]) : null;
    const { rows, cols } = written === null ? grid(array) : {};
    if (written === null && (!rows || !cols)) return;
    let w, h, middle;
    for (const most of [24, 17, 12]) { // as large as fits
      const side = Math.min(7, most / Math.max(rows, cols));
      [w, h] = written === null ? [cols * side + 5, rows * side + 5] : [8 + 5.6 * written.length, 15];
      middle = this.clear(id, written === null ? w : 1.2 * w, written === null ? h : 18, item.spot);
      if (middle[2] < 3) break;
    }
    if (middle[2] >= 2) return; // no space on this arrow: the panels show the gradient
    const x = middle[0] - w / 2, y = middle[1] - h / 2;
    item.label = s("g", { class: written === null ? "mgv-label" : "mgv-label mgv-badge", "data-sent": sent.map((entry) => entry.array ? arrayText(entry.array) : "").join("; ") });
    item.label.append(s("rect", { x, y, width: w, height: h, rx: written === null ? 2.5 : 4, class: "plate" }));
    item.label.append(written === null ? paintCells(array, x + 2.5, y + 2.5, w - 5, h - 5, 0.5) : s("text", { x: x + w / 2, y: y + 10.8, "text-anchor": "middle" }, written));
    item.group.append(item.label);
  },

  // The first number that is not finite, in the order of the steps: where it arises, not where it ends up.
  badNote() {
    const bad = (a) => a && a.nonfinite > 0;
    for (const [id, item] of this.nodes) if (bad(this.drawn.nodes[id].value)) { item.group.classList.add("mgv-bad"); item.base += " mgv-bad"; }
    const step = this.data.steps[(this.badAt = this.data.steps.findIndex((step) => bad(step.total) || (step.outgoing || []).some((out) => bad(out.value))))];
    for (const [id, all] of Object.entries(this.time.sendings)) if (all.some((entry) => bad(entry.array))) this.edges.get(id).base += " mgv-bad";
    if (!step) return (this.alarm = null);
    return this.alarm = h("p.alarm", { hidden: this.asking }, "NaN or Inf: the first gradient that is not finite comes out of ", this.chip(step.node));
  },
};
