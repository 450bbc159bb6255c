// What a pane can do only with a running kernel: open a closed box, make a page of the pass, and cut an edge in viz.explore.

import { h, s } from "./elements.js";
import { abilities } from "./pane.js";
import { row } from "./toolbar.js";
import { unpack } from "./timeline.js";

Object.assign(abilities, {
  // Asks the kernel, and shows a message if it does not answer. `take` returns a value if the message it gets is the answer.
  ask(question, take) {
    const late = setTimeout(() => { this.sentence.textContent = "The kernel is not responding. Run the cell again."; }, 4000);
    const heard = (message) => {
      if (!take(message)) return;
      clearTimeout(late);
      this.model.off("msg:custom", heard);
    };
    this.model.on("msg:custom", heard);
    this.model.send(question);
  },

  // The contents of a box inside a box are sent when somebody opens it.
  fetch(id, then) {
    const home = (picture) => (id in picture.nodes ? picture : Object.values(picture.insides || {}).map(home).find(Boolean));
    this.ask({ open: id }, (message) => {
      if (message.open !== id) return false;
      const inside = unpack(message.inside);
      for (const picture of [this.base, this.drawn]) if (picture && home(picture)) Object.assign((home(picture).insides ??= {}), { [id]: inside });
      this.toggle(id);
      then();
      return true;
    });
  },

  // In viz.explore a click on an edge cuts or joins it. Python does the work; the menu lists the edges as words, for the keyboard.
  offerCuts() {
    const words = Object.entries(this.data["edge names"]).map(([id, name]) => h("button.item", { style: this.data.edges[id]?.kind === "cut" ? "text-decoration: line-through" : null, "aria-pressed": String(this.data.edges[id]?.kind === "cut"), onclick: () => this.model.send({ edge: name }) }, name));
    this.cuts?.remove();
    this.more.lastChild.firstChild.after((this.cuts = row("Cut", words)));
    this.cuts.style.cssText = "max-height: 200px; overflow-y: auto"; // a graph may have many edges
    for (const [id, name] of Object.entries(this.data["edge names"] || {})) {
      const group = this.edges.get(id)?.group, line = group?.querySelector(".line");
      if (!line) continue;
      const wide = s("path", { d: line.getAttribute("d"), class: "mgv-hit", "data-cut": name });
      wide.append(s("title", {}, `${this.drawn.edges[id].kind === "cut" ? "Join" : "Cut"} ${name}`));
      group.append(wide);
    }
  },

  // The first move of a control around the pane starts a change: what follows is compared with the state before it.
  reportPresses(around) {
    if (this.pressing) return;
    this.pressing = ({ target }) => target.closest(".widget-slider, .widget-text") && this.model.send({ press: true });
    for (const type of ["pointerdown", "focusin"]) around?.addEventListener(type, this.pressing, true);
  },

  savePage() { this.ask({ page: true }, (message) => message.page && (this.downloadPage(message.page), true)); },
});
