// Reads what is typed into the forms of a lesson page and replies from the data beside it. Reads as exercises/answers.py
// does: 1/3, 0.333, [0.333] and "None" are taken for what they mean. Nothing is stored and nothing is sent.
(() => {
  const unquoted = (text) => text.trim().replace(/^["'`(]+|["'`)]+$/g, "").trim();

  function number(text) {
    const word = unquoted(text);
    const parts = word.match(/^([+-]?[\d.]+(?:e[+-]?\d+)?)(?:\s*\/\s*([\d.]+))?$/i);
    if (!parts) return undefined;
    const value = Number(parts[1]) / (parts[2] === undefined ? 1 : Number(parts[2]));
    return Number.isFinite(value) ? value : undefined;
  }

  // a number, null, a truth value, nested lists of numbers, or a text
  function value(text) {
    const word = unquoted(text).toLowerCase();
    if (word === "none") return null;
    if (word === "true" || word === "false") return word === "true";
    const single = number(text);
    if (single !== undefined) return single;
    const list = text.trim().replace(/^(torch\.)?tensor\((.*)\)$/s, "$2").replace(/\(/g, "[").replace(/\)/g, "]");
    if (/^[\[\]\d\s.,e+\/-]+$/i.test(list)) {
      try {
        const whole = list.startsWith("[") ? list : `[${list}]`;
        return JSON.parse(whole.replace(/[+-]?[\d.]+(?:e[+-]?\d+)?(?:\s*\/\s*[\d.]+)?/gi, (n) => String(number(n)))
          .replace(/,\s*\]/g, "]"));
      } catch { return text; }
    }
    return text;
  }

  const shape = (v) => (Array.isArray(v) ? [v.length, ...shape(v[0] ?? 0)] : []);
  const flat = (v) => (Array.isArray(v) ? v.flatMap(flat) : [v]);
  const numeric = (v) => flat(v).every((n) => typeof n === "number");
  const squeezed = (v) => shape(v).filter((n) => n !== 1).join();

  function read(text, want, words = {}) {
    if (typeof want === "string") {
      const word = unquoted(text.replace(/[[\]]/g, "")).toLowerCase().replace(/^torch\./, "").replace(/[.,:;()]+$/, "");
      return words[word] ?? word;
    }
    const got = value(text);
    if (typeof want === "boolean" && (got === 0 || got === 1)) return got === 1;
    return Array.isArray(got) && numeric(got) && flat(got).length === 1 ? flat(got)[0] : got;
  }

  function same(got, want, rtol) {
    if (want === null || typeof want === "boolean") return got === want;
    if (typeof want === "string") return typeof got === "string" && got.toLowerCase() === want.toLowerCase();
    if (got === null || typeof got === "string" || typeof got === "boolean" || !numeric(got) || !numeric(want)) return false;
    if (squeezed(got) !== squeezed(want)) return false;
    const due = flat(want), found = flat(got), most = Math.max(...due.map(Math.abs)) || 1;
    return due.every((n, i) => Math.abs(found[i] - n) <= rtol * Math.abs(n) + 1e-6 * most);
  }

  // a whole number that is typed in is meant as it stands
  const whole = (v) => flat(v).every(Number.isInteger);
  const room = (got, want, rtol) => (whole(got) || whole(want) ? 0 : rtol);

  function prediction(data, [text]) {
    const got = read(text, data.want);
    const fits = typeof data.want === "string" ? got.length === data.want.length
      : typeof data.want === "boolean" ? typeof got === "boolean" : typeof got !== "string";
    if (!fits) return ["Not yet", data.unread];
    const means = (other) => same(read(text, other), other, data.rtol);
    const reply = [data.want, ...data.right].some(means) ? data.found
      : (data.wrong.find((wrong) => means(wrong.value))?.says ?? data.missed);
    return ["Noted", `<details><summary>I have looked. What does my prediction say?</summary>${reply}</details>`];
  }

  function aboutArray(got, want, rtol) {
    const due = flat(want), found = flat(got);
    const wrong = due.map((n, i) => Math.abs(found[i] - n) > rtol * Math.abs(n) + 1e-6);
    const first = wrong.indexOf(true), count = wrong.filter(Boolean).length, sizes = shape(want);
    let left = first, place = "";
    for (let axis = sizes.length - 1; axis >= 0; axis--) {
      place = `[${left % sizes[axis]}]${place}`;
      left = Math.floor(left / sizes[axis]);
    }
    const which = count > 1 ? `${count} entries are not right yet, the first` : "One entry is not right yet,";
    return `<p>${which} at <code>${place}</code>: ${found[first]}. Go through that one once more.</p>`;
  }

  function unlisted(got, part, data) {
    const { want, says } = part;
    if (typeof want === "string") {
      if (got.length !== 1) return says.text;
      return data.letters.includes(got) ? says.unknown : says.absent.replace("?", got.replace(/[&<]/, "'"));
    }
    if (got === null) return says.none;
    if (typeof got === "string") return says.text;
    if (typeof got === "boolean") return says.truth;
    if (says.side && shape(got).join() === shape(want).reverse().join()) return says.side;
    if (squeezed(got) !== squeezed(want ?? 0)) return says.many;
    const rtol = room(got, want, data.rtol), [n] = flat(got);
    if (data.counts && n < 0) return says.negative;
    if (says.never && (data.allowed.length ? !data.allowed.includes(n) : n % 1)) return says.never;
    if (says.multiple && n % data.counts) return says.multiple;
    if (says.sign && same(flat(got).map((n) => -n), flat(want), rtol)) return says.sign;
    if (flat(want).length > 1) return aboutArray(got, want, rtol);
    return says.near && !whole(n) && same(n, want, 0.01) ? says.near : says.unknown;
  }

  function parts(data, texts) {
    const got = data.parts.map((part, i) => read(texts[i], part.want, data.words));
    const differs = (other) => got.findIndex((g, i) => !same(g, other[i], room(g, other[i], data.rtol)));
    const first = differs(data.parts.map((part) => part.want));
    if (first < 0) return ["Correct", data.correct];
    let near;
    for (const wrong of data.wrong) {
      const at = differs(wrong.values);
      if (at < 0) { near = wrong; break; }
      if (at > first) near ??= wrong;
    }
    const part = data.parts[first];
    const which = data.parts.length > 1 ? `<p><code>${part.name}</code>:</p>` : "";
    return ["Try again", which + (near ? near.says : unlisted(got[first], part, data))];
  }

  function flips(data, texts) {
    for (const [i, part] of data.parts.entries()) {
      const text = unquoted(texts[i]).toLowerCase();
      const got = text === "none" ? "" : text.replace(/[^a-z]/g, "");
      const strange = [...got].find((letter) => !part.letters.includes(letter));
      if (strange || (part.single && got.length !== 1))
        return ["Try again", `<p><code>${part.name}</code> should be letters from <code>${part.letters}</code>.</p>`];
      if (part.single) {
        if (got !== part.want) return ["Try again", part.says[got]];
        continue;
      }
      const wrong = [...part.letters].find((letter) => got.includes(letter) !== part.want.includes(letter));
      if (wrong) return ["Try again", part.says[wrong]];
    }
    return ["Correct", data.correct];
  }

  function names(data, texts) {
    for (const [i, part] of data.parts.entries()) {
      const word = unquoted(texts[i]).toLowerCase().replace(/[<>()]/g, "").replace(/^torch\./, "").split(" object")[0];
      const got = word.replace(/backward\d*$/, "");
      if (got !== part.want) return ["Try again", part.says[got] ?? part.unknown];
    }
    return ["Correct", data.correct];
  }

  function table(data, [text]) {
    let key;
    if (data.order === "paths") {
      const got = value(text);
      const lists = Array.isArray(got) && got.every((path) => Array.isArray(path) && numeric(path));
      key = lists ? got.map((path) => path.map(String).sort().join()).sort().join(";") : "";
    } else {
      const words = unquoted(text).toLowerCase() === "none" ? [] : text.toLowerCase().match(/[a-z]+/g) ?? [];
      const single = Object.keys(data.at).every((k) => k.split(",").every((part) => part.length <= 1));
      const each = single ? [...words.join("")] : words;
      key = (data.order === "any order" ? [...each].sort() : each).join();
    }
    const reply = data.at[key] === undefined ? `-${data.otherwise}` : data.replies[data.at[key]];
    return [reply[0] === "+" ? "Correct" : "Try again", reply.slice(1)];
  }

  const kinds = { prediction, parts, flips, names, table };
  addEventListener("submit", (event) => {
    const form = event.target.closest("form.answer");
    if (!form) return;
    event.preventDefault();
    const data = JSON.parse(form.querySelector("script").textContent);
    const texts = [...form.querySelectorAll("input")].map((field) => field.value);
    const blank = data.kind === "flips" || data.kind === "table" ? false : texts.some((text) => !text.trim());
    const [state, reply] = blank ? ["Not yet", "<p>Write your answer first.</p>"] : kinds[data.kind](data, texts);
    const output = form.querySelector("output");
    output.innerHTML = `<strong>${state}</strong>${reply}`;
    output.dataset.state = state;
  });
  addEventListener("beforeprint", () => document.querySelectorAll(".text details").forEach((d) => { d.open = true; }));
})();
