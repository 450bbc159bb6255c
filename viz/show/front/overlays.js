// Looking around: overlays, search, tips, what goes along an edge, and the legend.

import { h, s } from "./elements.js";
import { arrayView, number, scaleOf } from "./numbers.js";
import { bytesText } from "./timeline.js";

// Of all that goes along an arrow in the pass, the array with the largest number.
const largest = (entries) => entries.map((entry) => entry.array).filter((array) => array && array.shape).reduce((a, b) => (a && scaleOf(a) >= scaleOf(b) ? a : b), null);

export const overlays = {
  setOverlay(name) {
    this.el.dataset.overlay = name;
    for (const [id, item] of this.edges) {
      const array = this.time.sendings[id] && largest(this.time.sendings[id]);
      const line = item.group.querySelector(".line");
      if (line) line.style.strokeWidth = name === "size" && array && array.shape ? `${this.width_of(array)}px` : "";
    }
    for (const [id, item] of this.nodes) {
      item.note?.remove();
      item.note = null;
      if (name !== "memory" || !this.bytes.has(id) || !item.bounds) continue;
      const { x, y, width, height } = item.bounds, text = bytesText(this.bytes.get(id)), w = 8 + 5.6 * text.length;
      item.note = s("g", { class: "mgv-bytes mgv-grows" });
      item.note.append(s("rect", { x: x + width - w, y: y + height - 8, width: w, height: 14, rx: 3 }), s("text", { x: x + width - w / 2, y: y + height + 2.5, "text-anchor": "middle" }, text));
      item.group.append(item.note);
    }
    this.legend(name);
  },

  // Edge width by the size of the gradient, on a logarithmic scale from the smallest to the largest of this pass.
  width_of(array) {
    this.range ||= (() => { const sizes = Object.values(this.time.sendings).map((all) => { const array = largest(all); return array && scaleOf(array); }).filter(Boolean).map(Math.log10); return [Math.min(...sizes), Math.max(...sizes)]; })();
    const [low, high] = this.range;
    return (1 + 6 * (high > low ? (Math.log10(scaleOf(array)) - low) / (high - low) : 0.5)).toFixed(2);
  },

  legend(name) {
    const text = name === "size" && this.range ? `Width of an arrow: largest entry of its gradient, from ${number(10 ** this.range[0])} to ${number(10 ** this.range[1])}, logarithmic.`
      : name === "memory" ? `Saved tensors keep ${bytesText([...this.bytes.values()].reduce((a, b) => a + b, 0))} until the nodes fire.` : "";
    this.overlayNote.textContent = text;
    this.overlayNote.hidden = !text;
  },

  search(text) {
    const words = text.trim().toLowerCase();
    this.hits = [];
    for (const [id, item] of this.nodes) {
      const node = this.drawn.nodes[id];
      const hit = words && `${node.name || ""} ${node.label || ""} ${node.tooltip || ""}`.toLowerCase().includes(words);
      item.group.classList.toggle("mgv-found", Boolean(hit));
      if (hit) this.hits.push(id);
    }
    this.hit = -1;
    this.found.textContent = words ? `${this.hits.length} found` : "";
    if (this.hits.length) this.follow(this.hits[0]);
  },

  nextFound() {
    if (!this.hits || !this.hits.length) return;
    this.hit = (this.hit + 1) % this.hits.length;
    this.goToNode(this.hits[this.hit]);
    this.follow(this.hits[this.hit]);
  },

  nodeAt(target) {
    const id = target.closest?.("g[data-id]")?.dataset.id;
    return this.nodes.has(id) ? id : null;
  },

  // What of the picture a pointer is on.
  under(event) {
    const { target } = event, toggle = target.closest("[data-toggle]")?.dataset.toggle, node = this.nodeAt(target), { cut } = target.dataset;
    return { toggle, node, cut, edge: toggle || node || this.options.cut ? null : this.edgeAt(event) };
  },

  showTip(id, event) {
    const node = this.drawn.nodes[id], known = this.time.members[id].length === 1 ? this.time.gradOf(id, this.k) : null;
    const part = (who, array) => (array ? h("div", { class: "mgv-part" }, h("span", { class: "mgv-who" }, who), arrayView(array)) : "");
    const shut = Object.values(this.drawn.folds).includes(id) && !this.nodes.get(id).group.querySelector(".mgv-open"); // it is not told here what stands in it
    this.tip.replaceChildren(
      h("p", {}, h("b", {}, node.name || node.label), node.name && node.label !== node.name ? ` ${String(node.label).replace("torch::autograd::", "")}` : ""),
      node.tooltip ? h("p", { class: "mgv-note" }, node.tooltip) : "",
      shut ? h("p", { class: "mgv-note" }, "It opens in a live notebook and in a saved page.") : "", part("value", node.value), part("tangent", node.tangent), part("grad", known));
    this.tip.hidden = false;
    const frame = this.frame.getBoundingClientRect();
    const x = Math.min(event.clientX - frame.left + 14, frame.width - this.tip.offsetWidth - 8);
    this.tip.style.left = `${Math.max(4, x)}px`;
    this.tip.style.top = `${event.clientY - frame.top + 16}px`;
  },

  hideTip() { this.tip.hidden = true; },

  // The edge under the pointer, or as near to it as a finger is.
  edgeAt(event) {
    for (const [dx, dy] of [[0, 0], [0, 4], [4, 0], [0, -4], [-4, 0], [0, 8], [8, 0], [0, -8], [-8, 0]]) {
      const group = document.elementFromPoint(event.clientX + dx, event.clientY + dy)?.closest("g.edge");
      if (group && this.view.contains(group) && group.dataset.id in this.time.lines && this.time.lines[group.dataset.id].some((edge) => edge in this.time.sent)) return group.dataset.id;
    }
    return null;
  },

  // What goes along an edge, and in which step: of an arrow that stands for several, each.
  showEdge(id, event) {
    this.popped = id;
    this.pop.style.right = "auto";
    this.pop.hidden = false;
    this.fillEdge();
    const stage = this.stage.getBoundingClientRect();
    this.pop.style.left = `${Math.max(4, Math.min(event.clientX - stage.left + 12, stage.width - this.pop.offsetWidth - 6))}px`;
    this.pop.style.top = `${Math.max(4, Math.min(event.clientY - stage.top + 10, stage.height - this.pop.offsetHeight - 6))}px`;
  },

  fillEdge() {
    if (this.popped === null) return; // it shows the address
    const edges = this.time.lines[this.popped].filter((edge) => edge in this.time.sent);
    const rows = edges.slice(0, 6).map((edge) => {
      const all = this.time.sent[edge], known = all.filter((entry) => entry.at <= this.k), step = this.data.steps[all[0].at - 1];
      const out = step.outgoing.find((one) => one.edge === edge);
      return [h("p", { class: "mgv-who" }, h("b", {}, step.name), ` sends to ${this.nodeName(out.to)}`),
        known.length ? known.map((entry) => h("div", { class: "mgv-part" }, arrayView(entry.array), h("span", { class: "mgv-note" }, `step ${entry.at}`))) : h("p", { class: "mgv-none" }, `not yet: in step ${all[0].at}`)];
    });
    const close = h("button", { type: "button", class: "mgv-text-button", onclick: () => { this.pop.hidden = true; } }, "Close");
    this.pop.replaceChildren(...rows.flat(2), edges.length > 6 ? h("p", { class: "mgv-note" }, `and ${edges.length - 6} more`) : "", close);
  },

  address() { return `#step=${this.shown}${this.wanted ? `&view=${this.wanted.split(" ")[0]}` : ""}`; },

  // The address of this step, and the same as a frame for a course page: copied with a click.
  showShare() {
    const address = location.href.split("#")[0] + this.address(), frame = `<iframe src="${address}" width="100%" height="${this.frame.offsetHeight + 4}" style="border:0"></iframe>`;
    const line = (name, text) => {
      const field = h("input", { type: "text", class: "mgv-answer", readonly: true, value: text, "aria-label": name, onfocus: () => field.select() }), copy = h("button", { type: "button", class: "mgv-submit" }, "Copy");
      copy.addEventListener("click", () => { field.select(); const done = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(); done.then(() => { copy.textContent = "Copied"; }, () => { copy.textContent = "Press Ctrl+C"; }); });
      return h("div", { class: "mgv-form" }, h("span", { class: "mgv-who" }, name), field, copy);
    };
    this.pop.replaceChildren(line("Link", address), line("Frame", frame), h("button", { type: "button", class: "mgv-text-button", onclick: () => { this.pop.hidden = true; } }, "Close"));
    this.popped = null;
    this.pop.hidden = false;
    Object.assign(this.pop.style, { left: "auto", right: "8px", top: "8px" });
  },

  showHelp() {
    this.help.hidden = !this.help.hidden;
    this.helpButton.setAttribute("aria-expanded", !this.help.hidden);
    if (this.help.hidden || this.help.firstChild) return;
    const list = (title, pairs) => h("section", {}, h("h4", {}, title), h("dl", {}, pairs.map(([what, says]) => [h("dt", {}, what), h("dd", {}, says)])));
    const look = (kind, state) => h("i", { class: `mgv-look ${kind} ${state}` });
    const edge = (kind) => {
      const svg = s("svg", { class: "mgv-svg mgv-edge-look", viewBox: "0 0 34 10" }), group = s("g", { class: `edge ${kind}` });
      group.append(s("path", { class: "line", d: "M1 5H27" }), s("path", { class: "head", d: /cut|not_/.test(kind) ? "M28 1V9" : "M33 5L27 2V8Z" }));
      svg.append(group);
      return svg;
    };
    this.help.append(
      list("Keys", [["← →", "one step"], ["Home End", "first, last"], ["Space", "play, pause"], ["+ − 0", "larger, smaller, show all"], ["Shift + arrows", "move the picture"], ["/", "find"], ["Esc", "close"]]),
      list("Nodes", [[look("function", ""), "backward function"], [look("function", "mgv-ready"), "ready: all that it needs has come"], [look("function", "mgv-now"), "fires in this step"], [look("function", "mgv-done"), "done, with the number of its step"],
        [look("leaf", ""), "leaf that requires grad"], [look("accumulate", ""), "AccumulateGrad adds to .grad"], [look("fold", ""), "a module, or several nodes, in one box: + opens it"],
        [look("second", ""), "made by a backward pass (create_graph=True)"], [look("custom", ""), "a Function of your own"]]),
      list("Edges", [[edge("forward"), "forward pass: a tensor goes into an operation"], [edge("backward"), "backward pass: a gradient will be sent; a click shows it"], [edge("backward mgv-hot"), "its gradient is sent in this step"], [edge("backward mgv-done"), "its gradient was sent"],
        [edge("store"), "added to .grad"], [edge("grad_fn"), "the grad_fn of a tensor"], [edge("saved"), "kept for the rule"], [edge("not_computed"), "not computed: no grad is required"], [edge("cut"), "cut by detach(), or by you"]]),
      list("Cells", [[h("span", { class: "mgv-num minus", style: "--size:1" }, "−0.8"), "blue with − below zero"], [h("span", { class: "mgv-num plus", style: "--size:1" }, "0.8"), "orange above zero; the deepest is the largest of its array"]]),
      h("p", { class: "mgv-note" }, "Drag moves the picture; Ctrl + wheel or two fingers zoom. The wheel moves it while the pane has the focus."),
      h("button", { type: "button", class: "mgv-text-button", onclick: () => this.showHelp() }, "Close"));
  },
};
