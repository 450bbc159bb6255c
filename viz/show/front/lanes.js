// Two lanes: the methods of the pane that only this view needs. Values flow in one lane, gradients return in the other; a number travels with them.

import { s } from "./elements.js";
import { abilities } from "./pane.js";

const TRAVEL = 620; // ms from a function to the receiver of its gradient

Object.assign(abilities, {
  // Whether the gradient is written on an arrow. In two lanes the card at its end shows it, but where several gradients meet, each
  // is shown beside their sum.
  writtenOn(id) {
    if (this.drawn.view !== "lanes") return true;
    const { edges } = this.drawn, { to } = edges[id];
    return edges[id].kind === "backward" && Object.values(edges).filter((edge) => edge.to === to && edge.kind === "backward").length > 1;
  },

  // A leaf's .grad before the pass reaches it, or a word for an empty one.
  heldBefore(id) {
    const leaf = this.drawn.view === "lanes" ? this.data.leaves.find(({ node }) => node === id) : null;
    return leaf ? (this.asking && leaf.before ? "held" : leaf.before ?? "None") : null; // the .grad from an earlier pass may be the answer to a question
  },

  // One step forward, the number of the step travels along each arrow that carries a gradient, if the reader's system allows motion.
  travel(k, from) {
    if (this.drawn.view !== "lanes" || k !== from + 1 || k < 1 || this.reducedMotion.matches || this.asking) return;
    for (const edge of this.data.steps[k - 1].outgoing || []) {
      const item = this.edges.get(edge.edge);
      if (!item || !edge.value) continue;
      const number = s("g", { class: "mgv-order" }), w = 9 + 5.5 * String(k).length;
      number.append(s("rect", { x: -w / 2, y: -7, width: w, height: 14, rx: 7 }), s("text", { y: 3.2, "text-anchor": "middle" }, k));
      item.group.append(number);
      const stops = this.pathOf(item).map(([x, y]) => ({ transform: `translate(${x}px, ${y}px)` }));
      number.animate(stops, { duration: TRAVEL / this.speed, easing: "ease-in-out" }).onfinish = () => number.remove();
    }
  },
});
