// Help: what each key does, and a legend of the styles that this picture uses.

import { h, s, textButton } from "./elements.js";

const KEYS = [["← →", "one step"], ["⇧← ⇧→", "part by part"], ["Home End", "first, last"], ["Space", "play, pause"], ["+ − 0", "larger, smaller, show all"], ["↑ ↓ [ ]", "move the picture"], ["/", "find; Enter: next"], ["F", "full window"], ["Esc", "close"]];
// [where it is used, its style, its meaning]; a style is listed if something in the picture has it, now or at another step
const NODES = [[".node.value", "value", "a value of the forward pass"], [".node.gradient", "value gradient", "its gradient, in the lane below"], [".node.op", "op", "an operation"],
  [".node.function", "function", "backward function"], [".node.function, .node.fold", "function mgv-ready", "ready: everything it needs has arrived"], [".node.function, .node.fold", "function mgv-firing", "fires in this step"], [".node.function, .node.fold", "function mgv-done", "done, with the number of its step"],
  [".node.leaf:not(.no-grad)", "leaf", "leaf that requires grad"], [".node.alias", "leaf alias", "the same leaf again"], [".node.accumulate", "accumulate", "AccumulateGrad adds to .grad"], [".node.fold", "fold", "a module, or several nodes, in one box; double-click to open it"],
  [".node.second", "second", "made by a backward pass (create_graph=True)"], [".node.custom", "custom", "a Function of your own"], [".node.none, .node.input", "none", "data or a constant: no gradient is computed"]];
const EDGES = [["flow", "values flow forward"], ["forward", "a value goes into an operation"], ["backward", "a gradient will be sent; click to see it"],
  ["backward mgv-active", "its gradient is sent in this step"], ["backward mgv-done", "its gradient was sent"], ["arrives", "arrives at the gradient of a value"], ["store", "added to .grad"], ["grad_fn", "the grad_fn of a tensor"], ["saved", "kept for the rule"], ["not_computed", "not computed: requires no grad"], ["cut", "cut by detach(), or by you"]];

export const legend = {
  showHelp() {
    this.help.hidden = !this.help.hidden;
    if (this.help.hidden) return this.frame.focus({ preventScroll: true });
    const list = (title, pairs) => (pairs.length ? h("section", h("h2", title), h("dl", pairs.map(([what, says]) => [h("dt", what), h("dd", says)]))) : null);
    const drawn = (kind, ...parts) => {
      const svg = s("svg", { class: "mgv-svg mgv-look", viewBox: "0 0 34 18", "aria-hidden": "true" }), group = s("g", { class: kind });
      group.append(...parts);
      svg.append(group);
      return svg;
    };
    const box = (look) => { const at = { x: 2, y: 3, width: 28, height: 13, rx: /function|op/.test(look) ? 6.5 : 2.5 }; return drawn(`node ${look}`, look === "fold" ? s("rect", { ...at, class: "behind", x: 4, y: 1 }) : "", s("rect", { ...at, class: "shape" })); };
    const edge = (kind) => drawn(`edge ${kind}`, s("path", { class: "line", d: "M1 9H27" }), s("path", { class: "head", d: /cut|not_/.test(kind) ? "M28 5V13" : "M33 9L27 6V12Z" }));
    const uses = (selector) => this.picture.querySelector(selector), kinds = new Set(Object.values(this.drawn.edges).map(({ kind }) => kind));
    this.help.replaceChildren(list("Keys", KEYS), list("Boxes", NODES.filter(([used]) => uses(used)).map(([, look, says]) => [box(look), says])), list("Arrows", EDGES.filter(([kind]) => kinds.has(kind.split(" ")[0])).map(([kind, says]) => [edge(kind), says])),
      list("Numbers", [[h("span", { class: "mgv-num minus", style: "--size:1" }, "−0.8"), "blue with a minus sign below zero"], [h("span", { class: "mgv-num plus", style: "--size:1" }, "0.8"), "orange above zero; the darkest is the largest in its array"]]),
      h("p.note", "Click a box to see what it is, double-click to open it. Drag to move the picture; Ctrl + wheel or pinch to zoom. The wheel scrolls it while the pane has the focus."),
      textButton("Close", () => this.showHelp()));
    this.help.querySelector("button").focus({ preventScroll: true });
  },
};
