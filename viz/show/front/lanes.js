// Two lanes: what only they ask of the pane. Values flow in one lane, gradients come back in the other; a number travels along its way.

import { s } from "./elements.js";
import { abilities } from "./pane.js";

const TRAVEL = 620; // ms from a function to what it sends to

Object.assign(abilities, {
  // Whether what goes along an arrow is written on it: in two lanes the card at its end says it, but where several come together each
  // is seen with the sum.
  writtenOn(id) {
    if (this.drawn.view !== "lanes") return true;
    const { edges } = this.drawn, { to } = edges[id];
    return edges[id].kind === "backward" && Object.values(edges).filter((edge) => edge.to === to && edge.kind === "backward").length > 1;
  },

  // What a leaf's .grad holds before the pass comes to it, or the word that it holds nothing.
  heldBefore(id) {
    const leaf = this.drawn.view === "lanes" ? this.data.leaves.find(({ node }) => node === id) : null;
    return leaf ? (this.asking && leaf.before ? "held" : leaf.before ?? "None") : null; // what an earlier pass left may be what is asked
  },

  // One step on, the step's number goes from its function along each arrow that it sends on; where the reader's system allows motion.
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
