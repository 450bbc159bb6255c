// The panels: what arrives, the rule, what is sent, .grad of every leaf, the queue, the source.

import { arrange, h } from "./elements.js";
import { arrayView } from "./numbers.js";

const BLOCK = 40; // rows of leaves: a block that is out of sight is not laid out

export const panels = {
  // what is known of a node or a tensor, drawn or folded away
  about(id) { return this.drawn.nodes[id] || this.data.hidden[id] || { kind: "none", label: String(id) }; },

  nodeName(id) {
    const node = this.about(id);
    return this.stores(id, node) ? `${node.name}.grad` : node.name || node.label;
  },

  stores(id, node) { return Boolean(node.name) && (node.kind === "accumulate" || (node.kind === "leaf" && id in this.time.fired)); },

  chip(id, note) {
    const node = this.about(id);
    const short = String(node.label).split("\n")[0].replace(/^torch::autograd::/, "");
    return h("button", { type: "button", class: `mgv-chip ${node.kind}`, title: `Go to ${short}`, onclick: () => this.goToNode(id) },
      node.name ? [h("b", {}, this.nodeName(id)), " "] : null, this.stores(id, node) || short === node.name ? null : h("span", {}, short), note ? h("i", {}, note) : null);
  },

  flowPanel(k) {
    if (k === 0) {
      const seed = this.data.start && this.data.start.seed;
      return seed ? [this.column("Start", h("p", { class: "mgv-note" }, this.data.of === "L" ? `What arrives at ${this.data.title}: the gradient of what follows. The pass starts with it.` : `The gradient of ${this.data.title} with respect to itself. The pass starts with it.`), arrayView(seed))] : [];
    }
    const step = this.data.steps[k - 1];
    return [this.receives(step), this.rule(step), this.sends(step)];
  },

  forwardPanel(at) {
    if (at === 0) return [this.column("Forward", h("p", { class: "mgv-note" }, "Each step runs one operation, makes its result and adds one node to the graph."))];
    const made = this.forward[at - 1];
    const back = this.data.steps.find((step) => step.node === made.node);
    const saved = back ? (back.saved || []).map((item) => h("div", { class: "mgv-part" }, h("span", { class: "mgv-who" }, h("code", {}, item.name), item.label ? ` = ${item.label}` : ""), arrayView(item.value))) : [];
    return [
      this.column("Computes", h("p", { class: "mgv-name" }, h("code", {}, made.operation ? `${made.name} = ${made.operation}` : made.name)), made.value ? arrayView(made.value) : null),
      this.column("Adds to the graph", this.chip(made.node)),
      this.column("Keeps for the way back", saved.length ? saved : h("span", { class: "mgv-none" }, "nothing")),
    ];
  },

  column(title, ...children) {
    return h("section", { class: `mgv-col mgv-col-${title.toLowerCase().replace(/[^a-z]/g, "")}` }, h("h4", {}, title), ...children);
  },

  receives(step, asked) {
    const parts = step.incoming || [];
    const rows = parts.map((part, i) => h("div", { class: "mgv-part" },
      parts.length > 1 ? h("span", { class: "mgv-op" }, i ? "+" : "") : null,
      h("span", { class: "mgv-who" }, part.from ? ["from ", this.nodeName(part.from)] : "the start"), arrayView(part.value ?? step.total)));
    if (asked) rows.push(parts.length > 1 ? h("div", { class: "mgv-part mgv-total" }, h("span", { class: "mgv-op" }, "="), h("span", { class: "mgv-who" }, "?")) : "");
    else if (step.totals) step.totals.forEach((total, nr) => rows.push(h("div", { class: "mgv-part mgv-total" }, h("span", { class: "mgv-op" }, "="), h("span", { class: "mgv-who" }, `total of output ${nr}`), arrayView(total))));
    else if (parts.length > 1 || !parts.length || step.wrong) rows.push(h("div", { class: "mgv-part mgv-total" }, h("span", { class: "mgv-op" }, step.wrong ? "≠" : "="), h("span", { class: "mgv-who" }, step.wrong ? "arrived" : "total"), arrayView(step.total)));
    if (step.wrong) rows.push(h("p", { class: "mgv-note" }, `${step.wrong}.`));
    return this.column("Receives", rows);
  },

  rule(step, asked) {
    const name = h("p", { class: "mgv-name" }, h("code", {}, step.name), step.tensor ? [" of ", h("b", {}, step.tensor)] : null);
    const accumulate = step.accumulate;
    const rules = accumulate
      ? h("p", { class: "mgv-rule" }, h("code", {}, `${step.tensor}.grad ${accumulate.before ? "+=" : "="} grad`))
      : (step.rules || []).map((rule) => h("div", { class: "mgv-rule" },
        h("span", { class: "mgv-input" }, rule.input), rule.math ? h("span", { class: "mgv-math" }, rule.math) : null, rule.code ? h("code", {}, rule.code) : null));
    const saved = (step.saved || []).map((item) => h("div", { class: "mgv-part" },
      h("span", { class: "mgv-who" }, h("code", {}, item.name), item.label ? ` = ${item.label}` : ""), arrayView(item.value)));
    return this.column("Rule", name, rules, saved.length ? [h("h5", {}, step.saved.some(({ value }) => value && value.shape) ? "Saved tensors that it reads" : "Numbers that it keeps"), saved] : null, asked ? null : this.check(step.check));
  },

  check(check) {
    if (!check) return null;
    return h("p", { class: `mgv-check ${check.ok ? "ok" : "wrong"}` }, h("b", {}, check.ok ? "checked" : "check failed"), " ", check.text);
  },

  sends(step) {
    const accumulate = step.accumulate;
    if (accumulate) {
      const line = (op, who, value, extra) => h("div", { class: `mgv-part ${extra || ""}` }, h("span", { class: "mgv-op" }, op), h("span", { class: "mgv-who" }, who), arrayView(value));
      return this.column("Adds to .grad", line("", "before", accumulate.before), line("+", "this pass", step.total), line(accumulate.wrong ? "≠" : "=", `${step.tensor}.grad`, accumulate.after, "mgv-total"),
        accumulate.wrong ? h("p", { class: "mgv-note" }, `${accumulate.wrong}.`) : null);
    }
    const rows = (step.outgoing || []).map((out) => h("div", { class: "mgv-part" },
      h("span", { class: "mgv-who" }, out.to ? ["to ", this.nodeName(out.to)] : h("code", {}, out.input)),
      out.value ? arrayView(out.value) : h("span", { class: "mgv-not" }, out.reason || "not computed"),
      out.reduced ? h("span", { class: "mgv-reduced" }, out.reduced) : null));
    return this.column("Sends", rows);
  },

  sidePanel(k) {
    return [this.leaves(k), this.queue(k)];
  },

  // .grad of every leaf, found by its node: two leaves may have one name, and a fold hides many. Of many those that changed
  // last; the rest is written when somebody wants to see it. A step writes anew only what it changed.
  leaves(k) {
    const { leaves = [] } = this.data, { landed } = this.time;
    if (!leaves.length) return null;
    const few = leaves.length <= 6, panel = (this.leafPanel ??= this.buildLeaves(leaves, few));
    const count = this.time.landedBy(k), first = few ? [...panel.rows.keys()] : landed.slice(Math.max(0, count - 3), count).reverse().map(({ f }) => f);
    const row = (f) => {
      const { el, leaf } = panel.rows.get(f), entry = this.time.storedIn(f, k) ?? null;
      if (el.shown !== entry) el.replaceChildren(h("span", { class: "mgv-who" }, h("b", {}, `${leaf.name}.grad`)), arrayView(entry ? entry.array : leaf.before));
      el.shown = entry;
      el.classList.toggle("mgv-changed", entry !== null && entry.at === k);
      return el;
    };
    arrange(panel.first, first.map(row));
    if (few) return panel.section;
    panel.note.textContent = `${count} of ${leaves.length} changed`;
    panel.summary.textContent = `${count > 3 ? `${count - 3} more, ` : ""}${leaves.length - count} not changed yet`;
    panel.fill = () => {
      const over = new Set(landed.slice(0, count).map(({ f }) => f));
      const rest = [...landed.slice(0, Math.max(0, count - 3)).reverse().map(({ f }) => f), ...[...panel.rows.keys()].filter((f) => !over.has(f))].map(row);
      panel.blocks.forEach((block, i) => arrange(block, rest.slice(i * BLOCK, (i + 1) * BLOCK)));
    };
    if (panel.more.open) panel.fill();
    return panel.section;
  },

  buildLeaves(leaves, few) {
    const part = (leaf) => [leaf.node, { leaf, el: h("div", { class: "mgv-part", "data-leaf": leaf.name }) }], panel = { rows: new Map(leaves.map(part)), first: h("div", {}), blocks: Array.from({ length: Math.ceil(leaves.length / BLOCK) }, () => h("div")), note: h("p", { class: "mgv-note" }), summary: h("summary") };
    panel.more = few ? null : h("details", { ontoggle: () => panel.more.open && panel.fill() }, panel.summary, h("div", { class: "mgv-rest" }, panel.blocks));
    panel.section = this.column(".grad so far", few ? null : panel.note, h("div", { class: "mgv-scroll" }, panel.first, panel.more));
    return panel;
  },

  queue(k) {
    if (this.asking && this.options.ask === "order" && k >= this.limit && this.questions[k + 1]) return this.column("Queue", h("p", { class: "mgv-note" }, "It shows after your answer."));
    const step = k ? this.data.steps[k - 1] : { ready: this.data.steps.length ? [this.data.steps[0].node] : [], waiting: [] };
    const total = this.data.steps.length, next = k < total ? this.data.steps[k].node : null;
    const names = (ids) => { const all = [...new Set(ids.map((id) => this.nodeName(id)))]; return all.slice(0, 4).join(", ") + (all.length > 4 ? " …" : ""); };
    const ready = [...new Set(step.ready || [])].map((id) => this.chip(id, id === next ? "next" : null));
    const waiting = (step.waiting || []).map((w) => h("li", {}, this.chip(w.node), h("span", {}, ` has ${w.got} of ${w.needs}`),
      w.for && w.for.length ? h("span", {}, `, waits for ${names(w.for)}`) : null));
    return this.column("Queue", h("p", { class: "mgv-ready-list" }, h("span", { class: "mgv-who" }, "ready"), ready.length ? ready : h("span", { class: "mgv-none" }, k < total ? "none" : "empty: the pass is done")),
      waiting.length ? h("ul", { class: "mgv-waits" }, waiting) : null);
  },

  // The source stands there once; a step only marks another line, and brings it into sight.
  buildSource() {
    const source = this.data.source;
    if (!source || !source.lines.length) return null;
    this.lines = source.lines.map((text, i) => h("span", { class: "mgv-line", onclick: () => this.goToLine(i) }, h("i", { "aria-hidden": "true" }, String((source.first || 1) + i)), h("code", {}, text || " ")));
    return this.column("Source", h("pre", { class: "mgv-source", "aria-label": source.file || "source" }, this.lines));
  },

  litLine(line) {
    if (!this.lines || line === this.lit) return;
    const before = this.lines[this.lit], now = this.lines[line];
    if (before) { before.classList.remove("mgv-lit"); before.removeAttribute("aria-current"); }
    this.lit = line;
    if (!now) return;
    now.classList.add("mgv-lit");
    now.setAttribute("aria-current", "step");
    const list = now.parentNode;
    list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2 + now.offsetHeight / 2;
  },

  goToLine(line) {
    const i = this.data.steps.findIndex((step) => step.line === line);
    const j = this.k < 0 ? this.forward.findIndex((made) => made.line === line) : -1;
    if (j >= 0) { this.pause(); this.go(j + 1); }
    else if (i >= 0) { this.pause(); this.go(this.ahead + i + 1); }
  },
};
