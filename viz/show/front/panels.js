// The panels: what arrives, the rule, what is sent, the .grad of every leaf, the queue, the source.

import { arrange, h } from "./elements.js";
import { equation, local, roomFor, shownIn, sign, term } from "./equation.js";
import { arrayView } from "./numbers.js";
import { withoutModel } from "./strip.js";
import { bytesText } from "./timeline.js";

const MOST_BARS = 5, BLOCK = 40; // boxes; rows of leaves: a block that is out of view is not laid out

export const panels = {
  // details of a node or a tensor, in the picture or inside a fold
  about(id) { return this.drawn.nodes[id] || this.data.hidden[id] || { kind: "none", label: String(id) }; },

  nodeName(id) {
    const node = this.about(id);
    return this.isStored(id, node) ? `${node.name}.grad` : node.name || node.label;
  },

  isStored(id, node) { return Boolean(node.name) && (node.kind === "accumulate" || (node.kind === "leaf" && id in this.time.fired)); },

  chip(id, note) {
    const node = this.about(id);
    const short = String(node.label).split("\n")[0].replace(/^torch::autograd::/, "");
    return h("button", { class: `mgv-chip ${node.kind}`, title: `Go to ${short}`, onclick: () => this.goToNode(id) },
      node.name ? [h("b", this.nodeName(id)), " "] : null, this.isStored(id, node) || short === node.name ? null : h("span", short), note ? h("i", note) : null);
  },

  flowPanel(k) {
    if (k === 0) {
      const seed = this.data.start && this.data.start.seed;
      const says = this.data.of === "L" ? `The gradient that arrives at ${this.data.title}, from what follows it. The pass starts with it.` : `The gradient of ${this.data.title} with respect to itself. The pass starts with it.`, note = (text) => h("p.note", text);
      const more = [(this.drawn.notes || []).map(note), this.options.label ? null : note("→ moves on one step, ⇧→\u00a0one part.")], kept = this.keptBars();
      return [kept ? this.column("Kept for backward", kept, more) : seed ? this.column("Start", note(says), arrayView(seed), more) : null];
    }
    const step = this.data.steps[k - 1];
    return step.accumulate ? [this.receives(step), this.stores(step)] : [this.receives(step), this.rule(step)];
  },

  // Before the first step of a pass with several modules: what each one saves, the largest first.
  keptBars() {
    const all = [...this.keptBy()].sort((a, b) => b[1] - a[1]), [first, ...others] = all.slice(0, MOST_BARS), names = withoutModel(all.map(([id]) => this.nodes.get(id).group.querySelector("text").textContent));
    if (!others.length || this.options.label || !Object.keys(this.drawn.folds).length) return null;
    return h("div.bars", [first, ...others].map(([, bytes], i) => [h("b", names[i]), h("i", { style: `width:${(100 * bytes) / first[1]}%` }), h("span", bytesText(bytes))]));
  },

  column(title, ...children) {
    return h("section", { class: `mgv-col mgv-col-${title.toLowerCase().replace(/[^a-z]/g, "")}` }, h("h2", title), ...children);
  },

  // What arrives, if it is more than one array already in the equation: the parts and their sum.
  receives(step, asked) {
    const parts = step.incoming || [], several = parts.length > 1, shown = (array) => arrayView(array, 150, this.terse > 1 ? 18 : null);
    if (!several && !step.totals && !step.wrong && parts.length && (asked || step.accumulate || (step.outgoing || []).some(({ value }) => value))) return null;
    const rows = parts.map((part, i) => h("div.part",
      several ? h("span.op", i ? "+" : "") : null,
      h("span.subject", part.from ? ["from ", this.nodeName(part.from)] : "the start"), shown(part.value ?? step.total)));
    const total = (op, who, value) => h("div.part.total", h("span.op", op), h("span.subject", who), value);
    if (asked) rows.push(several ? total("=", "?") : "");
    else if (step.totals) step.totals.forEach((one, nr) => rows.push(total("=", `total of output ${nr}`, shown(one))));
    else if (step.wrong) rows.push(total("≠", "arrived", shown(step.total)));
    else if (!parts.length || (!step.accumulate && !(step.outgoing || []).some(({ value }) => value))) rows.push(total("=", "total", shown(step.total)));
    else rows.push(total("=", "total", h("span.note", "arrives, below")));
    if (step.wrong && !asked) rows.push(h("p.note", `${step.wrong}.`));
    return this.column("Receives", rows);
  },

  // The rule: an equation of arrays for each gradient sent, the mathematics above it, the code below.
  rule(step, asked) {
    const outs = step.outgoing || [], sent = outs.filter((out) => out.value), rules = new Map(outs.map((out, i) => [out, (step.rules || [])[i]])), wide = this.columnWidth - 28, listed = !asked && this.listed && step.total; // the arrays first, each with its name, then the rules in words
    const checked = asked ? null : this.check(step.check), name = h("p.name", h("code", step.name), step.tensor ? [" of ", h("b", step.tensor)] : null, this.terse > 1 ? checked : null);
    const factors = new Map(sent.map((out) => [out, asked || listed ? null : local(step, out)]));
    const shown = new Set((sent.length ? sent : outs).filter((out) => !factors.get(out) && (!asked || (step.incoming || []).length < 2)).flatMap((out) => [...shownIn(rules.get(out)?.code)]));
    const groups = []; // one gradient may go to several receivers
    for (const out of sent.length ? sent : asked ? outs : []) {
      const like = asked ? null : groups.find(([one]) => one.value === out.value && rules.get(one)?.code?.replace(" * alpha", "") === rules.get(out)?.code?.replace(" * alpha", ""));
      like ? like.push(out) : groups.push([out]);
    }
    const lines = groups.map((outs, i) => {
      const [out] = outs, rule = rules.get(out), math = rule?.math, to = outs.map((one) => (one.to ? this.nodeName(one.to) : one.input)).join(" and to ");
      return h("div.line-of", { "data-outs": outs.map((one) => (step.outgoing || []).indexOf(one)) }, math && this.terse < 2 ? h("p.math", math) : null,
        equation(step, out, rule, to, { asked, listed, room: listed ? 24 : roomFor(wide, 3), factor: factors.get(out), first: !i }), rule?.code && !listed && (this.terse < 2 || factors.get(out) || !shownIn(rule.code).has("grad")) ? h("code.plain", { title: math }, rule.code) : null,
        out.reduced ? h("span.reduced", out.reduced) : null);
    });
    const not = outs.filter((out) => !out.value && !asked).map((out) => h("p.not", { "data-out": outs.indexOf(out) }, h("code", out.to ? this.nodeName(out.to) : out.input), " ", out.reason || "not computed"));
    const rest = (step.saved || []).filter(({ name, value }) => !shown.has(name) || !value), unnamed = rest.filter(({ name }) => !(step.rules || []).some(({ code }) => shownIn(code).has(name)));
    const reads = rest.filter((item) => !unnamed.includes(item)), saved = (item) => h("span.kept", h("code", item.name), item.value?.shape ? item.label ? ` = ${item.label}` : "" : " = ", arrayView(item.value, 70, [null, 34, 34, 18][this.terse]));
    return this.column("Rule", name, listed ? h("div.keeps.listed", term(step.total, "arrives", 34), (step.saved || []).filter((item) => shown.has(item.name) && item.value?.shape).map((item) => term(item.value, item.name, 34))) : null, lines, not, reads.length ? [h("h3", "Saved for it"), h("div.keeps", reads.map(saved))] : null,
      unnamed.length ? h("details", h("summary", `${unnamed.length} more that it keeps`), h("div.keeps", unnamed.map(saved))) : null, this.terse > 1 ? null : checked);
  },

  check(check) {
    if (!check) return null;
    return h(this.terse > 1 ? "span" : "p", { class: `mgv-check ${check.ok ? "ok" : "wrong"}` }, h("b", { title: check.text }, check.ok ? "checked" : "check failed"), this.terse > 1 && check.ok ? null : ` ${check.text}`);
  },

  // AccumulateGrad: .grad afterwards = .grad before + what arrives.
  stores(step, asked) {
    const { before, after, wrong } = step.accumulate, room = roomFor(this.columnWidth - 28, before ? 3 : 2);
    const left = asked ? term(undefined, `${step.tensor}.grad`) : before || wrong ? term(after ?? null, `${step.tensor}.grad`, room, "after") : sign(`${step.tensor}.grad`);
    return this.column(asked ? "Rule" : "Adds to .grad", h("p.name", h("code", `${step.tensor}.grad ${before ? "+=" : "="} grad`)),
      h("div.equation", left, sign(wrong ? "≠" : "="), before ? [term(before, "before", room), sign("+")] : null, (step.incoming || []).length > 1 && asked ? sign("what arrives") : term(step.total ?? null, "arrives", room)),
      wrong ? h("p.note", `${wrong}.`) : null, before ? null : h("p.note", `${step.tensor}.grad was None.`));
  },

  // The .grad of every leaf, by its node: two leaves may have the same name, and a fold hides many. If there are many, those that
  // changed last; the others are written when somebody opens the list. A step rewrites only the rows that changed.
  leaves(k) {
    const { leaves = [] } = this.data, { landed } = this.time;
    if (!leaves.length) return null;
    const few = leaves.length <= 4, panel = (this.leafPanel ??= this.buildLeaves(leaves, few));
    const count = this.time.landedBy(k), last = [3, 2, 2, 1][this.terse], first = few ? [...panel.rows.keys()] : landed.slice(Math.max(0, count - last), count).reverse().map(({ f }) => f);
    const line = (f, room) => {
      const { el, leaf } = panel.rows.get(f), entry = this.time.storedIn(f, k) ?? null;
      if (el.shown !== entry || el.room !== room) el.replaceChildren(h("span.subject", h("b", leaf.name)), !entry && leaf.before && this.asking ? h("span.none", "holds the gradient of an earlier pass") : arrayView(entry ? entry.array : leaf.before, 120, room < 120 ? room : null));
      Object.assign(el, { shown: entry, room });
      el.classList.toggle("mgv-changed", entry !== null && entry.at === k);
      return el;
    };
    arrange(panel.first, first.map((f) => line(f, this.terse ? 18 : few ? 120 : 26)));
    if (few) return panel.section;
    panel.note.textContent = count ? `${count} of ${leaves.length} changed` : "";
    panel.summary.textContent = `${count > last ? `${count - last} more, ` : ""}${leaves.length - count} not changed yet`;
    panel.fill = () => {
      const over = new Set(landed.slice(0, count).map(({ f }) => f));
      const rest = [...landed.slice(0, Math.max(0, count - last)).reverse().map(({ f }) => f), ...[...panel.rows.keys()].filter((f) => !over.has(f))].map((f) => line(f, 18)); // of a fixed width, so that a thousand rows are not written again for each layout that is tried
      panel.blocks.forEach((block, i) => arrange(block, rest.slice(i * BLOCK, (i + 1) * BLOCK)));
    };
    if (panel.more.open) panel.fill();
    return panel.section;
  },

  buildLeaves(leaves, few) {
    const part = (leaf) => [leaf.node, { leaf, el: h("div.part", { "data-leaf": leaf.name }) }], panel = { rows: new Map(leaves.map(part)), first: h("div"), blocks: Array.from({ length: Math.ceil(leaves.length / BLOCK) }, () => h("div")), note: h("p.note"), summary: h("summary") };
    panel.more = few ? null : h("details", { ontoggle: () => panel.more.open && panel.fill() }, panel.summary, h("div.rest", panel.blocks));
    panel.section = this.column(".grad", few ? null : panel.note, h("div.scroll", panel.first, panel.more));
    return panel;
  },

  queue(k) {
    if (this.asking && this.options.ask === "order" && k >= this.limit && this.questions[k + 1]) return this.column("Queue", h("p.note", "Shown after your answer."));
    const step = k ? this.data.steps[k - 1] : { ready: this.data.steps.length ? [this.data.steps[0].node] : [], waiting: [] };
    const total = this.data.steps.length, next = k < total ? this.data.steps[k].node : null;
    const names = (ids) => { const all = [...new Set(ids.map((id) => this.nodeName(id)))]; return all.slice(0, 4).join(", ") + (all.length > 4 ? " …" : ""); };
    const few = (all, n) => (all.length > n + 1 ? [...all.slice(0, n), h("span.note", `and ${all.length - n} more`)] : all), most = this.terse ? 1 : 3;
    const ready = few([...new Set(step.ready || [])].sort((a, b) => (b === next) - (a === next)).map((id) => this.chip(id, id === next ? "next" : null)), most);
    const waiting = few((step.waiting || []).map((w) => h("li", this.chip(w.node), h("span", ` has ${w.got} of ${w.needs}`),
      w.for && w.for.length && !this.terse ? h("span", `, waits for ${names(w.for)}`) : null)), most).map((one) => (one.tagName === "LI" ? one : h("li", one)));
    return this.column("Queue", h("p.ready-list", h("span.subject", "ready"), ready.length ? ready : h("span.none", k < total ? "none" : "empty: the pass is done")),
      waiting.length ? h("ul.waits", waiting) : null);
  },

  // The source is written once; a step only marks another line and scrolls it into view.
  buildSource() {
    const source = this.data.source;
    if (!source || !source.lines.length || this.options.cut) return null; // the function that viz.explore explores is right above the pane
    this.lines = source.lines.map((text, i) => h("span.line", { onclick: () => this.goToLine(i) }, h("i", { "aria-hidden": "true" }, String((source.first || 1) + i)), h("code", text || " ")));
    return this.column("Source", h("pre.source", { tabindex: 0, role: "group", "aria-label": source.file || "source" }, this.lines));
  },

  highlightLine(line) {
    if (!this.lines || line === this.currentLine) return;
    this.lines[this.currentLine]?.removeAttribute("aria-current");
    this.lines[line]?.setAttribute("aria-current", "step");
    this.currentLine = line;
  },

  // Scrolls this step's line to the middle of the source, once the panels have their final sizes.
  showLine() {
    const now = this.lines?.[this.currentLine], list = now?.parentNode;
    if (list) list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 2 + now.offsetHeight / 2;
  },

  goToLine(line) {
    const i = this.data.steps.findIndex((step) => step.line === line);
    const j = this.k < 0 ? this.forward.findIndex((made) => made.line === line) : -1;
    if (j >= 0) { this.pause(); this.go(j + 1); }
    else if (i >= 0) { this.pause(); this.go(this.ahead + i + 1); }
  },
};
