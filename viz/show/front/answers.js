// What a learner answers: read, judged, remembered.

import { number, shapeText } from "./numbers.js";

// One number, as a payload has it or a learner writes it: what is not finite is a word. undefined if it is none.
function read(text) {
  const value = Number(String(text).replace(/^([-+]?)(∞|inf(inity)?)$/i, "$1Infinity"));
  return Number.isNaN(value) && !/^[-+]?nan$/i.test(text) ? undefined : value;
}

// "3", "1/3", "nan", "1 2 3", "[1, 2]", "[[1], [2]]" → { values, shape }, shape null where no brackets say it; null if not numbers.
export function parseAnswer(text) {
  const tidy = text.trim().replace(/^tensor\((.*)\)$/s, "$1").replace(/\u2212/g, "-");
  const tokens = tidy.match(/\[|\]|[^\s,[\]]+/g);
  if (!tokens) return null;
  const value = (token) => {
    const [top, bottom = 1, ...more] = token.split("/").map(read);
    return more.length || top === undefined || token.endsWith("/") ? undefined : top / bottom;
  };
  if (!tidy.includes("[")) {
    const values = tokens.map(value);
    return tidy.includes("]") || values.includes(undefined) ? null : { values, shape: values.length === 1 ? [] : null };
  }
  const values = [];
  let at = 0;
  const element = () => { // one element: a number, or a list of elements of one shape
    if (tokens[at] !== "[") { const x = value(tokens[at++]); values.push(x); return x === undefined ? null : []; }
    at++;
    let count = 0, inner = [];
    while (at < tokens.length && tokens[at] !== "]") {
      const shape = element();
      if (!shape || (count && String(shape) !== String(inner))) return null;
      inner = shape; count++;
    }
    return tokens[at++] === "]" ? [count, ...inner] : null;
  };
  const shape = element();
  return shape && at === tokens.length ? { values, shape } : null;
}

const close = (x, b) => Object.is(x, b) || Number.isFinite(b) && Math.abs(x - b) <= 0.005 * Math.max(Math.abs(b), 0.1);
export const near = (a, b) => a.length === b.length && a.every((x, i) => close(x, b[i]));
export const fits = (answer, right) => near(answer.values, right.values.map(read)) && (answer.shape === null || String(answer.shape) === String(right.shape) || right.values.length === 1);

// What to say of an answer: right, the cause that the payload computed for this number, or what its form tells.
export function judge(answer, question) {
  const right = question.answer;
  if (fits(answer, right)) return { right: true };
  const known = question.mistakes.find((mistake) => fits(answer, mistake));
  if (known) return { cause: known.cause, says: known.says };
  const numbers = right.values.map(read);
  if (near(answer.values, numbers)) return { cause: "wrong shape", says: `The numbers are right, the shape is not: ${shapeText(answer.shape)}. The gradient has the shape ${shapeText(right.shape)} of its tensor.` };
  if (answer.values.length !== right.values.length)
    return { cause: "wrong shape", says: `That is ${answer.values.length === 1 ? "one number" : `${answer.values.length} numbers`}. A gradient has one number for each entry of its tensor.` };
  const ratios = answer.values.map((x, i) => x / numbers[i]).filter((x) => !Number.isNaN(x));
  if (ratios.length > 1 && ratios.every((x) => Math.abs(x - ratios[0]) < 0.01 * Math.abs(x)) && Number.isFinite(ratios[0]))
    return { cause: "factor", says: `Every entry is ${number(ratios[0])} times what it should be.` };
  return { cause: "unknown", says: "That is not it. Put the numbers on the left into the rule." };
}

// "Just show me" is remembered where the browser has a place for it: a sandboxed frame, a file, an editor's webview and a
// reader who forbids it have none, and most of them say so by throwing.
export function memory() {
  try {
    return globalThis.origin === "null" ? null : globalThis.localStorage;
  } catch (error) {
    if (error.name === "SecurityError") return null;
    throw error;
  }
}
export const remembers = () => memory()?.getItem("mgv-just-show-me") === "yes";
export const remember = (yes) => memory()?.[yes ? "setItem" : "removeItem"]("mgv-just-show-me", "yes");
