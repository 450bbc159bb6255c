// The forward pass, stepped through before the backward pass: what each step computes, adds to the graph and saves.

import { h } from "./elements.js";
import { arrayView } from "./numbers.js";
import { abilities } from "./pane.js";

abilities.forwardPanel = function (at) {
  if (at === 0) return [this.column("Forward", h("p.note", "Each step runs one operation, makes its result and adds one node to the graph."))];
  const made = this.forward[at - 1];
  const back = this.data.steps.find((step) => step.node === made.node);
  const saved = back ? (back.saved || []).map((item) => h("div.part", h("span.subject", h("code", item.name), item.label ? ` = ${item.label}` : ""), arrayView(item.value))) : [];
  return [
    this.column("Computes", h("p.name", h("code", made.operation ? `${made.name} = ${made.operation}` : made.name)), made.value ? arrayView(made.value) : null),
    this.column("Adds to the graph", this.chip(made.node)),
    this.column("Keeps for the backward pass", saved.length ? saved : h("span.none", "nothing")),
  ];
};
