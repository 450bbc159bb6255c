// The player: controls and keys, the sentences, and for each film a view with its table, ribbon and loss.
//
// The same in a notebook (anywidget calls `render`) and on a page (`mount`). It touches its own element and nothing else.

import { coloursOf, markOf, sized, write } from "./colours.js";
import { broken, isKnown, Film, lossText, normText, scaleOf } from "./data.js";
import { axisOf, flagsOf, paintHead, paintHistory } from "./ribbon.js";
import { FOOT, layOut, leafNumbers, paintTable, TOP, whatIsAt } from "./table.js";

export function mount(el, data, options = {}) {
  const player = new Player(el, data, options);
  return Object.assign(player, { layOutPane: () => {} });
}

export function render({ model, el }) {
  const player = new Player(el, model.get("data"), model.get("options") || {});
  return () => player.close();
}

function mark(kind) {
  const svg = s("svg", { viewBox: "0 0 13 13", class: "mgf-mark", "aria-hidden": "true" }), [d, colour] = markOf(kind);
  svg.append(s("path", { d, "fill-rule": "evenodd", style: `fill: var(--${colour})` }));
  return svg;
}

const MOST = 4; // findings below the first

class Player extends Playable {
  constructor(el, data, options) {
    super();
    Object.assign(this, { el, data, options, speed: 8, row: 0 });
    this.films = data.films.map((raw) => new Film(raw));
    this.scale = scaleOf(this.films);
    this.mode = this.scale.narrow && this.films.length === 1 ? "each" : "all";
    this.steps = [...new Set(this.films.flatMap((film) => film.steps))].sort((a, b) => a - b); // the slider counts training steps
    this.span = this.films.length > 1 ? [this.steps[0], this.steps[this.steps.length - 1] + Math.max(...this.films.map((f) => f.every))] : null;
    this.build();
    this.resize = new ResizeObserver(() => this.fit());
    this.resize.observe(this.stage);
    this.frame.addEventListener("transitionend", ({ target }) => { if (target === this.frame) { this.colours = null; this.fit(true); } }); // the theme changed, for whatever reason
    this.high = () => { if (this.views.some((view) => view.tall !== this.tall())) this.fit(true); };
    window.addEventListener("resize", this.high, { signal: this.closed.signal });
    this.go(options.at ?? this.opening());
    this.fit(true);
    this.high();
    el.dataset.ready = "";
  }

  close() {
    this.pause();
    this.closed.abort();
    this.resize.disconnect();
    if (this.inner) this.inner.remove();
  }

  build() {
    const { el } = this;
    el.classList.add("mgv", "mgf");
    el.replaceChildren();
    const buttons = transport((act) => this.act(act), "frame");
    this.playButton = buttons.querySelector("[data-action=play]");
    this.strip = strip([{ name: "", from: 0, to: this.steps.length - 1 }], this.steps.length - 1, "Training step", (k) => { this.pause(); this.go(k); });
    this.counter = h("output.count");
    this.modes = choice("Scale of the ribbon", [["each", "Each row", "each row on its own scale"], ["all", "All rows", "one scale for all rows"]], () => this.mode, (mode) => { this.mode = mode; this.fit(true); });
    this.speeds = choice("Frames per second", [2, 4, 8, 16, 30].map((v) => [v, String(v), `${v} frames per second`]), () => this.speed, (v) => { this.speed = v; if (this.timer) this.play(); });
    this.insideButton = h("button", { class: "mgv-item mgf-inside", title: "Open this frame's backward pass in the stepper (enter)", onclick: () => this.act("inside") }, "Step inside ◆");
    this.menu = menu([row("Speed", this.speeds, h("span", "frames per second")), row("Save", item("PNG", () => this.savePicture())),
      h("p.note", "← → frame, ↑ ↓ row, space plays, N next finding, R scale, enter steps inside, F full window")]);
    const any = this.films.some((film) => Object.keys(film.kept).length);
    this.bar = h("div.bar", { role: "toolbar", "aria-label": "Film" }, buttons, this.strip, this.counter, any ? this.insideButton : null, this.modes, this.menu);
    this.words = h("div", { class: "mgf-findings", role: "status", "aria-live": "polite" }, this.films.map((film, n) => this.headline(film, n)));
    this.views = this.films.map((film, n) => this.buildView(film, n));
    this.stage = h("div", { class: `mgf-stage${this.films.length > 1 ? " mgf-beside" : ""}` }, this.views.map((view) => view.box));
    this.rowLine = h("div", { class: "mgf-row", hidden: true });
    this.key = h("div", { class: "mgf-key" });
    this.innerBox = h("div", { class: "mgf-inner", hidden: true });
    this.tip = h("div", { class: "mgf-tip", role: "tooltip", hidden: true });
    const notes = this.films.flatMap((film) => film.notes);
    this.notes = h("p", { class: "mgf-notes", hidden: !notes.length }, notes.slice(0, 3).join(" · "));
    this.frame = h("div", { class: "mgv-frame mgf-frame", tabindex: 0, role: "group", "aria-label": `Film of a training run, ${this.steps.length} frames. Arrow keys change the frame, up and down the row, space plays, R changes the ribbon, enter steps inside.` },
      this.words, this.bar, this.stage, this.rowLine, this.key, this.notes, this.tip);
    this.frame.addEventListener("keydown", (e) => this.keyed(e));
    this.bar.append(fullWindow(() => toFull(this.frame)) || "");
    el.append(this.frame, this.innerBox);
  }

  buildView(film, n) {
    const base = h("canvas", { "aria-hidden": "true" }), now = h("canvas", { role: "img" }), table = h("div", { class: "mgf-sr" });
    const box = h("div", { class: "mgf-view" }, base, now, table), view = { film, n, base, now, table, box };
    const at = (e) => { const r = now.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    const scrub = (x) => { this.pause(); this.go(this.near(film.steps[this.nearest(view, x)])); };
    now.addEventListener("pointerdown", (e) => {
      const [x, y] = at(e), L = view.at, flag = flagsOf(film, view.axis).find((f) => Math.hypot(f.x - x, f.y - y) < 8);
      if (flag) { this.goTo(flag, view); return; }
      if (x < L.ribbonX - 4) { const what = whatIsAt(film, view.scene, view.i, L, x, y); if (what) this.select(what.row); return; }
      scrub(x);
      if (L.rowAt(y)) this.select(L.rowAt(y));
      now.setPointerCapture(e.pointerId);
      view.drag = true;
    });
    now.addEventListener("pointermove", (e) => { const [x, y] = at(e); if (view.drag) scrub(x); this.hover(view, x, y); });
    for (const end of ["pointerup", "pointercancel"]) now.addEventListener(end, () => { view.drag = false; });
    now.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    return view;
  }

  nearest(view, x) { const { film, axis } = view; return Math.max(0, Math.min(film.count - 1, film.frameAt(axis.stepAt(x)))); }
  near(step) { return Math.max(0, upTo(this.steps, step) - 1); }

  hover(view, x, y) {
    const { film, at, scene } = view;
    let text = null;
    const flag = flagsOf(film, view.axis).find((f) => Math.hypot(f.x - x, f.y - y) < 8);
    if (flag) text = flag.text;
    else if (x >= at.ribbonX && at.rowAt(y)) {
      const frame = this.nearest(view, x), r = at.rowAt(y), i = scene.inScene.get(frame);
      text = i === undefined ? `step ${film.steps[frame]}: a different graph` : `${scene.rows[r].name}, step ${film.steps[frame]}: ${normText(film.into(scene, i, r))}${isKnown(film.into(scene, i, r)) ? `, ${normText(film.into(scene, i, r) - film.into(scene, i, 1))} of the bottom row` : ""}`;
    } else if (x >= at.ribbonX && y < TOP) { const frame = this.nearest(view, x); text = `step ${film.steps[frame]}: loss ${lossText(film.losses[frame])}`; }
    else text = whatIsAt(film, scene, view.i, at, x, y)?.text;
    this.tip.hidden = !text;
    if (!text) return;
    this.tip.textContent = text;
    const { left, top } = view.now.getBoundingClientRect();
    placeBeside(this.tip, this.frame, left + x, top + y);
  }

  // ---- size, theme, mode: everything that does not depend on the frame

  fit(force) {
    if (!this.stage.clientWidth) return;
    this.colours ||= coloursOf(this.frame);
    for (const view of this.views) {
      const width = Math.floor(view.box.clientWidth);
      if (!force && view.width === width) continue;
      view.width = width;
      view.scene = null;
    }
    this.show();
    this.paintKey();
    if (!force) this.high(); // the legend may take more lines than expected
  }

  // The height left for rows: that of the notebook's own scroller without the part above the cell's output, or that of the window.
  tall() {
    const scroller = this.el.closest(".jp-WindowedPanel-outer, .jp-NotebookPanel-notebook"), cell = this.el.closest(".jp-Cell"), top = this.frame.getBoundingClientRect().top;
    const room = scroller ? scroller.clientHeight - (cell ? Math.min(top - cell.getBoundingClientRect().top, 0.3 * scroller.clientHeight) : 0) - 14 : window.innerHeight - Math.max(0, Math.min(120, top + window.scrollY)) - 16;
    const around = [this.words, this.bar, this.notes].reduce((sum, part) => sum + part.offsetHeight, Math.max(41, this.key.offsetHeight) + 2 + TOP + FOOT);
    return Math.max(160, Math.min(this.films.length > 1 ? 400 : 500, room - around));
  }

  layOut(view, scene) {
    view.scene = scene;
    view.tall = this.tall();
    view.at = layOut(scene, view.width, { beside: this.films.length > 1, tall: view.tall });
    view.axis = axisOf(view.film, view.at, this.span);
    view.box.style.minHeight = `${view.at.height}px`;
    const c = sized(view.base, view.width, view.at.height);
    paintHistory(c, view.film, scene, view.at, view.axis, this.scale, this.colours, this.mode);
    view.c = sized(view.now, view.width, view.at.height);
  }

  // ---- one frame

  go(k) {
    this.k = Math.max(0, Math.min(this.steps.length - 1, k));
    this.show();
  }

  show() {
    if (this.k === undefined || !this.colours) return;
    const step = this.steps[this.k];
    for (const view of this.views) {
      const { film } = view, frame = film.frameAt(step), scene = film.scenes[film.sceneOf[frame]];
      view.frame = frame;
      if (!scene) { this.unknown(view); continue; } // a scene that is not among the most frequent
      if (view.scene !== scene) this.layOut(view, scene);
      view.i = scene.inScene.get(frame);
      view.c.clearRect(0, 0, view.width, view.at.height);
      paintTable(view.c, film, scene, view.i, view.at, this.scale, this.colours, this.row);
      paintHead(view.c, film, frame, view.at, view.axis, this.colours, this.films.length > 1 ? film.title : "");
      this.paintCell(view);
    }
    this.words.setAttribute("aria-live", this.timer ? "off" : "polite");
    this.strip.show(this.k, `step ${step} of ${this.steps[this.steps.length - 1]}`);
    this.counter.textContent = `step ${step} / ${this.steps[this.steps.length - 1]}`;
    const kept = Boolean(this.keptNow());
    this.insideButton.setAttribute("aria-disabled", String(!kept)); // it keeps the focus, and its title gives the reason
    this.insideButton.title = kept ? "Open this frame's backward pass in the stepper (enter)" : "Only the frames with a ◆ on the axis were kept whole";
    this.describeRow();
    this.el.dataset.step = step;
    clearTimeout(this.idle);
    this.idle = setTimeout(() => this.describeAll(), this.timer ? 600 : 120);
  }

  unknown(view) {
    view.scene ||= null;
    if (!view.at) this.layOut(view, view.film.scenes[0]);
    view.c.clearRect(0, 0, view.width, view.at.height);
    paintHead(view.c, view.film, view.frame, view.at, view.axis, this.colours, "this graph's shape occurs too rarely to be laid out");
  }

  paintCell({ c, at, axis, film, frame, scene, i }) {
    if (!(this.row > 0 && this.row <= at.rows)) return;
    const x = axis.left(frame), w = Math.max(4, axis.left(film.until(scene, i)) - x);
    c.strokeStyle = this.colours.ink;
    c.lineWidth = 2;
    c.strokeRect(x, at.rowY(this.row) - at.pitch / 2 + 1, w, at.pitch - 2);
  }

  // ---- sentences

  found(view) {
    const { film, frame } = view;
    return film.findings.filter((f) => f.from <= frame && frame <= f.to && (f.scene === film.sceneOf[frame] || !f.row));
  }

  // Where a film opens: at the first alarm, otherwise at its end.
  opening() {
    const alarms = this.films.flatMap((film) => film.findings.filter((f) => f.alarm).slice(0, 1).map((f) => film.steps[f.from]));
    return alarms.length ? this.near(Math.min(...alarms)) : this.steps.length - 1;
  }

  // The loss from first to last, and the findings: the first one large, the others in a line below.
  headline(film, n) {
    const known = film.losses.filter((v) => v !== null), two = (v) => lossText(v, 2);
    const loss = known.length > 1 ? `Loss ${two(known[0])} → ${two(known[known.length - 1])}.` : known.length ? `Loss ${two(known[0])}.` : "";
    const finding = (f, first) => h("button", { class: `mgf-finding${f.alarm ? " mgf-alarm" : ""}`, title: f.text, onclick: () => this.goTo(f, this.views[n]) }, mark(f.kind), f.under && !first ? h("i", "so") : null, h("span", f.text), h("i", f.from || f.to < film.count - 1 ? `at step ${film.steps[f.from]}` : ""));
    const [first, ...others] = film.findings, many = this.films.length > 1;
    const name = many ? h("b", `${film.title || `film ${n + 1}`}: `) : null;
    const shown = many ? [] : others.slice(0, MOST), left = others.length - shown.length;
    return h("div", { class: "mgf-film" }, h("p", { class: "mgf-headline" }, name, h("b", loss), " ", first ? finding(first, true) : this.allWell(film)),
      shown.length ? h("p", { class: "mgf-others" }, shown.map((f) => finding(f)), left ? h("i", `and ${left} more, in film.findings`) : null) : null);
  }

  allWell(film) {
    const every = film.scenes.every((scene) => scene.at.every((_, i) => scene.rows.every((row, r) => !r || isKnown(film.into(scene, i, r)))));
    return every ? h("span", { class: "mgf-well" }, mark("fine"), film.count === 1 ? "Every row gets a gradient." : `Every row gets a gradient in all ${film.count} frames.`) : "";
  }

  goTo(finding, view) {
    this.pause();
    this.go(this.near(view.film.steps[finding.from]));
    this.select(finding.row);
  }

  select(row) {
    this.row = row > 0 ? row : 0;
    this.show();
  }

  rowText(view, r) {
    const { film, scene, i } = view, l = film.into(scene, i, r), before = i > 0 ? film.into(scene, i - 1, r) : NaN;
    const change = isKnown(l) && isKnown(before) ? `, ×${Number((10 ** (l - before)).toPrecision(2))} since the frame before` : "";
    const share = l - film.into(scene, i, 1), out = [`receives ${normText(l)}${change}${r > 1 && isKnown(l) && isKnown(share) ? `; ${normText(share)} of the bottom row` : ""}`], course = film.course(scene, r);
    if (course) out.push(`first → last ${course[0]}, ${course[1]}`);
    for (const f of scene.functions) if (f.row === r && f.gate >= 0) { const dead = scene.deadAt[i] && scene.deadAt[i][f.gate]; out.push(`${f.label} ${Math.round(100 * film.zeros(scene, i, f.gate))} % zeros${dead ? `, ${dead} dead` : ""}`); }
    for (const leaf of scene.leaves) if (leaf.row === r) { const [value, grad, update] = leafNumbers(film, scene, i, leaf); out.push(leaf.alias ? `${leaf.name} adds ${grad[0]}` : `${leaf.name} ‖value‖ ${value[0]}, ‖grad‖ ${grad[0]}, update ${update[0]}`); }
    return out;
  }

  describeRow() {
    const view = this.views[0], scene = view.scene;
    this.rowLine.hidden = !(scene && this.row > 0 && this.row < scene.rows.length && this.films.length === 1);
    if (this.rowLine.hidden) return;
    this.rowLine.replaceChildren(h("b", scene.rows[this.row].name), ...this.rowText(view, this.row).map((text) => h("span", text)));
  }

  // The whole table in words, for screen readers, while the film is not playing.
  describeAll() {
    for (const view of this.views) {
      if (!view.scene || view.i === undefined) continue;
      const step = view.film.steps[view.frame];
      view.now.setAttribute("aria-label", `${view.film.title || "Backward pass"}, step ${step}, loss ${lossText(view.film.losses[view.frame])}. ${this.found(view).map((f) => f.text).join(" ")}`);
      view.table.replaceChildren(h("table", h("caption", `Step ${step}, loss ${lossText(view.film.losses[view.frame])}: rows from the loss back`),
        view.scene.rows.slice(1).map((row, n) => h("tr", h("th", { scope: "row" }, row.name), this.rowText(view, n + 1).map((text) => h("td", text))))));
    }
    this.el.dataset.told = this.steps[this.k];
  }

  // ---- legend

  paintKey() {
    const k = this.colours, { low, high, ticks } = this.scale, thick = Math.max(...this.views.map((v) => (v.at ? v.at.thick : 0))), wide = (l) => 0.8 + (thick - 0.8) * ((l - low) / (high - low));
    const each = this.mode === "each", part = (title, sub, svg) => h("span", h("span", { class: "mgf-cap" }, h("b", title), sub), svg);
    const text = (svg, x, label) => svg.append(s("text", { x, y: 26, "text-anchor": "middle" }, label));
    const widths = s("svg", { width: 36 * ticks.length, height: 29, role: "img", "aria-label": `arrow width from 1e${low} to 1e${high}, logarithmic` });
    ticks.forEach((t, n) => { const w = wide(t); widths.append(s("rect", { x: 36 * n, y: 9 - w / 2, width: 29, height: w, fill: k.steady })); text(widths, 36 * n + 15, `1e${t}`); });
    const change = s("svg", { width: 142, height: 29, role: "img", "aria-label": "arrow colour: change since the frame before, from halved through steady to doubled" });
    [["≤ ÷2", "down-2"], ["", "down-1"], ["± 10 %", "steady"], ["", "up-1"], ["≥ ×2", "up-2"]].forEach(([label, c], n) => { change.append(s("rect", { x: 28 * n, y: 5, width: 27, height: 8, fill: k[c] })); if (label) text(change, 14 + 28 * n, label); });
    const ramp = s("svg", { width: 304, height: 29, role: "img", "aria-label": `ribbon colour ${each ? "from each row's smallest norm to its largest" : `from 1e${low} to 1e${high}`}, logarithmic; dot zero, hatched NaN or Inf, line not computed` });
    const [from, to] = each ? [0, 1] : [low, high];
    for (let n = 0; n < 60; n++) ramp.append(s("rect", { x: 18 + 2.6 * n, y: 4, width: 3, height: 10, fill: k.ramp(n / 59) }));
    for (const t of each ? [0, 1] : ticks) text(ramp, 18 + (156 * (t - from)) / (to - from), each ? ["least", "most"][t] : `1e${t}`);
    ramp.append(s("circle", { cx: 202, cy: 9, r: 1.4, fill: k.mute }), s("path", { d: "M225 14l8-10m-2 10l8-10m-2 10l8-10", stroke: k.alarm, "stroke-width": 1.3 }), s("path", { d: "M266 9h28", stroke: k.mute }));
    [["zero", 204], ["NaN", 236], ["none", 280]].forEach(([label, x]) => text(ramp, x, label));
    const sameStep = this.films.every((f) => f.every === this.films[0].every), n = this.films[0].every;
    this.key.replaceChildren(part("Arrow width", "gradient norm, log", widths), part("Arrow colour", sameStep ? `change in ${n} step${n > 1 ? "s" : ""}` : "since last frame", change), part("Ribbon", each ? "norm, of each row" : "norm entering a row", ramp));
  }

  // ---- controls

  keptNow() {
    const view = this.views.find((v) => v.film.kept[v.frame]);
    return view && view.film.kept[view.frame];
  }

  stepInside() {
    const kept = this.keptNow(), { shared } = this.data, once = (key) => [key, shared[kept[key]]];
    if (!kept) return;
    this.pause();
    const step = this.steps[this.k], box = h("div"), leave = () => { this.innerBox.hidden = true; this.innerBox.replaceChildren(); this.frame.focus({ preventScroll: true }); };
    this.innerBox.replaceChildren(h("div", { class: "mgf-innerbar" }, h("b", `Inside step ${step}`), h("span", "the whole backward pass, node by node"), item("Close", leave)), box);
    box.addEventListener("keydown", (e) => { if (e.key === "Escape" && !box.querySelector(".mgv-more [aria-expanded=true], :is(.mgv-pop, .mgv-help, .mgv-crumbs):not([hidden])")) leave(); }, true);
    this.innerBox.hidden = false;
    mountStepper(box, { ...kept, ...Object.fromEntries(["svg", "edges", "pictures"].map(once)) }, { framed: 640 });
    this.innerBox.scrollIntoView({ block: "nearest" });
    box.querySelector(".mgv-frame")?.focus({ preventScroll: true });
  }

  act(what) {
    if (what === "play") return this.timer ? this.pause() : this.play();
    if (what === "inside") return this.stepInside();
    this.pause();
    this.go({ first: 0, last: this.steps.length - 1, back: this.k - 1, next: this.k + 1 }[what]);
  }

  // Exports what is painted: the films side by side, without the controls.
  savePicture() {
    const s = window.devicePixelRatio || 1, wide = this.views.reduce((sum, view) => sum + view.base.width, 0), canvas = h("canvas", { width: wide, height: Math.max(...this.views.map((view) => view.base.height)) + 34 * s });
    const c = canvas.getContext("2d");
    c.fillStyle = this.colours.bg;
    c.fillRect(0, 0, canvas.width, canvas.height);
    write(c, this.words.querySelector(".mgf-headline").innerText.replace(/\s+/g, " "), 12 * s, 17 * s, this.colours.ink, { size: 14 * s, weight: 600 });
    let x = 0;
    for (const view of this.views) { for (const part of [view.base, view.now]) c.drawImage(part, x, 34 * s); x += view.base.width; }
    download(canvas.toDataURL("image/png"), "film.png");
  }

  play() {
    if (this.k >= this.steps.length - 1) this.go(0);
    super.play();
  }

  interval() { return 1000 / this.speed; }

  advance() { this.k < this.steps.length - 1 ? this.go(this.k + 1) : this.pause(); }

  played() { this.show(); }

  keyed(e) {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    const rows = Math.max(...this.views.map((v) => (v.scene ? v.scene.rows.length : 1))) - 1, next = this.films[0].findings.find((f) => f.from > this.views[0].frame);
    const does = { ArrowRight: () => this.act("next"), ArrowLeft: () => this.act("back"), Home: () => this.act("first"), End: () => this.act("last"), " ": () => this.act("play"),
      ArrowUp: () => this.select(Math.min(rows, this.row + 1)), ArrowDown: () => this.select(Math.max(1, (this.row || rows + 1) - 1)), PageDown: () => this.go(this.k + 10), PageUp: () => this.go(this.k - 10),
      Enter: () => this.stepInside(), r: () => this.modes.choose(this.mode === "all" ? "each" : "all"), n: () => next && this.goTo(next, this.views[0]), f: () => toFull(this.frame), "?": () => this.menu.open(true), Escape: () => this.menu.open(false) || this.select(0) }[e.key];
    if (!does || (/^( |Enter)$/.test(e.key) && e.target.tagName === "BUTTON")) return;
    e.preventDefault();
    e.stopPropagation(); // the surrounding editor has shortcuts of its own
    does();
  }
}

export default { render };
