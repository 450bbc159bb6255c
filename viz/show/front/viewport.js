// The viewport: how much space there is, which picture fills it, and how to move around in it: drag, wheel, pinch, keys.

import { columns, inColumns } from "./columns.js";
import { h, textButton } from "./elements.js";
import { opened } from "./boxes.js";

const LEAST = 9, OPENED = 11, LARGEST = 1.25; // px: smallest text of a node, and in an open box; the largest scale
const PAIR = 560, PAIR_BESIDE = 420, WIDE = 760, TWO_COLUMNS = 880; // px: from these widths of the pane on, panels are side by side; the panels of one of two panes are beside the picture; those of a single pane are; there are two columns
const NARROW = 256, SLIM = 346; // px: the smallest width of one column of panels, of two
const MANY = 40, MARGIN = 14, LEAST_TALL = 400, LEAST_PANE = 440; // number of steps; px: space below the pane; a pane lower than this may start above the visible area; if so little is visible (a page at 200 %), the page scrolls
const TOP = 40; // px, below the zoom buttons: where a picture starts that does not fit
export const NAMES = { lanes: "Lanes", graph: "Tensors", cards: "Cards", functions: "Functions", map: "Modules", fold: "Boxes" }; // the words in the toolbar

// The name of a picture: how it is drawn, or what its nodes are folded by.
export const kindOf = (picture) => (picture.frames || Object.keys(picture.folds).length ? (picture.fold === "module" ? "map" : "fold") : picture.view);

// The smallest scale at which every text of a node can be read; text on arrows may be smaller.
export function readable(picture) {
  picture.least ??= LEAST / Math.min(...(picture.svg.match(/<text class="(?!label)[^>]*font-size="[\d.]+"/g) || ["13"]).map((text) => Number(/([\d.]+)"?$/.exec(text)[1])));
  return picture.least;
}

// The first picture in Python's list (choose.py) that fits and can be read. Of its kind, it takes one that can be read in a width of `slim` (next to two
// columns of panels), then one that shows more, then the largest. If none fits: the one that takes the fewest screens, in a narrow pane preferably not too wide.
export function choose(pictures, width, height, narrow, slim = width) {
  const found = pictures.flatMap((picture) => {
    const least = readable(picture), most = picture.direction === "TB" && picture.view === "functions" && Object.keys(picture.nodes).length <= 400 ? 8 : 1, sets = [];
    for (let k = 1; k <= most; k++) {
      const set = most === 1 ? { width: picture.width, height: picture.height, crossed: 0 } : columns(picture, k);
      if (!set) break;
      const scale = Math.min(LARGEST, width / set.width, height / set.height), shown = Math.max(least, scale);
      const wide = (set.width * shown) / width, tall = (set.height * shown) / height;
      const screens = Math.max(1, wide) * Math.max(1, tall) * (1 + 0.04 * (k - 1)) * (wide > 1 && tall > 1 ? 2 : 1); // scrolling in one direction is better than in both
      // another column, and each arrow cut for it, must be worth it
      const seen = Math.min(1, scale) + 0.001 * scale + (picture.direction === "LR" ? 0.2 : 0) - 0.04 * (k - 1) - 0.04 * set.crossed;
      sets.push({ ...set, picture, wide, columns: k, scale: shown, whole: scale >= least, rich: (picture.rank ?? 0) + 0.1 * (picture.terse ?? 0) + (set.width * least > slim ? 0.45 : 0) + (set.crossed > 4), screens, seen });
    }
    return sets;
  });
  const whole = found.filter((one) => one.whole);
  if (whole.length) return whole.sort((a, b) => a.rich - b.rich || b.seen - a.seen)[0];
  return found.sort((a, b) => (narrow && (a.wide > 1.001) - (b.wide > 1.001)) || a.screens - b.screens)[0];
}

export const viewport = {
  // How high the pane may be: what the notebook's scroller, or the window, leaves below the cell's input and its sliders.
  tallest() {
    const head = this.options.host ? this.el.parentNode.getBoundingClientRect().top - this.options.host().getBoundingClientRect().top : 0; // above two panes
    if (this.options.framed) return this.options.framed - 2 - head;
    if (this.isFull()) return window.innerHeight - head;
    const host = this.options.host?.() ?? this.el, scroller = host.closest(".jp-WindowedPanel-outer, .jp-NotebookPanel-notebook"), cell = host.closest(".jp-Cell"), tall = scroller?.clientHeight;
    if (!tall) return Math.max(LEAST_PANE, Math.floor(0.85 * window.innerHeight)) - head;
    const above = cell ? this.el.getBoundingClientRect().top - cell.getBoundingClientRect().top : 0, left = tall - above - MARGIN;
    return Math.max(LEAST_PANE, Math.floor(left >= LEAST_TALL ? left : tall - 60));
  },

  isFull() { return Boolean(document.fullscreenElement && this.el.closest(":fullscreen, .mgv:has(:fullscreen)")); },

  // Fills the available space: from the width of the pane and the height of its surroundings, never from the pane's own height.
  layOutPane(force) {
    const wide = this.el.clientWidth, most = this.tallest(), key = `${wide} ${most} ${this.wanted}`;
    if (!wide || (key === this.laidOutFor && !force)) return; // not on the page yet, or nothing changed
    this.laidOutFor = key;
    const free = Math.max(240, most - this.head.offsetHeight - this.notes.offsetHeight - 4);
    const { label } = this.options, open = [...this.open].join();
    if (open + wide !== this.opened?.open) this.opened = { open: open + wide, picture: open ? opened(this.base, this.open, wide < WIDE ? this.grown?.(wide - 18) : null) : null };
    const pictures = this.candidates(), pick = (side, tall) => choose(wide < WIDE && this.inRows ? this.inRows(pictures, wide - side - 18) : pictures, wide - side - 18, tall - 18, wide < WIDE, wide - (two ? slim : side) - 18);
    let side = Math.round(label ? (wide >= PAIR_BESIDE ? 0.29 * wide : 0) : wide < WIDE ? 0 : wide < 1000 ? 216 : Math.min(400, wide * 0.25));
    const slim = Math.round(Math.max(SLIM, 1.35 * side)); // two columns need at least this
    let two = wide >= TWO_COLUMNS ? Math.round(Math.max(1.7 * side, Math.min(500, 0.56 * wide))) : 0;
    const stage = side ? free : Math.max(130, Math.round(free * 0.62));
    let chosen = (label && side && this.agreed(wide - side - 18, stage - 18)) || pick(side, stage);
    const left = wide - 18 - Math.ceil(chosen.width * readable(chosen.picture)); // by the picture at its smallest legible size
    if (label) two = side && Math.max(side, Math.min(Math.round(0.62 * wide), left));
    else if (two) two = Math.min(two, Math.max(slim, left));
    let pair = !side && !label && wide >= PAIR; // in between: panels beside a picture that loses little by it, otherwise below it and side by side
    const other = pair && pick(NARROW, free);
    if (other.whole && other.rich <= chosen.rich && other.scale >= 0.85 * Math.min(1, chosen.scale)) [chosen, side, pair] = [other, NARROW, false];
    this.el.classList.toggle("mgv-wide", side > 0);
    this.el.classList.toggle("mgv-pair", pair);
    const need = Math.ceil(chosen.height * chosen.scale) + (chosen.whole ? 18 : TOP + 18);
    const tall = side ? Math.min(free, this.isFull() ? free : Math.max(need, label ? free - most + 720 : 480)) : Math.min(stage, Math.max(need, 120));
    const { style } = this.frame;
    style.setProperty("--stage", `${tall}px`);
    style.setProperty("--panels", side ? `${tall}px` : `${Math.max(100, Math.min(pair ? 260 : 340, free - tall))}px`);
    this.widths = { one: side, two, wide, tall, pair };
    this.roomForTwo = null;
    this.levels = {}; // for each step shown so far: how compact, and in how many columns
    this.setTwoColumns(false);
    const drawn = inColumns(chosen.picture, chosen.columns);
    if (drawn !== this.drawn) this.draw(drawn);
    this.fit(chosen.scale);
    this.strip.fit();
    this.views.forEach((words) => words?.mark());
    const around = this.el.closest(".widget-vbox"); // the box that Python puts around the pane
    around?.addEventListener("focusin", this.keepKeys);
    if (this.options.cut) this.reportPresses?.(around);
    this.el.dataset.ready = "true";
    this.layOutPanels();
    this.showLine();
  },

  // The pictures that may be shown: the one with open boxes, or those of the chosen view.
  candidates() { return this.open.size ? [this.opened.picture] : this.pictures.filter((picture) => !this.wanted || kindOf(picture) === this.wanted); },

  // The panels of a step in one column. If they do not fit, everything but the rule becomes smaller; then the numbers get a column
  // of their own, if there is space; then the mathematics, which the equation repeats in numbers, is left out. If an equation does
  // not fit into a line, or nothing else helps, the arrays are listed once, and the rules name them.
  layOutPanels() {
    if (!this.widths || this.shown === null) return;
    const { panels, flow, side, widths } = this, { label } = this.options;
    const over = () => ((this.twoColumns && !label) || widths.pair ? [flow, side] : [panels]).some((el) => el.scrollHeight > el.clientHeight + 1 || el.scrollWidth > el.clientWidth + 1);
    const set = ([terse, twoColumns, listed = terse > 2]) => {
      if (this.twoColumns !== twoColumns) this.setTwoColumns(twoColumns);
      Object.assign(this, { terse, listed });
      ["terse", "tersest"].forEach((name, i) => this.el.classList.toggle(`mgv-${name}`, terse > 2 * i));
      if (this.filled !== `${terse} ${listed} ${this.columnWidth}`) this.fillPanels();
      return [...flow.querySelectorAll(".mgv-equation, .mgv-equation > .mgv-sign")].some((el) => el.scrollWidth > el.clientWidth + 1 || (el.matches(".mgv-sign") && el.offsetHeight > 84)); // an equation whose text takes more than four lines
    };
    const at = this.posed ? `asked ${this.posed}` : this.shown, start = at <= this.ahead, now = !start && (label ? widths.two > 0 : this.twoColumns && Math.abs(this.shown - this.before) < 2), known = this.levels[at];
    if (known?.[1] === now) return set(known);
    const fits = widths.one && widths.two && !start && (this.roomForTwo ??= (widths.wide - widths.two - 18) / this.size[0] >= 0.999 * readable(this.drawn) || !this.stage.classList.contains("mgv-whole"));
    const least = this.data.steps.length > MANY && !start ? 1 : 0; // in a long pass most steps need it
    const most = now || Boolean(fits);
    let found = [3, most];
    for (const level of [[0, now], [1, now], [1, most], [2, most]].slice(least)) {
      const long = set((this.levels[at] = level));
      if (over()) continue;
      if (!long) return;
      if (found[0] > 2) found = [...level, true];
    }
    set((this.levels[at] = found));
  },

  setTwoColumns(twoColumns) {
    this.twoColumns = twoColumns;
    this.el.classList.toggle("mgv-two-columns", twoColumns && !this.options.label); // each of two panes has one column, which becomes wider
    const { one, two, wide, tall, pair } = this.widths;
    this.frame.style.setProperty("--side", `${twoColumns ? two : one}px`);
    this.columnWidth = Math.round(twoColumns ? (this.options.label ? 1 : 0.58) * two : one || (pair ? 0.58 * wide : wide)); // of the rule
    if (!this.picture || !twoColumns) { if (this.picture && this.scale1) this.fit(this.scale1); this.scale1 = null; return; }
    this.scale1 = this.scale;
    const scale = Math.min(this.scale, (wide - two - 18) / this.size[0], (tall - 18) / this.size[1]);
    this.fit(scale >= 0.999 * readable(this.drawn) ? scale : this.scale);
  },

  // An open box fills the view, as large as its text needs; its neighbours are around it.
  zoomTo(id) {
    const frame = this.drawn.frames?.[id];
    if (!frame) return;
    const [x, y, w, t] = frame, { view } = this, least = readable(this.drawn), whole = (view.clientWidth - 18) / this.size[0];
    const scale = Math.max((OPENED / LEAST) * least, Math.min(LARGEST, (view.clientWidth - 40) / w, (view.clientHeight - 60) / t));
    this.sized(this.el.clientWidth < WIDE && whole >= least ? Math.min(scale, whole) : scale); // a narrow pane scrolls in one direction
    view.scrollLeft = (x + w / 2) * this.scale - view.clientWidth / 2;
    view.scrollTop = t * this.scale > view.clientHeight ? y * this.scale : (y + t / 2) * this.scale + TOP - view.clientHeight / 2;
  },

  // Breadcrumbs: the pass, and the open boxes, each inside the one before.
  showCrumbs() {
    const names = [...this.open].map((id) => [id, this.picture.querySelector(`[data-toggle="${id}"]`)?.parentNode.textContent ?? id]);
    this.crumbs.hidden = !names.length;
    this.crumbs.replaceChildren(textButton(this.data.title || "all", () => { this.open.clear(); this.layOutPane(true); this.showCrumbs(); this.frame.focus({ preventScroll: true }); }),
      ...names.flatMap(([id, name]) => [" › ", textButton(name, () => this.zoomTo(id))]));
  },

  fit(scale) {
    this.sized(scale);
    this.followNow();
  },

  sized(scale) {
    const { style } = this.picture, [width, height] = this.size;
    this.scale = Math.max(0.1, Math.min(4, scale));
    style.width = `${width * this.scale}px`;
    style.height = `${height * this.scale}px`;
    style.setProperty("--grow", Math.max(1, Math.min(1.25, 1 / this.scale)).toFixed(3)); // keeps the smallest text legible
    const least = LEAST / this.scale;
    if (this.twoColumns ? least < this.least : least !== this.least) this.rewrite(least); // a second column of panels never removes a number from the picture
    const whole = width * this.scale + 15 <= this.view.clientWidth && height * this.scale + (this.open.size ? TOP + 6 : 15) <= this.view.clientHeight;
    this.stage.classList.toggle("mgv-whole", whole); // whatever is out of view can be reached by zooming and moving, for which the buttons then appear
  },

  zoomBy(factor, x, y) {
    const { view } = this, at = view.getBoundingClientRect(), px = x === undefined ? view.clientWidth / 2 : x - at.left, py = y === undefined ? view.clientHeight / 2 : y - at.top;
    const before = this.scale, left = view.scrollLeft + px, top = view.scrollTop + py;
    this.sized(before * factor);
    const ratio = this.scale / before;
    view.scrollLeft = left * ratio - px;
    view.scrollTop = (top - TOP) * ratio + TOP - py;
  },

  zoomWhole() { this.fit(Math.min(LARGEST, (this.view.clientWidth - 18) / this.size[0], (this.view.clientHeight - 18) / this.size[1])); },

  // Drag moves, Ctrl + wheel and two fingers zoom; the wheel scrolls once the pane has the focus, and at its end the page scrolls on.
  listenToPointer() {
    const { view } = this, fingers = new Map();
    let apart = 0;
    view.addEventListener("pointerdown", (event) => { if (event.button === 0) { fingers.set(event.pointerId, [event.clientX, event.clientY]); this.moved = false; apart = 0; this.pressed = this.elementsAt(event); } });
    view.addEventListener("pointermove", (event) => {
      const from = fingers.get(event.pointerId);
      if (!from) return;
      const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
      if (!this.moved && Math.hypot(dx, dy) < 5) return;
      if (!this.moved) { this.moved = true; this.tip.hidden = true; }
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (fingers.size === 2) {
        const [[ax, ay], [bx, by]] = [...fingers.values()], now = Math.hypot(ax - bx, ay - by);
        if (apart) this.zoomBy(now / apart, (ax + bx) / 2, (ay + by) / 2);
        apart = now;
      } else { view.scrollLeft -= dx; view.scrollTop -= dy; }
    });
    const up = (event) => { fingers.delete(event.pointerId); apart = 0; if (this.moved) setTimeout(() => { this.moved = false; }, 0); };
    for (const type of ["pointerup", "pointercancel"]) view.addEventListener(type, up);
    this.stage.addEventListener("wheel", (event) => {
      if (event.target.closest(".mgv-pop, .mgv-help") || !this.frame.contains(document.activeElement)) return;
      if (event.ctrlKey || event.metaKey) { event.preventDefault(); return this.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.004)), event.clientX, event.clientY); }
      const { scrollLeft, scrollTop } = view, unit = event.deltaMode ? 20 : 1;
      view.scrollLeft += event.deltaX * unit;
      view.scrollTop += event.deltaY * unit;
      if (view.scrollLeft !== scrollLeft || view.scrollTop !== scrollTop) event.preventDefault();
    }, { passive: false });
  },

  // A press belongs to the element where it began, wherever that is when it ends: the page may scroll, a step may come from another
  // pane. The pressed element captures the pointer (dragging off a button releases it), and changes to the pane wait.
  capturePresses() {
    const { frame } = this, apart = (event) => Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY);
    let from;
    frame.addEventListener("pointerdown", (event) => {
      const on = event.target.closest("button, .mgv-view");
      if (!on || event.button !== 0) return;
      on.setPointerCapture(event.pointerId);
      this.held = on;
      from = event;
    }, true);
    frame.addEventListener("pointermove", (event) => { if (this.held?.matches("button") && apart(event) > 40) this.held.releasePointerCapture(event.pointerId); });
    // released before the click; the waiting changes come after it
    frame.addEventListener("lostpointercapture", () => { this.held = null; setTimeout(() => { for (const f of this.waiting) f(); this.waiting.clear(); }); });
  },

  followNow() {
    const { steps } = this.data, made = this.forward[Math.max(0, this.shown - 1)];
    const now = this.posed ? steps[this.posed - 1] : this.k > 0 ? steps[this.k - 1] : this.k < 0 ? made : steps[0];
    if (now) this.follow(this.drawn.folds[now.node] ?? now.node);
  },

  // Keeps the active node in view when the picture is larger than its view. The scroll position is the only layout value it reads.
  follow(id) {
    const item = this.nodes.get(id);
    if (!item?.bounds || !this.scale || this.stage.classList.contains("mgv-whole")) return;
    const { x, y, width, height } = item.bounds, view = this.view;
    const left = x * this.scale, top = y * this.scale + TOP, w = width * this.scale, t = height * this.scale;
    const [right, low] = [view.scrollLeft + view.clientWidth - left - w, view.scrollTop + view.clientHeight - top - t];
    const dx = left < view.scrollLeft + 20 || right < 20, dy = top < view.scrollTop + TOP || low < 10;
    if (!dx && !dy) return;
    view.scrollTo({ left: dx ? left + w / 2 - view.clientWidth / 2 : view.scrollLeft, top: dy ? top + t / 2 - view.clientHeight / 2 : view.scrollTop,
      behavior: this.reducedMotion.matches || this.timer === null ? "auto" : "smooth" });
  },
};
