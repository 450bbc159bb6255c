// The toolbar, the same for a stepper, a film and two passes side by side: playback, views as words, a menu, full screen.

import { h, icon } from "./elements.js";

export const button = (action, label, keys, act) =>
  h("button", { class: `mgv-button mgv-button-${action}`, "data-action": action, "aria-label": label, title: label + (keys ? ` (${keys})` : ""), onclick: () => act(action) }, icon(action));

// First, back, play, forward, last; `one` is the word for a step.
export const transport = (act, one = "step") => h("span.buttons", { role: "group", "aria-label": "Steps" },
  [["first", "To the start", "home"], ["back", `Back one ${one}`, "←"], ["play", "Play", "space"], ["next", `Forward one ${one}`, "→"], ["last", "To the end", "end"]].map((what) => button(...what, act)));

// Something that can be played, a pass or a film. It has a `playButton`; `advance()` goes one step forward, every `interval()` ms;
// `played()` is called when playing starts or stops.
export class Playable {
  timer = null;
  closed = new AbortController(); // removes its listeners on other elements

  play() { this.setTimer(setInterval(() => this.advance(), this.interval())); }

  pause() { if (this.timer !== null) this.setTimer(null); }

  setTimer(timer) {
    clearInterval(this.timer);
    this.timer = timer;
    const name = timer === null ? "Play" : "Pause";
    this.playButton.replaceChildren(icon(name.toLowerCase()));
    Object.assign(this.playButton, { ariaLabel: name, title: `${name} (space)` });
    this.played();
  }
}

// Words next to each other, one of which is pressed: [value, text, title] each. `current()` returns its value; a click calls `act(value)`.
export function choice(label, values, current, act) {
  const buttons = values.map(([value, text, title]) => h("button", { title, "data-word": text, onclick: () => group.choose(value) }, text));
  const group = h("span.choice", { role: "group", "aria-label": label }, buttons);
  group.mark = () => buttons.forEach((one, n) => one.setAttribute("aria-pressed", String(values[n][0] === current())));
  group.choose = (value) => { act(value); group.mark(); };
  group.mark();
  return group;
}

// A ⋯ button and its menu. A click elsewhere or Escape closes it; it opens over the pane, so nothing moves.
export function menu(rows) {
  const box = h("div.menu", { role: "group", "aria-label": "More", hidden: true }, rows);
  const opener = h("button.button", { "aria-label": "More", title: "More", "aria-expanded": "false", onclick: () => whole.open(box.hidden) }, icon("more"));
  const whole = h("span.more", opener, box), outside = (event) => { if (!event.composedPath().includes(whole)) whole.open(false); };
  whole.open = (open) => {
    if (open === !box.hidden) return false;
    box.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    document[open ? "addEventListener" : "removeEventListener"]("pointerdown", outside, true);
    if (!open && box.contains(document.activeElement)) opener.focus({ preventScroll: true });
    return true;
  };
  return whole;
}

export const row = (label, ...inside) => h("div.menu-row", label ? h("span.subject", label) : null, inside);
export const item = (text, act) => h("button.item", { onclick: act }, text);

// The pane in full screen, if the browser allows it.
export const fullWindow = (act) => (document.fullscreenEnabled ? button("full", "Full window", "F", act) : null);
export const toFull = (el) => { if (document.fullscreenEnabled) (document.fullscreenElement ? document.exitFullscreen() : el.requestFullscreen()); };

// Saves a file from the page to the reader's disk.
export const download = (href, name) => h("a", { href, download: name }).click();
