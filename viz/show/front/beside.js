// Two passes side by side: one toolbar over both, one step for both.

import { h } from "./elements.js";
import { abilities } from "./pane.js";
import { choose } from "./viewport.js";

Object.assign(abilities, {
  // Opens a pane for each pass of `model`. The longer pass has the toolbar; the other one follows it.
  openBeside(model, el, Pane, passes) {
    const options = model.get("options"), counts = passes.map((data) => data.steps.length), lead = counts.indexOf(Math.max(...counts));
    const hosts = passes.map(() => h("div")), head = h("div.head", options.said ? h("p.said", { role: "note" }, options.said) : null), panes = [];
    const part = (data, i) => ({
      get: (key) => (key === "data" ? data : key === "options" ? { ...options, label: options.labels[i], last: Math.max(...counts), host: () => el, panes: () => panes.filter(Boolean), ...(i !== lead && { lead: () => panes[lead] }) } : model.get(key)),
      set: (key, value) => model.set(key, value), save_changes: () => model.save_changes(),
      on: (event, f) => event === "change:step" && model.on(event, f), off: (event, f) => event === "change:step" && model.off(event, f),
    });
    el.replaceChildren(head, h("div.both", hosts));
    el.classList.add("mgv", "mgv-beside");
    for (const i of [lead, ...passes.keys()]) if (!panes[i]) { panes[i] = new Pane(part(passes[i], i), hosts[i]); if (i === lead) head.prepend(panes[i].bar); }
    for (const pane of panes) pane.layOutPane(true);
    return { close: () => panes.forEach((pane) => pane.close()), onSize: () => panes.forEach((pane) => pane.onSize()), address: () => panes[lead].address() };
  },

  // Two panes draw their pictures in the same direction, so that they can be compared: the one in which most is visible, with the fewest columns, then the largest.
  agreed(width, height) {
    const panes = [...new Set([this, ...this.options.panes()])], ways = ["LR", "TB"].map((direction) => panes.map((pane) => choose(pane.candidates().filter((picture) => picture.direction === direction), width, height, true))).filter((all) => all.every(Boolean));
    const least = (all, of) => all.reduce((sum, one) => sum + of(one), 0), better = (a, b, of) => least(a, of) - least(b, of);
    return ways.sort((a, b) => better(a, b, ({ whole }) => !whole) || better(a, b, ({ columns }) => columns) || better(a, b, ({ scale }) => -scale))[0]?.[0];
  },

  // How a step differs from the same step of the other pass; shown after its sentence.
  differs(k) { const text = k > 0 && this.data.differs?.[k]; return text ? ` ≠ ${k === this.data.first ? "The first difference" : "Differs"}: ${text}.` : ""; },

  // The boxes of the steps that differ: the first one, and the later ones.
  markDifferences() {
    const { differs, first, steps } = this.data;
    for (const number of Object.keys(differs).map(Number)) {
      const { node } = steps[number - 1], item = this.nodes.get(this.drawn.folds[node] ?? node);
      if (item) { item.base += number === (first ?? number) ? " mgv-bad" : " mgv-later"; item.group.setAttribute("class", item.base); }
    }
  },
});
