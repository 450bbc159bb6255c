// The rule of a step as an equation of the actual arrays: what is sent = what arrives × the local derivative, or the code of
// the rule with every name replaced by its array. It computes nothing that the pass did not: where the rule acts entry by
// entry, the quotient of two recorded arrays is the local derivative; where that is undefined, it is left out.

import { h } from "./elements.js";
import { arrayView } from "./numbers.js";

const TOKENS = /(?<![.\w])[A-Za-z_]\w*(?![\w(]|\.(?:shape|numel|ndim|dtype))/g; // names in code, except attributes and functions

const alike = (a, b) => Boolean(a && b) && String(a) === String(b);

// ∂output/∂input along one edge, if the rule acts entry by entry or a single number arrives: an array, or null.
export function local(step, { value, reduced }) {
  const { total } = step;
  if (step.totals || !total?.values || !value?.values || reduced || (total.values.length > 1 && !(step.pointwise && alike(total.shape, value.shape)))) return null;
  const values = value.values.map((v, i) => { const g = total.values[i] ?? total.values[0]; return typeof v === "number" && typeof g === "number" && g !== 0 ? Number((v / g).toPrecision(6)) : null; });
  if (values.includes(null) || !values.length) return null;
  return { shape: value.shape, dtype: value.dtype, values, min: Math.min(...values), max: Math.max(...values), nonfinite: 0 };
}

// An array, or a question mark for one that is asked for, with a caption below it; and the text between two arrays, which may break
// where code and long names do, so that the arrays stay on one line.
export const term = (array, under, room, role = under) => h("span.term", { "data-role": role }, array === undefined ? h("span.none", "?") : arrayView(array, room), h("span.under", { title: under }, under));
export const sign = (text) => h("span.sign", text.split(/(?<=[(,_])(?=\w)|(?=\.[a-z])/i).flatMap((part, i) => (i ? [h("wbr"), part] : part)));

// The right side: the code, with every name of a recorded array or number replaced by its value; an array is shown once.
function inCode(code, items, room, listed) {
  const out = [], seen = new Set(listed ? items.keys() : []);
  let at = 0, text = "";
  const write = () => { if (text.trim()) out.push(sign(text.trim())); text = ""; };
  code = code.replaceAll(", keepdim=True", ""); // the code below the equation has it
  for (const { 0: name, index } of code.matchAll(TOKENS)) {
    const { value, label } = items.get(name) ?? {}, arrives = name === "grad";
    if (!value) continue;
    text += code.slice(at, index);
    at = index + name.length;
    if (!value.shape || seen.has(name)) { text += arrives ? "arrives" : value.shape ? name : value.text ?? ""; continue; }
    seen.add(name);
    write();
    out.push(arrives ? term(value, "arrives", room) : term(value, label ? `${name} = ${label}` : name, room, "saved"));
  }
  text += code.slice(at);
  write();
  return out;
}

// The names of the saved tensors that the equation of a rule already shows; none if the rule is in words.
const inWords = (code) => /[a-z] [a-z]/i.test((code || "").replace(/\b(if|else|for|in|not|and|or)\b/g, ""));
export const shownIn = (code) => new Set(inWords(code) ? [] : [...(code || "").matchAll(TOKENS)].map(([name]) => name));

// One line for each gradient that is sent. With `first`, the line shows the array that arrives; the others only name it.
export function equation(step, out, rule, to, { asked, listed, room, factor, first }) {
  const total = step.totals || (asked && (step.incoming || []).length > 1) ? null : step.total, items = new Map((step.saved || []).map((item) => [item.name, item]));
  if (total) items.set("grad", { value: first && !listed ? total : { text: "arrives" } });
  const code = rule?.code || "", uses = shownIn(code).has("grad");
  const left = term(asked ? undefined : out.value, `to ${to}`, room, "sent");
  const times = factor && !(code === "grad" && alike(total.values, out.value.values)) ? [sign("×"), term(factor, "local derivative", room, "local")] : []; // not if it is 1
  return h(listed ? "div.stated" : "div.equation", left, total ? [sign(factor || uses ? "=" : "from"), inCode(uses && !times.length ? code : "grad", items, room, listed), times] : null);
}

// How wide each array of an equation may be, in a column of `wide` pixels that holds so many of them.
export const roomFor = (wide, count) => Math.max(64, (wide - 28 - 16 * count) / count - 8);
