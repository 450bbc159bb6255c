// The strip: the pass as named parts, instead of a bare slider. A part is a module's box if there are modules, otherwise a node.

import { h, s } from "./elements.js";

const SINGLE = 8, LETTER = 6.3; // steps: in a longer pass, consecutive steps in the same box are one part; px

// Names without the model's, if all names of its modules begin with it: "embed" for "gpt.embed".
export function withoutModel(names, modules = names) {
  const [first, ...others] = modules.filter((name) => name?.includes(".")).map((name) => name.split(".")[0]);
  return first && others.every((name) => name === first) ? names.map((name) => name.replace(`${first}.`, (text, at) => (at || !/[a-z_]/i.test(name[text.length]) ? text : ""))) : names;
}

const short = (name) => name.replace(/^torch::autograd::/, "").replace(/Backward\d*$/, "").replace(/^CppFunction$/, "function");

// [{ name, from, to }]: consecutive positions that belong together. `boxes`: node -> the name of its box, or nothing.
export function partsOf(steps, ahead, boxes, nameOf) {
  const parts = ahead ? [{ name: "forward", from: 1, to: ahead }] : [];
  steps.forEach((step, i) => {
    const at = ahead + i + 1, box = steps.length > SINGLE ? boxes(step.node) : null, last = parts.at(-1);
    if (box && last?.box === box) { last.to = at; return; }
    if (box && step.accumulate && last && parts.at(-2)?.box === box) { last.to = at; return; }
    parts.push({ name: box || nameOf(step), box, from: at, to: at, store: Boolean(step.accumulate) });
  });
  withoutModel(parts.map(({ name }) => name), parts.map(({ box }) => box)).forEach((name, i) => { parts[i].name = name; });
  return parts;
}

export const stepName = (step) => (step.accumulate ? `${step.accumulate.leaf ?? step.tensor}.grad` : short(step.name));

// The strip itself: a draggable slider with `parts` painted on it. `go(step)` is called with the chosen position.
export function strip(parts, end, label, go) {
  const input = h("input.slider", { type: "range", min: 0, max: end, value: 0, "aria-label": label, oninput: (event) => go(Number(event.target.value)) });
  const blocks = parts.map(({ name, from, to, store }) => h("span", { class: `mgv-part-of${store ? " store" : ""}`, style: `flex-grow:${(to - from + 1) ** 0.6}`, title: to > from ? `${name}: ${to - from + 1} steps` : name }, h("b", name), h("i", h("u"))));
  const el = h("span.strip", input, h("span.blocks", { "aria-hidden": "true" }, blocks));
  const at = (event) => { // the position under the pointer
    const x = event.clientX, i = blocks.findLastIndex((block) => block.getBoundingClientRect().left <= x);
    if (i < 0) return 0;
    const { left, width } = blocks[i].getBoundingClientRect(), { from, to } = parts[i];
    return Math.min(to, from + Math.floor(((x - left) / Math.max(1, width)) * (to - from + 1)));
  };
  el.addEventListener("pointerdown", (event) => { if (event.button) return; event.preventDefault(); input.focus({ preventScroll: true }); el.setPointerCapture(event.pointerId); go(at(event)); el.onpointermove = (move) => go(at(move)); });
  for (const end of ["pointerup", "pointercancel"]) el.addEventListener(end, () => { el.onpointermove = null; });
  // A truncated name is shown whole when its part is reached; one with space for a letter or two appears only then.
  el.fit = () => blocks.map((block) => block.clientWidth).forEach((wide, i) => { const need = LETTER * parts[i].name.length + 6; blocks[i].classList.toggle("cut", wide < need); blocks[i].classList.toggle("tiny", wide < Math.min(30, need)); });
  el.show = (step, text) => {
    input.value = step;
    input.setAttribute("aria-valuetext", text);
    parts.forEach(({ from, to }, i) => {
      const share = Math.max(0, Math.min(1, (step - from + 1) / (to - from + 1))), now = step >= from && step <= to;
      if (blocks[i].share === share && blocks[i].now === now) return;
      Object.assign(blocks[i], { share, now });
      blocks[i].classList.toggle("now", now);
      blocks[i].lastChild.firstChild.style.width = `${100 * share}%`;
    });
  };
  // the position where the next part begins, or where this one or the previous one begins
  el.next = (step) => parts.find(({ from }) => from > step)?.from ?? end;
  el.before = (step) => parts.findLast(({ from }) => from < step)?.from ?? 0;
  return el;
}
