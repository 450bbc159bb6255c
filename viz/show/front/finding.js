// Find: every function, leaf and module of the pass, also those inside closed boxes.

import { h } from "./elements.js";

export const finding = {
  buildFind() {
    this.finder = h("input.find", { type: "search", placeholder: "Find", "aria-label": "Find a function, a leaf or a module", title: "Find (/)", spellcheck: "false", oninput: () => this.all((pane) => pane.search(this.finder.value)),
      onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); this.all((pane) => pane.nextFound(event.shiftKey ? -1 : 1)); } } });
    this.found = h("span.count", { role: "status" });
    return h("span.tool", this.finder, this.found);
  },

  // Everything that has a name, once each: { words, node } for a function or a leaf, { words, box, node } for a module.
  things() {
    const { data } = this, all = new Map(), boxes = (picture) => {
      for (const [id, node] of Object.entries(picture.nodes)) if (node.kind === "fold") all.set(node.name, { words: `${node.name} ${/: (\w+), [\d,]+ param/.exec(node.tooltip)?.[1] ?? ""}`, box: id, node: Object.keys(picture.folds).find((f) => picture.folds[f] === id) });
      Object.values(picture.insides || {}).forEach(boxes);
    };
    this.pictures.forEach(boxes);
    const known = { ...data.hidden, ...this.pictures.reduceRight((out, picture) => ({ ...out, ...picture.nodes }), {}) };
    for (const { node, name } of data.leaves || []) all.set(node, { words: `${name}.grad AccumulateGrad`, node });
    for (const step of data.steps) if (!step.accumulate) all.set(step.node, { words: `${step.name} ${step.tensor ?? ""} ${known[step.node]?.name ?? ""} ${step.module ?? ""}`, node: step.node });
    for (const [id, node] of Object.entries(known)) if (node.kind !== "fold" && node.function !== id && !all.has(node.function ?? id)) all.set(id, { words: `${node.label ?? ""} ${node.name ?? ""}`, node: id });
    return [...all.values()].map((one) => ({ ...one, words: one.words.toLowerCase() }));
  },

  search(text) {
    const words = text.trim().toLowerCase();
    this.hits = words ? (this.index ??= this.things()).filter((one) => one.words.includes(words)) : [];
    this.hit = -1;
    this.markFound();
    if (this.found) [this.found.textContent, this.finder.value] = [words ? `${this.hits.length} found` : "", text];
    if (this.hits.length) this.follow(this.drawn.folds[this.hits[0].node] ?? this.hits[0].node);
  },

  // In the current picture: the matches, and the boxes they are in.
  markFound() {
    const ids = new Set((this.hits || []).flatMap(({ node, box }) => [box, node, this.drawn.folds[node]]));
    for (const [id, item] of this.nodes) item.group.classList.toggle("mgv-found", ids.has(id) || Boolean(this.time.mirrors[id] && ids.has(this.time.members[id][0])));
  },

  // Goes to the step of the next match, and opens the box it is in.
  nextFound(by = 1) {
    if (!this.hits?.length) return;
    this.hit = (this.hit + by + this.hits.length) % this.hits.length;
    const { node, box } = this.hits[this.hit];
    if (this.found) this.found.textContent = `${this.hit + 1} of ${this.hits.length}`;
    this.openTo(node, box);
    this.goToNode(node);
    this.follow(this.drawn.nodes[box] ? box : this.drawn.folds[node] ?? node);
  },

  // Opens box after box until the node, or the box itself, is drawn. A box that Python has to lay out first opens when that is done.
  openTo(node, box) {
    for (let id; (id = this.drawn.folds[node]) && id !== box && this.canOpen(id); ) {
      const open = this.open.size;
      this.toggle(id, () => this.openTo(node, box));
      if (this.open.size === open) return;
    }
    this.markFound();
  },
};
