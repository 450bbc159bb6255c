// A learner's answers: read, judged and remembered.

import { number, shapeText } from "./numbers.js";
import { close, means, readTyped } from "./typed.js";

const TOLERANCE = 0.005;
const given = (value) => ({ inf: Infinity, "-inf": -Infinity, nan: NaN })[value] ?? Number(value); // a number as the payload writes it

// "3", "1/3", "nan", "1 2 3", "[1, 2]", "[[1], [2]]" → { values, shape }; shape is null if there are no brackets. If the text
// cannot be read: { unread } with the part that was not understood. `size` numbers are expected.
export function parseAnswer(text, size = 1) {
  const value = readTyped(text, size);
  if (value === null || typeof value === "boolean") return { unread: String(text).trim() };
  if (value.unread !== undefined) return value;
  const shape = shapeOf(value);
  const values = [value].flat(Infinity);
  if (!shape || !values.length) return { unread: String(text).trim().slice(0, 20) };
  return { values, shape: shape.length > 1 || /[[({]/.test(text) || values.length === 1 ? shape : null };
}

// The shape of nested lists; null if the rows have different lengths.
function shapeOf(value) {
  if (!Array.isArray(value)) return [];
  const shapes = value.map(shapeOf);
  return shapes.every((s) => s && String(s) === String(shapes[0])) ? [value.length, ...(shapes[0] ?? [])] : null;
}

const squeezed = (shape) => String(shape.filter((n) => n !== 1));
// Axes of length 1 do not matter, unless `exactly` is set.
export function fits(answer, right, exactly = false) {
  const due = right.values.map(given), scale = Math.max(...due.filter(Number.isFinite).map(Math.abs), 0);
  if (answer.values.length !== due.length || !answer.values.every((x, i) => means(x, due[i], exactly ? 0 : TOLERANCE, scale))) return false;
  return answer.shape === null || due.length === 1 || (exactly ? String(answer.shape) === String(right.shape) : squeezed(answer.shape) === squeezed(right.shape));
}
const same = (answer, right) => fits(answer, right, true) && answer.values.every((x, i) => Object.is(x, given(right.values[i])) || Math.abs(x - given(right.values[i])) <= 2e-6 * Math.abs(x));

// The reply to an answer: that it is right, the cause that the payload lists for this number, or what its form shows. A rounded
// right answer that equals the number of a known mistake counts as that mistake.
export function judge(answer, question) {
  const right = question.answer, mistake = (meant) => question.mistakes.find((m) => meant(answer, m));
  const known = same(answer, right) ? undefined : mistake(same);
  if (!known && fits(answer, right)) {
    const bracketed = answer.shape === null || right.values.length === 1 || String(answer.shape) === String(right.shape);
    return { right: true, remark: bracketed ? "" : ` With all its brackets, in the shape ${shapeText(right.shape)}, it is ${written(right)}.` };
  }
  const cause = known ?? mistake(fits);
  if (cause) return { cause: cause.cause, says: cause.says };
  const due = right.values.map(given);
  if (fits({ ...answer, shape: null }, right)) return { cause: "wrong shape", says: `The numbers are right, the shape is not: ${shapeText(answer.shape)}. The gradient has the shape ${shapeText(right.shape)} of its tensor.` };
  if (answer.values.length !== due.length)
    return { cause: "wrong shape", says: `That is ${answer.values.length === 1 ? "one number" : `${answer.values.length} numbers`}. A gradient has one number for each entry of its tensor.` };
  if (answer.values.every((x, i) => means(x, due[i], 0.01) || close(x, due[i]) || (x === Math.round(due[i]) && Math.abs(due[i]) > 2)))
    return { cause: "rounded", says: due.every(Number.isInteger) ? "Very close. Did you round? Enter the exact number." : "Close. Give one or two more digits, or write a fraction." };
  const ratios = answer.values.map((x, i) => x / due[i]).filter((x) => !Number.isNaN(x));
  if (ratios.length > 1 && ratios.every((x) => Math.abs(x - ratios[0]) < 0.01 * Math.abs(x)) && Number.isFinite(ratios[0]))
    return { cause: "factor", says: "All entries are off by the same factor." };
  return { cause: "unknown", says: `That is not it. ${WHERE[question.kind] ?? ""}`.trim() };
}

const WHERE = { total: "Add the parts under Receives.", sends: "Put what arrives into the rule.", stores: "What arrives is added to what .grad held before." };

// An array as nested lists: [[1, 2]].
function written(array, depth = 0, at = { next: 0 }) {
  if (depth === array.shape.length) return String(number(given(array.values[at.next++])));
  return `[${Array.from({ length: array.shape[depth] }, () => written(array, depth + 1, at)).join(", ")}]`;
}

// "Just show me" is remembered where the browser has storage. There may be none in a sandboxed frame, a file or an editor's
// webview, or because the reader forbids it; in most of these cases the access throws an error.
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
