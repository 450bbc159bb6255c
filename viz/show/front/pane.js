// The pane that steps through one recorded backward pass: controls, keys, and the state at each step.
//
// The same in a notebook (anywidget calls `render`) and on a page (show/page.py calls `mount`). It may touch only its own element
// (and the keys of the widgets boxed with it) and its own model: no network, no stored data, no global state except the learner's
// "just show me". The picture is laid out once, in Python; a step changes classes and paints cells.

import { arrange, h, keepKeys, s } from "./elements.js";
import { exporting } from "./exporting.js";
import { finding } from "./finding.js";
import { legend } from "./legend.js";
import { overlays } from "./overlays.js";
import { painting } from "./painting.js";
import { panels } from "./panels.js";
import { partsOf, stepName, strip } from "./strip.js";
import { button, choice, fullWindow, item, menu, Playable, row, toFull, transport } from "./toolbar.js";
import { kindOf, NAMES, viewport } from "./viewport.js";
import { bytesOf, timeline, unpack } from "./timeline.js";

const SPEEDS = [0.5, 1, 2, 4, 8], ORDER = ["map", "fold", "lanes", "cards", "functions", "graph"], IN_BAR = 3; // speeds; views; the number of views named in the toolbar, the others being in the menu

// A separate page can be linked to: page.html#step=7&view=cards opens there, and the address follows the steps.
export function mount(el, data, options = {}) {
  if (!options.framed) {
    const asked = new URLSearchParams(location.hash.slice(1)), step = Number(asked.get("step"));
    options = { ...options, share: true, ...(asked.has("view") && { view: asked.get("view") }), ...(Number.isInteger(step) && step > 0 && { step }) };
  }
  const state = { data, step: options.step || 0, options }, news = new EventTarget();
  const model = {
    get: (key) => state[key],
    set: (key, value) => { if (state[key] !== value) { state[key] = value; news.dispatchEvent(new Event(`change:${key}`)); } },
    on: (event, f) => news.addEventListener(event, f), off: (event, f) => news.removeEventListener(event, f), save_changes: () => {},
  };
  const pane = open(model, el);
  let waits = 0;
  if (options.share) model.on("change:step", () => { clearTimeout(waits); waits = setTimeout(() => history.replaceState(null, "", pane.address()), 300); }); // browsers allow only a few changes per second
  return Object.assign(model, { layOutPane: () => pane.onSize() });
}

export function render({ model, el }) {
  const pane = open(model, el);
  return () => pane.close();
}

// In a widget the data are text, on a page they are parsed already.
const besideOf = (data) => (typeof data !== "string" ? data.beside : data.startsWith('{"beside"') ? JSON.parse(data).beside : null);
const open = (model, el) => { const passes = besideOf(model.get("data")); return passes ? abilities.openBeside(model, el, Pane, passes) : new Pane(model, el); };

class Pane extends Playable {
  constructor(model, el) {
    super();
    Object.assign(this, { model, el, options: model.get("options") || {}, keepKeys });
    this.speed = 1;
    this.reducedMotion = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.waiting = new Set();
    const later = (f) => () => (this.held?.isConnected ? this.waiting.add(f) : f());
    this.onSize = later(() => this.layOutPane());
    this.resize = new ResizeObserver(this.onSize);
    this.onStep = later(() => this.go(this.model.get("step"), true));
    this.onData = later(() => this.load());
    this.load();
    model.on("change:step", this.onStep);
    model.on("change:data", this.onData);
    this.resize.observe(this.el);
    window.addEventListener("resize", this.onSize, { signal: this.closed.signal });
  }

  // Takes the payload of the model: at the start, and whenever Python has computed a new one (viz.explore).
  load() {
    const model = this.model, atEnd = this.count !== undefined && this.shown === this.count;
    this.data = unpack(model.get("data"));
    this.pictures = [this.data, ...(this.data.pictures || [])];
    const all = new Set(this.pictures.map(kindOf));
    this.kinds = [...all].filter((kind) => kind !== "fold" || !all.has("map")).sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
    const asked = this.wanted ?? this.options.view;
    this.wanted = this.kinds.find((kind) => kind === asked) ?? this.pictures.filter((picture) => picture.view === asked).map(kindOf)[0] ?? null;
    // positions below `ahead` belong to the forward pass, those from `ahead` on to the backward pass; k counts backward steps
    this.forward = this.options.forward ? this.data.forward || [] : [];
    this.ahead = this.forward.length ? this.forward.length + 1 : 0;
    this.count = this.ahead + this.data.steps.length;
    this.end = Math.max(this.count, this.options.last ?? 0); // the length of the longer of two passes side by side
    this.questions = this.data.questions || {};
    this.asking = Boolean(this.options.ask) && (this.options.insist || this.wishes());
    this.limit = this.options.insist ? this.answered() : 0; // the last step revealed so far, if questions are asked
    this.posed = null; // the step that the current question is about
    this.open = new Set(); // open boxes
    this.index = this.hits = this.widths = this.twoColumns = this.scale1 = null;
    this.columnWidth = 300;
    this.least = 9; // font size in a box, until its scale is known
    this.range = this.shown = this.laidOutFor = this.picture = this.opened = null;
    const inside = this.el.contains(document.activeElement);
    this.build();
    this.draw(this.pictures[0]);
    if (inside) this.frame.focus({ preventScroll: true });
    this.go(atEnd ? this.count : model.get("step"));
    this.layOutPane();
  }

  close() {
    this.pause();
    this.resize.disconnect();
    this.closed.abort();
    this.model.off("change:step", this.onStep);
    this.model.off("change:data", this.onData);
  }

  // ---- building, once

  build() {
    const { el, data, options } = this;
    el.replaceChildren();
    el.classList.add("mgv");
    delete el.dataset.step;
    const act = (action) => this.act(action);
    const buttons = transport(act);
    this.playButton = buttons.querySelector("[data-action=play]");
    this.strip = strip(this.parts(), this.end, "Step of the backward pass", (step) => { this.pause(); this.go(step); });
    this.counter = h("span.count"); // the spoken sentence begins with it
    this.bar = h("div.bar", { role: "toolbar", "aria-label": "Backward pass" }, buttons, this.strip, this.counter, this.buildTools(act));
    this.sentence = h("p.sentence", { role: "status", "aria-live": "polite", "aria-atomic": "true", "data-label": options.label });
    this.head = h("div.head", options.lead ? null : this.bar, h("div.says", this.sentence, this.longest())); // only one of two panes has the toolbar, above both
    this.view = h("div.view");
    this.zoomer = h("span.zoom", { role: "group", "aria-label": "Zoom" }, button("smaller", "Smaller", "-", act), button("fit", "Show all", "0", act), button("larger", "Larger", "+", act));
    this.crumbs = h("nav.crumbs", { "aria-label": "Open boxes", hidden: true });
    this.pop = h("div.pop", { role: "dialog", "aria-label": "Details", hidden: true });
    this.help = h("div.help", { role: "dialog", "aria-label": "Keys and legend", hidden: true });
    this.tip = h("div.tip", { role: "tooltip", hidden: true });
    this.stage = h("div.stage", this.view, this.zoomer, this.crumbs, this.pop, this.tip, this.help);
    this.flow = h("div.flow");
    this.now = h("div.now-side");
    this.lines = this.currentLine = this.leafPanel = null;
    this.side = h("div.side", this.now, this.buildSource());
    this.fresh = null; // the measured content of the panels
    this.panels = h("div.panels", { tabindex: 0, role: "group", "aria-label": "This step, .grad, queue and source" }, this.flow, this.side);
    this.overlayNote = h("p.note", { hidden: true });
    this.notes = h("div.notes");
    this.frame = h("div.frame", { tabindex: 0, role: "group", "aria-label": `Backward pass of ${data.title || "a tensor"}. Arrow keys step, with shift part by part; space plays, home and end jump, question mark opens help.` },
      this.head, h("div.body", this.stage, this.panels), this.notes);
    el.append(this.frame);
    for (const part of [this.panels, this.flow]) part.addEventListener("scroll", () => { this.scrolled = true; }, { passive: true });
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.view.addEventListener("click", (event) => this.clicked(event));
    this.view.addEventListener("dblclick", (event) => { this.opens((this.pressed ?? this.elementsAt(event)).node); this.pressed = null; }); // the view has captured the pointer
    let rests = ""; // where the pointer last was: an element that moves under a still pointer shows no tooltip
    const place = ({ clientX, clientY }) => `${clientX} ${clientY}`;
    addEventListener("pointermove", (event) => { rests = place(event); }, { signal: this.closed.signal });
    this.view.addEventListener("pointerover", (event) => { const id = event.pointerType === "touch" || this.moved || place(event) === rests ? null : this.nodeAt(event.target); if (id) this.showTip(id, event); });
    this.view.addEventListener("pointerout", () => { this.tip.hidden = true; });
    this.capturePresses();
    this.listenToPointer();
  }

  // The longest sentences of this pass, invisible behind the current one: they reserve its height, so none is cut and none moves the picture.
  longest() {
    const { data, options } = this, said = [...[data.start || {}, ...this.forward].map(({ sentence = "" }) => sentence), ...data.steps.map(({ sentence }, i) => `${options.ask ? "Correct. " : ""}${sentence}${this.differs?.(i + 1) ?? ""}`)];
    return said.sort((a, b) => b.length - a.length).slice(0, 4).map((text) => h("p.unseen", { "aria-hidden": "true", "data-label": options.label }, options.ask ? text.replace(/\w/g, "x") : text)); // while a question is asked, they must not contain its answer
  }

  // Puts one of the pass's pictures on the stage. The state of the pass does not change; other boxes display it.
  draw(picture) {
    const at = this.shown;
    this.drawn = picture;
    this.el.dataset.view = picture.view;
    this.time = timeline(this.data, picture, this.asking);
    this.painted = this.scale1 = null;
    this.picture = this.buildPicture();
    if (this.data.differs) this.markDifferences();
    this.view.replaceChildren(this.picture);
    this.notes.replaceChildren(...[this.overlayNote, this.badNote()].filter(Boolean));
    if (this.options.cut) this.offerCuts?.();
    if (!this.pop.hidden && this.nodes.has(this.selected)) this.select(this.selected);
    else this.pop.hidden = true;
    if (this.el.dataset.overlay) this.setOverlay(this.el.dataset.overlay);
    this.markFound();
    if (at === null) return;
    this.shown = null;
    this.show(at);
  }

  // A click selects an element and describes it; a second one opens a box.
  clicked(event) {
    if (this.moved || event.detail > 1) return; // a drag, or the second click of a double click
    const { toggle, node, cut, edge } = (event.detail && this.pressed) || this.elementsAt(event); // without a press, the click came from a program
    this.pressed = null;
    if (toggle) this.toggle(toggle);
    else if (node) this.posed && this.questions[this.posed].kind === "order" ? this.answerOrder(node) : this.select(node);
    else if (cut) this.model.send({ edge: cut });
    else edge ? this.showEdge(edge, event) : this.select(null);
  }

  // The parts of the strip. If the question is about the order, the strip must not show it.
  parts() {
    const drawn = this.pictures.find((picture) => Object.keys(picture.folds).length), hide = this.asking && this.options.ask === "order";
    return partsOf(this.data.steps, this.ahead, (f) => drawn?.nodes[drawn.folds[f]]?.name, (step) => (hide ? "" : stepName(step)));
  }

  buildTools(act) {
    const { data } = this, tools = [];
    if (this.options.ask && !this.options.insist) {
      this.askBox = h("input", { type: "checkbox", onchange: (event) => this.setAsking(event.target.checked) });
      this.askBox.checked = this.asking;
      tools.push(h("label.tool", this.askBox, "Ask me"));
    }
    this.bytes = bytesOf(data);
    const words = (kinds) => choice("View", kinds.map((kind) => [kind, NAMES[kind], `Show ${NAMES[kind].toLowerCase()}`]), () => kindOf(this.drawn ?? this.pictures[0]), (kind) => this.all((pane) => pane.setView(kind)));
    const shown = this.kinds.slice(0, IN_BAR), rest = this.kinds.slice(IN_BAR);
    this.views = [shown, rest].map((kinds, n) => (kinds.length > 1 - n ? words(kinds) : null));
    const looks = [["size", "Gradient size", "The wider an arrow, the larger its gradient"], ...(this.bytes.size ? [["memory", "Saved memory", "Bytes that each box keeps for backward"]] : [])];
    this.looks = this.count > 1 ? choice("Overlay", looks, () => this.el.dataset.overlay || "", (name) => this.all((pane) => pane.setOverlay(name === pane.el.dataset.overlay ? "" : name))) : null;
    const save = [item("SVG", () => this.saveSvg()), item("PNG", () => this.savePng()), this.model.send || document.getElementById("packed") ? item("Page", () => this.savePage()) : null, this.options.share ? item("Link", () => this.showShare()) : null];
    this.more = menu([
      row("Speed", choice("Playback speed", SPEEDS.map((x) => [x, `${x === 0.5 ? "½" : x}×`, `${x === 0.5 ? "half" : `${x} times`} as fast`]), () => this.speed, (x) => { this.speed = x; if (this.timer) this.play(); })),
      this.looks && row("Overlay", this.looks), this.views[1] && row("View", this.views[1]), this.options.framed && !this.model.send ? null : row("Save", save), row("", item("Keys and legend (?)", () => { this.more.open(false); this.showHelp(); })),
    ].filter(Boolean));
    const find = data.steps.length > 8 ? this.buildFind() : null;
    return h("span.tools", tools, this.views[0], find, this.more, fullWindow(() => act("full")));
  }

  // This pane, and the one that follows its toolbar.
  all(act) { for (const pane of this.options.panes?.() ?? [this]) act(pane); }

  setView(kind) {
    if (!this.kinds.includes(kind)) return;
    this.wanted = kind;
    this.open.clear();
    this.layOutPane(true);
    this.showCrumbs();
  }

  // ---- moving

  act(action) {
    const step = this.model.get("step"), to = { first: 0, back: step - 1, next: step + 1, last: this.end, backPart: this.strip.before(step), nextPart: this.strip.next(step) }[action];
    const does = { play: () => (this.timer ? this.pause() : this.play()), fit: () => this.zoomWhole(), larger: () => this.zoomBy(1.25), smaller: () => this.zoomBy(0.8),
      help: () => this.showHelp(), full: () => toFull(this.options.host?.() ?? this.frame) };
    if (to === undefined) return does[action]();
    this.pause();
    this.go(to);
  }

  play() {
    if (this.model.get("step") >= this.end) this.go(0);
    super.play();
  }

  interval() { return (this.options.interval || 1200) / this.speed; }

  advance() { this.held?.isConnected || this.go(this.model.get("step") + 1); }

  played() { this.sentence.setAttribute("aria-live", this.timer && this.speed > 1 ? "off" : "polite"); } // faster than a screen reader can read

  // `fromModel`: the step comes from the model, which may count further than this pass (two passes side by side).
  go(step, fromModel = false) {
    const wanted = Math.max(0, Math.min(this.end, step || 0));
    const asked = this.firstAsked(wanted - this.ahead);
    const position = asked ? this.ahead + asked - 1 : wanted;
    if (this.asking) this.limit = Math.max(this.limit, position - this.ahead);
    if (asked) this.pause();
    if (this.model.get("step") !== position && (asked || !fromModel)) {
      this.model.set("step", position);
      this.model.save_changes();
    }
    this.show(position);
    this.strip.show(position, `step ${position} of ${this.end}`); // for two passes side by side it may be past the end of this one
    if (this.model.get("step") >= this.end) this.pause();
    if (asked !== this.posed) this.pose(asked);
  }

  firstAsked(k) {
    if (this.asking) for (let n = this.limit + 1; n <= k; n++) if (this.questions[n]) return n;
    return null;
  }

  goToNode(id) {
    this.pop.hidden = true;
    if (this.posed && this.questions[this.posed].kind === "order") return this.answerOrder(id);
    const at = this.time.firings[id] ?? this.time.fired[id];
    // a folded box: its next step, or after the last its first
    if (at) { this.pause(); this.go(this.ahead + (at.find((k) => k > this.k) ?? at[0])); }
    else if (this.appears.has(id)) { this.pause(); this.go(this.appears.get(id)); }
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (this.options.lead && !event.key.match(/^[-+=0?]$|Escape|Enter|Arrow(Up|Down)/)) return this.options.lead().key(event);
    const typing = event.target.matches("input:not([type=range], [type=checkbox]), textarea"), shift = event.shiftKey && event.key.startsWith("Arrow");
    const action = { ArrowRight: shift ? "nextPart" : "next", ArrowLeft: shift ? "backPart" : "back", Home: "first", End: "last", " ": "play", "+": "larger", "=": "larger", "-": "smaller", 0: "fit", "?": "help", f: "full", F: "full" }[event.key];
    const done = () => { event.preventDefault(); event.stopPropagation(); }; // the surrounding editor has shortcuts of its own
    if (event.key === "Escape") {
      const shut = [this.more.open(false), !this.pop.hidden, !this.help.hidden].some(Boolean);
      this.tip.hidden = this.pop.hidden = this.help.hidden = true;
      if (typing || event.target.closest(".mgv-pop, .mgv-help")) this.frame.focus({ preventScroll: true }); // what had the focus is hidden
      if (typing || (!shut && this.hits?.length)) this.all((pane) => pane.search(""));
      else if (!shut && this.open.size) this.toggle([...this.open].at(-1)); // closes the box opened last
      return done();
    }
    const opener = /^(Enter| )$/.test(event.key) && event.target.closest("[data-toggle]");
    if (opener) { this.toggle(opener.dataset.toggle); return done(); }
    if (typing || (event.key === " " && /^(BUTTON|SUMMARY|INPUT)$/.test(event.target.tagName) && event.target.type !== "range")) return;
    const by = { ArrowUp: [0, -60], ArrowDown: [0, 60], "[": [-60, 0], "]": [60, 0] }[event.key];
    if (by) { this.view.scrollBy(...by); return done(); }
    if (event.key === "/" && this.finder) { this.finder.focus(); return done(); }
    if (!action) return;
    this.act(action);
    done();
  }

  // ---- showing step k

  show(step) {
    const at = Math.max(0, Math.min(this.count, step || 0)), k = at - this.ahead;
    if (at === this.shown) return;
    this.before = this.shown ?? at;
    this.shown = at;
    this.k = k;
    const now = k > 0 ? this.data.steps[k - 1] : k < 0 ? this.forward[at - 1] : null;
    this.strip.show(at, `step ${at} of ${this.count}`);
    // all measurements before all changes, so that the browser does one layout per step
    this.posed = null;
    if (this.scrolled) { this.panels.scrollTop = this.flow.scrollTop = 0; this.scrolled = false; } // a new step is read from its beginning
    if (this.alarm) this.alarm.hidden = this.asking && this.limit <= this.badAt; // the learner is to find it: it is shown once that step is reached
    this.followNow();
    this.highlightLine(now ? now.line : null);
    this.paint(k, at);
    this.counter.textContent = `${at} / ${this.count}`;
    this.sentence.textContent = now ? now.sentence : k < 0 ? "Nothing has been computed yet: these are the tensors that the program starts from." : this.data.start ? this.data.start.sentence : "";
    const differs = this.differs?.(k);
    if (differs) this.sentence.append(h("span.alarm", differs));
    [this.terse, , this.listed] = this.levels?.[at] ?? [k && this.data.steps.length > 40 ? 1 : 0, , false];
    this.fillPanels();
    this.el.dataset.step = at;
    this.tip.hidden = true;
    if (!this.pop.hidden) this.fillPop();
    this.layOutPanels();
    this.showLine();
  }

  fillPanels() {
    const { k } = this, flow = this.posed ? this.askedPanel() : k < 0 ? this.forwardPanel(this.shown) : this.flowPanel(k), side = k < 0 ? [] : [this.leaves(k), this.queue(k)], inside = this.frame.contains(document.activeElement);
    arrange(this.flow, flow.filter(Boolean));
    arrange(this.now, side.filter(Boolean));
    this.filled = `${this.terse} ${this.listed} ${this.columnWidth}`;
    if (inside && !this.frame.contains(document.activeElement)) this.frame.focus({ preventScroll: true }); // the focused element is gone
  }
}

// the pane's base methods; the later files add to them
export const abilities = Object.assign(Pane.prototype, exporting, finding, legend, overlays, painting, panels, viewport);

export default { render };
