// The pane that walks through one recorded backward pass: controls, keys, and one step after the other.
//
// The same in a notebook (anywidget calls `render`) and on a page (show/page.py calls `mount`). It may touch its own element (and
// the keys of the widgets boxed with it) and its own model, nothing else: no network, no storage of data, no global state but
// the learner's "just show me". The picture is laid out once, in Python; a step changes classes and paints cells.

import { arrange, h, icon, keepKeys, s } from "./elements.js";
import { overlays } from "./overlays.js";
import { painting } from "./painting.js";
import { panels } from "./panels.js";
import { viewport, viewName } from "./viewport.js";
import { bytesOf, timeline, unpack } from "./timeline.js";

// A page of its own can be linked to: page.html#step=7&view=cards opens there, and the address follows.
export function mount(el, data, options = {}) {
  const listeners = [];
  if (!options.framed) {
    const asked = new URLSearchParams(location.hash.slice(1)), step = Number(asked.get("step"));
    options = { ...options, share: true, ...(asked.has("view") && { view: asked.get("view") }), ...(Number.isInteger(step) && step > 0 && { step }) };
  }
  const state = { data, step: options.step || 0, options };
  const model = {
    get: (key) => state[key],
    set: (key, value) => {
      if (state[key] === value) return;
      state[key] = value;
      for (const [event, f] of listeners) if (event === `change:${key}`) f();
    },
    on: (event, f) => listeners.push([event, f]),
    off: (event, f) => listeners.splice(0, listeners.length, ...listeners.filter((pair) => pair[0] !== event || pair[1] !== f)),
    save_changes: () => {},
  };
  const pane = new Pane(model, el);
  let waits = 0;
  if (options.share) model.on("change:step", () => { clearTimeout(waits); waits = setTimeout(() => history.replaceState(null, "", pane.address()), 300); }); // browsers allow few a second
  return Object.assign(model, { settle: () => pane.onSize() });
}

export function render({ model, el }) {
  const pane = new Pane(model, el);
  return () => pane.close();
}

class Pane {
  constructor(model, el) {
    Object.assign(this, { model, el, options: model.get("options") || {}, keepKeys });
    this.timer = null;
    this.speed = 1;
    this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.waiting = new Set();
    const later = (f) => () => (this.held?.isConnected ? this.waiting.add(f) : f());
    this.onSize = later(() => this.settle());
    this.resize = new ResizeObserver(this.onSize);
    this.onStep = later(() => this.go(this.model.get("step"), true));
    this.onData = later(() => this.load());
    this.load();
    model.on("change:step", this.onStep);
    model.on("change:data", this.onData);
    this.resize.observe(this.el);
    window.addEventListener("resize", this.onSize);
  }

  // Takes the payload of the model: at the start, and again when Python has computed another (viz.explore).
  load() {
    const model = this.model, atEnd = this.count !== undefined && this.shown === this.count;
    this.data = unpack(model.get("data"));
    this.pictures = [this.data, ...(this.data.pictures || [])];
    this.wanted = this.pictures.map(viewName).find((name) => name === this.wanted || name.startsWith(`${this.options.view} `)) ?? null;
    // positions before `ahead` walk through the forward pass, from `ahead` on through the backward pass; k counts its steps
    this.forward = this.options.forward ? this.data.forward || [] : [];
    this.ahead = this.forward.length ? this.forward.length + 1 : 0;
    this.count = this.ahead + this.data.steps.length;
    this.end = Math.max(this.count, this.options.last ?? 0); // of two passes side by side the longer one
    this.questions = this.data.questions || {};
    this.asking = Boolean(this.options.ask) && (this.options.insist || this.wishes());
    this.limit = this.options.insist ? this.answered() : 0; // the last step that has been revealed while asking
    this.posed = null; // the number of the step that is asked for
    this.open = new Set(); // boxes that are open
    this.range = this.shown = this.settled = this.picture = this.opened = null;
    const inside = this.el.contains(document.activeElement);
    this.build();
    this.draw(this.pictures[0]);
    if (inside) this.frame.focus({ preventScroll: true });
    this.go(atEnd ? this.count : model.get("step"));
    this.settle();
  }

  close() {
    this.pause();
    this.resize.disconnect();
    window.removeEventListener("resize", this.onSize);
    this.model.off("change:step", this.onStep);
    this.model.off("change:data", this.onData);
  }

  // ---- building, once

  build() {
    const { el, data, options } = this;
    el.replaceChildren();
    el.classList.add("mgv");
    delete el.dataset.step;
    const button = (action, label, keys) =>
      h("button", { type: "button", class: `mgv-button mgv-button-${action}`, "data-action": action, "aria-label": label, title: label + (keys ? ` (${keys})` : ""), onclick: () => this.act(action) }, icon(action));
    this.playButton = button("play", "Play", "space");
    this.slider = h("input", { type: "range", min: 0, max: this.end, value: 0, class: "mgv-slider", "aria-label": "Step of the backward pass",
      oninput: (event) => { this.pause(); this.go(Number(event.target.value)); } });
    this.counter = h("output", { class: "mgv-count" });
    const speeds = h("select", { class: "mgv-speed", "aria-label": "Speed of play", title: "Speed of play", onchange: (event) => { this.speed = Number(event.target.value); if (this.timer) this.play(); } },
      [0.5, 1, 2, 4, 8].map((x) => h("option", { value: x, selected: x === 1 }, `${x === 0.5 ? "½" : x}×`)));
    const buttons = h("span", { class: "mgv-buttons", role: "toolbar", "aria-label": "Steps" }, button("first", "To the start", "home"), button("back", "Back one step", "←"),
      h("span", { class: "mgv-plays" }, this.playButton, speeds), button("next", "Forward one step", "→"), button("last", "To the end", "end"));
    this.shareButton = options.share ? button("share", "Link to this step") : null;
    this.helpButton = button("help", "Keys and legend", "?");
    this.bar = h("div", { class: "mgv-bar" }, buttons, this.slider, this.counter, this.buildTools());
    this.sentence = h("p", { class: "mgv-sentence", role: "status", "aria-live": "polite", "aria-atomic": "true" });
    const label = options.label ? h("p", { class: "mgv-label-of" }, options.label) : null;
    this.head = h("div", { class: "mgv-head" }, label, this.bar, this.sentence);
    this.view = h("div", { class: "mgv-view" });
    this.zoomer = h("span", { class: "mgv-zoom", role: "group", "aria-label": "Zoom" }, button("smaller", "Smaller", "-"), button("fit", "Fit", "0"), button("larger", "Larger", "+"));
    this.map = this.buildMap();
    this.pop = h("div", { class: "mgv-pop", role: "dialog", "aria-label": "The gradient of this edge", hidden: true });
    this.help = h("div", { class: "mgv-help", role: "dialog", "aria-label": "Keys and legend", hidden: true });
    this.stage = h("div", { class: "mgv-stage" }, this.view, this.zoomer, this.map, this.pop, this.help);
    this.flow = h("div", { class: "mgv-flow" });
    this.now = h("div", { class: "mgv-now-side" });
    this.lines = this.lit = this.leafPanel = null;
    this.side = h("div", { class: "mgv-side" }, this.now, this.buildSource());
    this.panels = h("div", { class: "mgv-panels", tabindex: 0, role: "group", "aria-label": "This step, .grad, queue and source" }, this.flow, this.side);
    this.tip = h("div", { class: "mgv-tip", role: "tooltip", hidden: true });
    this.overlayNote = h("p", { class: "mgv-note", hidden: true });
    this.notes = h("div", { class: "mgv-notes" });
    this.frame = h("div", { class: "mgv-frame", tabindex: 0, role: "group", "aria-label": `Backward pass of ${data.title || "a tensor"}. Arrow keys step, space plays, home and end jump, question mark helps.` },
      this.head, h("div", { class: "mgv-body" }, this.stage, this.panels), this.notes, this.tip);
    el.append(this.frame);
    for (const part of [this.panels, this.flow]) part.addEventListener("scroll", () => { this.scrolled = true; }, { passive: true });
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.view.addEventListener("click", (event) => this.clicked(event));
    let rests = ""; // where the pointer stands: what a step moves under it there asks for no tip
    const place = ({ clientX, clientY }) => `${clientX} ${clientY}`;
    this.frame.addEventListener("pointermove", (event) => { rests = place(event); });
    this.view.addEventListener("pointerover", (event) => { const id = event.pointerType === "touch" || this.moved || place(event) === rests ? null : this.nodeAt(event.target); if (id) this.showTip(id, event); });
    this.view.addEventListener("pointerout", () => this.hideTip());
    this.holdPresses();
    this.offerHands();
  }

  // One of the pictures of the pass takes the stage. What is true stays what it is; other boxes ask for it.
  draw(picture, count = 1) {
    const { data } = this, at = this.shown;
    this.drawn = picture;
    this.columns = count;
    this.el.dataset.view = picture.view;
    this.time = timeline(data, picture, this.asking);
    this.painted = null;
    this.picture = this.buildPicture();
    for (const number of Object.keys(data.differs || {})) {
      const node = data.steps[number - 1].node, item = this.nodes.get(picture.folds[node] ?? node);
      if (item) { item.base += Number(number) === (data.first ?? Number(number)) ? " mgv-bad" : " mgv-later"; item.group.setAttribute("class", item.base); }
    }
    this.view.replaceChildren(this.picture);
    this.notes.replaceChildren(...[this.overlayNote, this.badNote(), ...(picture.notes || []).map((note) => h("p", { class: "mgv-note" }, note))].filter(Boolean));
    if (this.options.cut && this.model.send) this.offerCuts();
    this.pop.hidden = true;
    if (this.el.dataset.overlay) this.setOverlay(this.el.dataset.overlay);
    if (at === null) return;
    this.shown = null;
    this.show(at);
  }

  clicked(event) {
    if (this.moved) return; // it was dragged
    const { toggle, node, cut, edge } = (event.detail && this.pressed) || this.under(event); // without a press a program clicks
    this.pressed = null;
    if (toggle) this.toggle(toggle);
    else if (node) this.goToNode(node);
    else if (cut) this.model.send({ edge: cut });
    else edge ? this.showEdge(edge, event) : (this.pop.hidden = true);
  }

  // In viz.explore a click on an edge cuts or joins it. Python does it; the list of edges above the picture does the same by keys.
  offerCuts() {
    for (const [id, name] of Object.entries(this.data["edge names"] || {})) {
      const group = this.edges.get(id)?.group, line = group?.querySelector(".line");
      if (!line) continue;
      const wide = s("path", { d: line.getAttribute("d"), class: "mgv-hit", "data-cut": name });
      wide.append(s("title", {}, `${this.drawn.edges[id].kind === "cut" ? "Join" : "Cut"} ${name}`));
      group.append(wide);
    }
  }

  buildTools() {
    const { data } = this;
    const tools = [];
    if (this.options.ask && !this.options.insist) {
      this.askBox = h("input", { type: "checkbox", onchange: (event) => this.setAsking(event.target.checked) });
      this.askBox.checked = this.asking;
      tools.push(h("label", { class: "mgv-tool" }, this.askBox, "Ask me"));
    }
    const overlays = [["plain", "Plain"], ["size", "Gradient size"]];
    this.bytes = bytesOf(data);
    if (this.bytes.size) overlays.push(["memory", "Memory kept"]);
    if (this.pictures.length > 1) {
      const views = [["", "what fits"], ...this.pictures.map((picture) => [viewName(picture), viewName(picture)])];
      tools.push(h("label", { class: "mgv-tool" }, "View", h("select", { class: "mgv-views", onchange: (event) => { this.wanted = event.target.value || null; this.open.clear(); this.settle(); } },
        views.map(([value, name]) => h("option", { value, selected: (this.wanted ?? "") === value }, name)))));
    }
    if (this.count > 1) tools.push(h("label", { class: "mgv-tool" }, "Show", h("select", { onchange: (event) => this.setOverlay(event.target.value) }, overlays.map(([value, name]) => h("option", { value }, name)))));
    if (data.steps.length > 8) {
      this.found = h("span", { class: "mgv-count", role: "status" });
      tools.push(h("label", { class: "mgv-tool" }, "Find", h("input", { type: "search", placeholder: "Find", size: 12, spellcheck: "false", oninput: (event) => this.search(event.target.value),
        onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); this.nextFound(); } } })), this.found);
    }
    return h("span", { class: "mgv-tools" }, tools, this.shareButton, this.helpButton);
  }

  // ---- moving

  act(action) {
    if (["first", "back", "next", "last"].includes(action)) this.pause();
    if (action === "first") this.go(0);
    else if (action === "back") this.go(this.model.get("step") - 1);
    else if (action === "next") this.go(this.model.get("step") + 1);
    else if (action === "last") this.go(this.end);
    else if (action === "play") this.timer ? this.pause() : this.play();
    else if (action === "fit") this.zoomWhole();
    else if (action === "larger") this.zoomBy(1.25);
    else if (action === "smaller") this.zoomBy(0.8);
    else if (action === "help") this.showHelp();
    else if (action === "share") this.showShare();
  }

  play() {
    clearInterval(this.timer);
    if (this.model.get("step") >= this.end) this.go(0);
    this.timer = setInterval(() => this.held?.isConnected || this.go(this.model.get("step") + 1), (this.options.interval || 1200) / this.speed);
    this.playLook();
  }

  pause() {
    if (this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
    this.playLook();
  }

  playLook() {
    const name = this.timer ? "Pause" : "Play";
    this.playButton.replaceChildren(icon(name.toLowerCase()));
    this.playButton.setAttribute("aria-label", name);
    this.playButton.title = `${name} (space)`;
    this.sentence.setAttribute("aria-live", this.timer && this.speed > 1 ? "off" : "polite"); // faster than it can be read aloud
  }

  // `told`: the step comes from the model, which may count further than this pass (two passes side by side).
  go(step, told = false) {
    const wanted = Math.max(0, Math.min(this.end, step || 0));
    const asked = this.firstAsked(wanted - this.ahead);
    const position = asked ? this.ahead + asked - 1 : wanted;
    if (this.asking) this.limit = Math.max(this.limit, position - this.ahead);
    if (asked) this.pause();
    if (this.model.get("step") !== position && (asked || !told)) {
      this.model.set("step", position);
      this.model.save_changes();
    }
    this.show(position);
    this.slider.value = position; // of two passes side by side it may stand beyond the end of this one
    if (this.model.get("step") >= this.end) this.pause();
    if (asked !== this.posed) this.pose(asked);
  }

  firstAsked(k) {
    if (this.asking) for (let n = this.limit + 1; n <= k; n++) if (this.questions[n]) return n;
    return null;
  }

  goToNode(id) {
    if (this.posed && this.questions[this.posed].kind === "order") return this.answerOrder(id);
    const at = this.time.firings[id] ?? this.time.fired[id];
    // a folded box: its next step, after the last its first
    if (at) { this.pause(); this.go(this.ahead + (at.find((k) => k > this.k) ?? at[0])); }
    else if (this.appears.has(id)) { this.pause(); this.go(this.appears.get(id)); }
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    const action = { ArrowRight: "next", ArrowLeft: "back", Home: "first", End: "last", " ": "play", "+": "larger", "=": "larger", "-": "smaller", 0: "fit", "?": "help" }[event.key];
    const done = () => { event.preventDefault(); event.stopPropagation(); }; // the editor around it has keys of its own
    if (event.key === "Escape") { this.hideTip(); this.pop.hidden = this.help.hidden = true; if (typing) this.frame.focus({ preventScroll: true }); return done(); }
    const opener = /^(Enter| )$/.test(event.key) && event.target.closest("[data-toggle]");
    if (opener) { this.toggle(opener.dataset.toggle); return done(); }
    if (typing || (event.key === " " && /^(BUTTON|SUMMARY)$/.test(event.target.tagName))) return;
    if (event.shiftKey && event.key.startsWith("Arrow")) {
      this.view.scrollBy({ left: { ArrowLeft: -60, ArrowRight: 60 }[event.key] || 0, top: { ArrowUp: -60, ArrowDown: 60 }[event.key] || 0 });
      return done();
    }
    if (event.key === "/" && this.found) { this.bar.querySelector("input[type=search]").focus(); return done(); }
    if (!action) return;
    this.act(action);
    done();
  }

  // ---- showing step k

  show(step) {
    const at = Math.max(0, Math.min(this.count, step || 0)), k = at - this.ahead;
    if (at === this.shown) return;
    this.shown = at;
    this.k = k;
    const now = k > 0 ? this.data.steps[k - 1] : k < 0 ? this.forward[at - 1] : null;
    // what asks where things are comes before what changes something: the browser lays a step out once
    this.posed = null;
    if (this.scrolled) { this.panels.scrollTop = this.flow.scrollTop = 0; this.scrolled = false; } // a step is read from its beginning on
    if (this.alarm) this.alarm.hidden = this.asking && this.limit <= this.badAt; // who is asked finds it: it is told when that step is reached
    this.followNow();
    this.litLine(now ? now.line : null);
    this.paint(k, at);
    if (!this.map.hidden) this.mapTouch();
    this.slider.setAttribute("aria-valuetext", `step ${at} of ${this.count}`);
    this.counter.textContent = `${at} / ${this.count}`;
    this.sentence.textContent = now ? now.sentence : k < 0 ? "Nothing is computed yet: these are the tensors that the program starts from." : this.data.start ? this.data.start.sentence : "";
    const differs = k > 0 && (this.data.differs || {})[k];
    if (differs) this.sentence.append(h("span", { class: "mgv-alarm" }, ` ≠ ${k === this.data.first ? "The first difference" : "Differs"}: ${differs}.`));
    const [flow, side] = k < 0 ? [this.forwardPanel(at), []] : [this.flowPanel(k), this.sidePanel(k)], inside = this.frame.contains(document.activeElement);
    arrange(this.flow, flow.filter(Boolean));
    arrange(this.now, side.filter(Boolean));
    if (inside && !this.frame.contains(document.activeElement)) this.frame.focus({ preventScroll: true }); // what had the focus is gone
    this.el.dataset.step = at;
    this.hideTip();
    if (!this.pop.hidden) this.fillEdge();
  }
}

// what a pane can do; asking.js adds to it where questions are asked
export const abilities = Object.assign(Pane.prototype, painting, panels, overlays, viewport);

export default { render };
