// Overlays and tooltips: what a box is, and what goes along an edge.

import { h, s, textButton } from "./elements.js";
import { arrayView, number, scaleOf } from "./numbers.js";
import { bytesText } from "./timeline.js";

// The array with the largest number among all that go along an arrow during the pass.
const largest = (entries) => entries.map((entry) => entry.array).filter((array) => array && array.shape).reduce((a, b) => (a && scaleOf(a) >= scaleOf(b) ? a : b), null);

// Shows an element next to a point. In a pane it stays inside the stage, so that it never covers the panels.
export function placeBeside(el, around, x, y) {
  const box = around.getBoundingClientRect();
  el.style.right = "auto";
  el.hidden = false;
  const w = el.offsetWidth, t = el.offsetHeight, left = x - box.left + 14, top = y - box.top + 16;
  el.style.left = `${Math.max(4, Math.min(left, box.width - w - 6))}px`;
  el.style.top = `${Math.max(4, top + t > box.height - 4 && top > t + 30 ? top - t - 30 : Math.min(top, box.height - t - 6))}px`;
}

export const overlays = {
  setOverlay(name) {
    this.el.dataset.overlay = name;
    this.range = null;
    for (const [id, item] of this.edges) {
      const array = name === "size" && this.time.sendings[id] ? largest(this.entriesOf(id)) : null, line = item.group.querySelector(".line");
      if (line) line.style.strokeWidth = array ? `${this.width_of(array)}px` : "";
    }
    const kept = name === "memory" ? this.keptBy() : new Map(), most = Math.max(...kept.values(), 1);
    for (const [id, item] of this.nodes) {
      item.note?.remove();
      item.note = null;
      const bytes = kept.get(id), shape = item.group.querySelector(".shape");
      if (shape) shape.style.fill = bytes ? `color-mix(in srgb, var(--plus) ${Math.round(4 + 16 * (bytes / most))}%, var(--bg))` : "";
      if (!bytes || !item.bounds) continue;
      const { x, y, width, height } = item.bounds, text = bytesText(bytes), w = 8 + 5.6 * text.length;
      item.note = s("g", { class: "mgv-bytes mgv-badge", "data-bytes": bytes });
      item.note.append(s("rect", { x: x + width - w, y: y + height - 4, width: w, height: 14, rx: 3 }), s("text", { x: x + width - w / 2, y: y + height + 6.5, "text-anchor": "middle" }, text));
      item.group.append(item.note);
    }
    this.looks?.mark();
    this.legend(name);
  },

  // The gradients that go along an arrow: all of them, or while questions are asked those already sent.
  entriesOf(id) { const all = this.time.sendings[id]; return this.asking ? all.filter(({ at }) => at <= this.limit) : all; },

  // Bytes saved by each box of the picture: for a folded box their sum, for a tensor next to its function nothing.
  keptBy() {
    const sum = (id) => (this.time.mirrors[id] ? 0 : this.time.members[id].reduce((n, f) => n + (this.bytes.get(f) ?? 0), 0));
    return new Map([...this.nodes.keys()].map((id) => [id, sum(id)]).filter(([, bytes]) => bytes));
  },

  // Edge width by the size of the gradient, on a logarithmic scale from the smallest to the largest of this pass.
  width_of(array) {
    this.range ||= (() => { const sizes = Object.keys(this.time.sendings).map((id) => { const array = largest(this.entriesOf(id)); return array && scaleOf(array); }).filter(Boolean).map(Math.log10); return [Math.min(...sizes), Math.max(...sizes)]; })();
    const [low, high] = this.range;
    return (1 + 6 * (high > low ? (Math.log10(scaleOf(array)) - low) / (high - low) : 0.5)).toFixed(2);
  },

  legend(name) {
    const text = name === "size" && this.range && Number.isFinite(this.range[0]) ? `Width of an arrow: largest entry of its gradient, from ${number(10 ** this.range[0])} to ${number(10 ** this.range[1])}, logarithmic.`
      : name === "memory" ? `Saved tensors take ${bytesText([...this.bytes.values()].reduce((a, b) => a + b, 0))} until their nodes fire. Parameters, which exist anyway, are not counted.` : "";
    this.overlayNote.textContent = text;
    this.overlayNote.hidden = !text;
  },

  nodeAt(target) {
    const id = target.closest?.("g[data-id]")?.dataset.id;
    return this.nodes.has(id) ? id : null;
  },

  // The part of the picture under a pointer.
  elementsAt(event) {
    const { target } = event, toggle = target.closest("[data-toggle]")?.dataset.toggle, node = this.nodeAt(target), { cut } = target.dataset;
    return { toggle, node, cut, edge: toggle || node || this.options.cut ? null : this.edgeAt(event) };
  },

  showTip(id, event) {
    if (!this.pop.hidden) return;
    this.tip.replaceChildren(...this.summary(id));
    placeBeside(this.tip, this.stage, event.clientX, event.clientY);
  },

  // What is known about a box: its kind, its value, its gradient as far as the pass has come.
  summary(id) {
    const node = this.drawn.nodes[id], known = this.time.members[id].length === 1 ? this.time.gradOf(id, this.k) : null;
    const part = (who, array) => (array ? h("div.part", h("span.subject", who), arrayView(array)) : "");
    const shut = Object.values(this.drawn.folds).includes(id) && !this.canOpen(id);
    return [h("p", h("b", node.name || node.label), node.name && node.label !== node.name ? ` ${String(node.label).replace("torch::autograd::", "")}` : ""),
      node.tooltip ? h("p.note", node.tooltip) : "",
      shut ? h("p.note", "It opens in a live notebook and in a saved page.") : "", part("value", node.value), part("grad", known)];
  },

  // After a click on a box: an outline, a description, and buttons for what can be done next.
  select(id) {
    for (const item of this.nodes.values()) item.group.classList.remove("mgv-selected");
    this.tip.hidden = true;
    this.pop.hidden = true;
    const item = this.nodes.get((this.selected = id));
    if (!item) return;
    item.group.classList.add("mgv-selected");
    const { right, top } = item.group.getBoundingClientRect();
    this.popUp(() => {
      const at = this.time.firings[id] ?? this.time.fired[this.time.members[id][0]], bytes = this.keptBy().get(id), hide = this.asking && this.options.ask === "order" && at?.[0] > this.limit;
      const fires = !at || hide ? null : at.length > 1 ? `steps ${at[0]} to ${at.at(-1)}` : `step ${at[0]}`;
      return [this.summary(id), h("p.note", [fires && `fires in ${fires}`, bytes && `keeps ${bytesText(bytes)} for backward`].filter(Boolean).join(" · ")),
        fires || this.appears.has(id) ? textButton("Go to its step", () => { this.goToNode(id); this.frame.focus({ preventScroll: true }); }) : "", this.canOpen(id) ? textButton("Open", () => this.opens(id)) : ""];
    }, right - 6, top);
    this.pop.inert = true; // so that the second click of a double click reaches the box
    setTimeout(() => { this.pop.inert = false; }, 400);
  },

  // The details, beside a point: `say()` says what they are, now and at every step after it.
  popUp(say, x, y) {
    const close = textButton("Close", () => { this.pop.hidden = true; this.frame.focus({ preventScroll: true }); });
    this.fillPop = () => this.pop.replaceChildren(...say().flat(3), close);
    this.fillPop();
    placeBeside(this.pop, this.stage, x, y);
  },

  // The edge under the pointer, or within a finger's width of it.
  edgeAt(event) {
    for (const [dx, dy] of [[0, 0], [0, 4], [4, 0], [0, -4], [-4, 0], [0, 8], [8, 0], [0, -8], [-8, 0]]) {
      const group = document.elementFromPoint(event.clientX + dx, event.clientY + dy)?.closest("g.edge");
      if (group && this.view.contains(group) && group.dataset.id in this.time.lines && this.time.lines[group.dataset.id].some((edge) => edge in this.time.sent)) return group.dataset.id;
    }
    return null;
  },

  // What goes along an edge, and at which step; for an arrow that stands for several edges, each of them.
  showEdge(id, event) {
    const edges = this.time.lines[id].filter((edge) => edge in this.time.sent);
    const row = (edge) => {
      const all = this.time.sent[edge], known = all.filter((entry) => entry.at <= this.k), step = this.data.steps[all[0].at - 1];
      const out = step.outgoing.find((one) => one.edge === edge);
      return [h("p.subject", h("b", step.name), ` sends to ${this.nodeName(out.to)}`),
        known.length ? known.map((entry) => h("div.part", arrayView(entry.array), h("span.note", `step ${entry.at}`))) : h("p.none", this.asking && this.options.ask === "order" ? "not yet" : `not yet; sent in step ${all[0].at}`)];
    };
    this.popUp(() => [edges.slice(0, 6).map(row), edges.length > 6 ? h("p.note", `and ${edges.length - 6} more`) : ""], event.clientX, event.clientY);
  },
};
