// Replies to what is typed into the forms of a lesson page, from the data beside it. Numbers are read by typed.js (of viz,
// joined in front of this), the rest as exercises/answers.py and judge.py do. Nothing is stored and nothing is sent.

const BRACKETS = /[[({]/;
const shape = (v) => (Array.isArray(v) ? [v.length, ...shape(v[0] ?? 0)] : []);
const flat = (v) => (Array.isArray(v) ? v.flatMap(flat) : [v]);
const numeric = (v) => flat(v).every((n) => typeof n === "number");
const squeezed = (v) => shape(v).filter((n) => n !== 1).join();
const escaped = (text) => text.replace(/[&<]/g, "'");

// null, a truth value, a number, nested lists, a letter, or { unread } where a text is none of these.
function read(text, want, words = {}, options = {}, counts = 0) {
  if (typeof want === "string") return letter(text, words, options);
  const due = flat(want ?? 0), got = readTyped(text, due.length, counts > 0);
  if (typeof want === "boolean" && (got === 0 || got === 1)) return got === 1;
  if (got?.unread !== undefined) return { ...got, text: tidy(text) };
  if (!Array.isArray(got)) return got;
  if (!got.length) return { unread: text.trim().slice(0, 20) };
  if (!BRACKETS.test(text) && !got.some(Array.isArray) && Array.isArray(want) && got.length === due.length) return filled(want, flat(got));
  return numeric(got) && flat(got).length === 1 ? flat(got)[0] : got;
}

const filled = (form, values) => (Array.isArray(form) ? form.map((part) => filled(part, values)) : values.shift());

// The letter that is meant: itself, another word for it, or the text of its option.
function letter(text, words, options) {
  const spoken = tidy(text).replace(/^(?:(?:(?:it is|it's|i think|i guess) +)+(?=\W*[a-z]\W*$)|(?:option|answer|letter|choice|curve)\b *)/, ""), marked = spoken.match(/^\(?([a-z])(?:[.:)] |,? because |, (?=[a-z]{2}))/);
  if (marked && Object.keys(options).length) return marked[1]; // "d) it was cut off"
  const word = spoken.replace(/^[\s.,:;()[\]{}*`'"]+|[\s.,:;()[\]{}*`'"]+$/g, "");
  if (word.length <= 1 && !/\d/.test(word)) return words[word] ?? word;
  const call = word.replace(/^with /, "").replace(/^torch\./, "");
  const known = [word, call, call.split(/[(=]/)[0].split(".").at(-1)].find((name) => Object.hasOwn(words, name));
  if (known !== undefined) return words[known];
  const named = () => new Set(Object.keys(words).filter((name) => new RegExp(`\\b${name.replace(/[(]/g, "\\(")}(?!\\w)`).test(word)).map((name) => words[name]));
  return option(word, options) ?? withTheseNumbers(text, options) ?? (named().size === 1 ? [...named()][0] : undefined) ?? letterOfValue(readTyped(word), words, options) ?? word;
}

// The letter whose text or other name is this value: inf, 3000, none.
function letterOfValue(value, words, options) {
  if (value?.unread !== undefined) return undefined;
  const text = JSON.stringify(value, (_, x) => (typeof x === "number" && !Number.isFinite(x) ? String(x).replace("Infinity", "inf").toLowerCase() : x ?? "none")).replace(/"/g, "");
  return words[text] ?? option(text, options) ?? (typeof value === "number" && Number.isFinite(value) ? words.finite : undefined);
}

const SMALL = "a an the of it is are them that only just alone".split(" "); // words that do not matter for which option is meant
const content = (words) => words.filter((word) => !SMALL.includes(word));
function tokens(text) {
  const said = counted(tidy(text).replace(/(?<=\d),(?=\d{3}\b)/g, "")).replace(/[a-z]+error\b/g, "error").replace(/(?<=\d) ?x\b/g, " times");
  return (said.match(/-?\d+(?:\.\d+)?|-?inf\b|[a-z][a-z0-9]*/g) ?? []).map((word) => word.replace(/(?<=\w\w[^s])s$/, "")); // raise and raises are the same
}
const within = (few, many) => many.some((_, k) => few.every((word, i) => many[k + i] === word));
function otherNames(told) {
  const inside = [...told.matchAll(/\(([^()]*)\)/g)].map((found) => found[1]).join(", ").split(", "), colon = told.indexOf(":");
  const parts = colon < 0 ? [told] : [told.slice(0, colon), told.slice(colon + 1)];
  return [told, ...parts, told.replace(/\([^()]*\)/g, ""), ...inside].map(tokens);
}

// The letter whose text this is, or the only letter whose text contains it.
function option(text, options) {
  const said = tokens(text), plainly = Object.fromEntries(Object.entries(options).map(([key, told]) => [key, content(tokens(told)).join(" ")]));
  return optionOf(said, options) ?? optionOf(content(said), plainly);
}

// The letter of the option with the same numbers, written in another way: "4 x 4" for "(4, 4)".
function withTheseNumbers(text, options) {
  const numbers = (told) => readTyped(told, Math.max((told.match(/\d+/g) ?? []).length, 2)), given = numbers(text);
  const found = Object.keys(options).filter((key) => Array.isArray(given) && JSON.stringify(numbers(options[key])) === JSON.stringify(given));
  return found.length === 1 ? found[0] : undefined;
}

function optionOf(said, options) {
  const letters = Object.keys(options);
  if (!said.length) return undefined;
  if (Object.hasOwn(options, said[0]) && said.length > 1 && within(said.slice(1), tokens(options[said[0]]))) return said[0];
  const whole = letters.filter((key) => otherNames(options[key]).some((name) => String(name) === String(said)));
  if (whole.length === 1 || (said.length === 1 && letters.some((_, k) => said[0] === String(k + 1)))) return whole.length === 1 ? whole[0] : undefined; // "3" may mean the third option
  const begun = letters.filter((key) => String(tokens(options[key]).slice(0, said.length)) === String(said));
  if (begun.length === 1) return begun[0];
  const part = letters.filter((key) => within(said, tokens(options[key])));
  if (part.length === 1) return part[0];
  const inOrder = (words) => { let at = 0; return said.every((word) => (at = words.indexOf(word, at) + 1)); };
  const some = letters.filter((key) => said.length > 2 && inOrder(tokens(options[key]))); // with words left out
  return some.length === 1 ? some[0] : undefined;
}

// Whether what was read means `want`; `exactly`: with no rounding.
function same(got, want, rtol, exactly = false) {
  if (want === null || typeof want === "boolean") return got === want;
  if (typeof want === "string") return typeof got === "string" ? got.toLowerCase() === want.toLowerCase() : got?.text === want.toLowerCase();
  if (got === null || typeof got === "string" || typeof got === "boolean" || got.unread !== undefined || !numeric(got) || !numeric(want)) return false;
  if (squeezed(got) !== squeezed(want)) return false;
  const due = flat(want), found = flat(got), scale = Array.isArray(want) ? Math.max(...due.filter(Number.isFinite).map(Math.abs), 0) : 0;
  return due.every((n, i) => (exactly ? Object.is(found[i], n) || Math.abs(found[i] - n) <= 1e-6 * Math.max(Math.abs(n), scale) : means(found[i], n, rtol, scale)));
}

function prediction(data, [text]) {
  const got = read(text, data.want, {}, data.options, data.counts);
  const fits = typeof data.want === "string" ? got.length === data.want.length
    : typeof data.want === "boolean" ? typeof got === "boolean" : got === null || typeof got === "boolean" || got.unread === undefined;
  if (!fits) return ["Not yet", data.unread];
  if (typeof data.want === "string" && !data.letters.includes(got)) return ["Not yet", data.absent.replace("?", escaped(got))];
  const guessed = (got, want) => (typeof got === "number" || Array.isArray(got)) && want !== null && numeric(got) && numeric(want)
    && squeezed(got) === squeezed(want) && flat(want).every((n, i) => close(flat(got)[i], n) || Math.abs(flat(got)[i] - n) <= data.rtol * Math.abs(n));
  const meant = (other, exactly) => {
    const got = read(text, other, {}, data.options, data.counts);
    return same(got, other, data.rtol, exactly) || (!exactly && guessed(got, other));
  };
  let reply;
  for (const exactly of [true, false]) {
    if ([data.want, ...data.right].some((right) => meant(right, exactly))) reply ??= data.found;
    reply ??= data.wrong.find((wrong) => meant(wrong.value, exactly))?.says;
  }
  if (data.kind === "question") return [reply === data.found ? "Correct" : "Try again", reply];
  return ["Noted", `<details><summary>I have looked. Was I right?</summary>${reply ?? data.missed}</details>`];
}

function aboutArray(got, want, rtol, says) {
  const due = flat(want), found = flat(got);
  const wrong = due.map((n, i) => Math.abs(found[i] - n) > rtol * Math.abs(n) + 1e-6);
  const first = wrong.indexOf(true), count = wrong.filter(Boolean).length, sizes = shape(want);
  let left = first, place = "";
  for (let axis = sizes.length - 1; axis >= 0; axis--) {
    place = `[${left % sizes[axis]}]${place}`;
    left = Math.floor(left / sizes[axis]);
  }
  return (count > 1 ? says.entries.replace("7777", count) : says.entry).replace("[?]", place).replace("8888", found[first]);
}

function unlisted(got, part, data) {
  const { want, says } = part;
  if (typeof want === "string") {
    if (got.length !== 1) return says.text;
    return data.letters.includes(got) ? says.unknown : says.absent.replace("?", escaped(got));
  }
  if (got === null) return says.none;
  if (typeof got === "boolean") return says.truth;
  if (got.unread !== undefined) return says.text.replace("?", escaped(got.unread));
  if (says.side && shape(got).join() === shape(want).reverse().join()) return says.side;
  if (squeezed(got) !== squeezed(want ?? 0)) return says.many;
  const [n] = flat(got);
  if (data.counts && n < 0) return says.negative;
  if (says.never && (data.allowed.length ? !data.allowed.includes(n) : !Number.isInteger(n))) return says.never;
  if (says.multiple && n % data.counts) return says.multiple;
  if (says.sign && flat(got).every((x, i) => Math.abs(x + flat(want)[i]) <= data.rtol * Math.abs(flat(want)[i]))) return says.sign;
  if (flat(want).length > 1) return aboutArray(got, want, data.rtol, says);
  return want !== null && close(n, want) ? (Number.isInteger(want) || String(n).replace(/[-0.]/g, "").length > 1 ? says.near : says.rounded) : says.unknown;
}

function parts(data, texts) {
  const got = data.parts.map((part, i) => read(texts[i], part.want, data.words, data.options, data.counts));
  const right = data.parts.map((part) => part.want);
  const differs = (other) => got.findIndex((g, i) => !same(g, other[i], data.rtol));
  const exactly = (other) => got.every((g, i) => same(g, other[i], 0, true));
  const loose = differs(right);
  const mistaken = got.findIndex((g, i) => (loose < 0 || i < loose) && !same(g, right[i], 0, true) && data.wrong.some((wrong) => same(g, wrong.values[i], 0, true)));
  const first = mistaken >= 0 ? mistaken : loose;
  if (first < 0) {
    const bare = data.parts.filter((part, i) => part.says.brackets && BRACKETS.test(texts[i]) && shape(readTyped(texts[i], flat(part.want).length)).join() !== shape(part.want).join());
    return ["Correct", data.correct + bare.map((part) => part.says.brackets).join("")];
  }
  let best, least = 9;
  for (const wrong of data.wrong) {
    const at = differs(wrong.values);
    if (at >= 0 && at <= first) continue;
    const rank = (at < 0 ? 0 : 2) + (exactly(wrong.values) ? 0 : 1);
    if (rank < least) [best, least] = [wrong, rank];
  }
  const part = data.parts[first];
  const which = data.parts.length > 1 ? `<p><code>${part.name}</code>:</p>` : "";
  return ["Try again", which + (best ? best.says : unlisted(got[first], part, data))];
}

const NONE = /^(?:(?:none|neither|nothing)(?: of them)?)?$/, ALL = /^all(?: of them)?$/;
// The names or letters in a text, in their order: "k -> b, then a".
const namesIn = (text) => tidy(text).split(/(?:[\s,;.+&|/\\()[\]{}"'`>]|->|=>|-|\b(?:and|then|first|next|only|just)\b)+/).filter(Boolean);

function flips(data, texts) {
  for (const [i, part] of data.parts.entries()) {
    const said = tidy(texts[i]);
    const got = part.single ? letter(texts[i], {}, data.options) : NONE.test(said) ? "" : ALL.test(said) ? part.letters : namesIn(texts[i]).join("");
    const strange = [...got].find((one) => !part.letters.includes(one));
    if (strange || (part.single && got.length !== 1)) return ["Try again", part.strange.replace("?", escaped(strange ?? got.slice(0, 10)))];
    if (part.single) {
      if (got !== part.want) return ["Try again", part.says[got]];
      continue;
    }
    const wrong = [...part.letters].find((one) => got.includes(one) !== part.want.includes(one));
    if (wrong) return ["Try again", part.says[wrong]];
  }
  return ["Correct", data.correct];
}

function functionNames(data, texts) {
  for (const [i, part] of data.parts.entries()) {
    const word = tidy(texts[i]).replace(/[<>()]/g, "").replace(/^torch\./, "").split(" object")[0].replace(/[. ]+$/, "");
    const got = readTyped(word) === null ? "none" : word.replace(/backward\d*$/, "");
    if (got !== part.want) return ["Try again", part.says[got] ?? part.unknown.replace("?", escaped(got.slice(0, 30)))];
  }
  return ["Correct", data.correct];
}

function table(data, [text]) {
  let key;
  if (data.order === "paths") {
    const got = readTyped(text, 2);
    const lists = Array.isArray(got) && got.every((path) => Array.isArray(path) && numeric(path));
    key = lists ? got.map((path) => path.map(String).sort().join()).sort().join(";") : "";
  } else {
    const words = NONE.test(tidy(text)) ? [] : namesIn(text);
    const single = Object.keys(data.at).every((k) => k.split(",").every((part) => part.length <= 1));
    const each = single ? [...words.join("")] : words;
    key = (data.order === "any order" ? [...each].sort() : each).join();
  }
  const reply = data.at[key] === undefined ? `-${data.otherwise}` : data.replies[data.at[key]];
  return [reply[0] === "+" ? "Correct" : "Try again", reply.slice(1)];
}

const KINDS = { prediction, question: prediction, parts, flips, names: functionNames, table };

// The state and the reply, in HTML, to what was typed into the fields of one form.
function answered(data, texts) {
  const blank = data.kind === "flips" || data.kind === "table" ? false : texts.some((text) => !text.trim());
  return blank ? ["Not yet", "<p>Write your answer first.</p>"] : KINDS[data.kind](data, texts);
}

addEventListener("submit", (event) => {
  const form = event.target.closest("form.answer");
  if (!form) return;
  event.preventDefault();
  const data = JSON.parse(form.querySelector("script").textContent);
  const [state, reply] = answered(data, [...form.querySelectorAll("input")].map((field) => field.value));
  const output = form.querySelector("output");
  output.innerHTML = `<strong>${state}</strong>${reply}`;
  output.dataset.state = state;
});
addEventListener("beforeprint", () => document.querySelectorAll(".text details").forEach((d) => { d.open = true; }));
