// What people type → numbers: 1/3, 2*3, [1, 2], 1 -> 2, tensor(6.), x.grad = 6, 8,000, inf. `notebooks/exercises/typed.py`
// does the same, function by function; tests/typed_answers.txt is the table of cases that both must read alike.

const LONGEST = 400, DEPTH = 12;
const WORDS = { none: null, nothing: null, "nothing at all": null, "no gradient": null, "no grad": null, nil: null, null: null, empty: null, "does not exist": null, "doesn't exist": null, "there is none": null, "not computed": null, "doesn't have one": null,
  "not a number": NaN, nonetype: null, never: 0, "not at all": 0, once: 1, twice: 2, true: true, yes: true, yep: true, yeah: true, y: true, false: false, no: false, nope: false, n: false };
const NUMBERS = { inf: Infinity, infinity: Infinity, nan: NaN, pi: Math.PI, e: Math.E };
const FUNCTIONS = { sqrt: Math.sqrt, exp: Math.exp, log: Math.log, ln: Math.log, sin: Math.sin, cos: Math.cos, tanh: Math.tanh, abs: Math.abs };
const UNITS = { b: 1, kb: 1e3, mb: 1e6, kib: 1024, mib: 1024 ** 2, kilobyte: 1e3, megabyte: 1e6, k: 1e3, percent: 0.01, hundred: 100, thousand: 1e3, million: 1e6, billion: 1e9 };
const LOOKS_LIKE = [["(\\d+) ?\u00bd", "($1+1/2)"], ["\u221a *", "sqrt "], ["\u2026", "..."], ["[\u2010-\u2015\u2212]", "-"], ["[\u00b7\u00d7\u2219\u22c5]", "*"], ["[\u00f7\u2044\u2215]", "/"], ["\u221e", "inf"], ["\u03c0", "pi"], ["[\u2192\u21d2\u279c]", "->"],
  ["\u00b2", "^2"], ["\u00b3", "^3"], ["\u00bd", "(1/2)"], ["\u00bc", "(1/4)"], ["\u2153", "(1/3)"], ["\u2154", "(2/3)"], ["\u215b", "(1/8)"], ["\u27e8", "["], ["\u27e9", "]"], ["\u1d40", "^t"], ["[\u2018\u2019\u201a\u2032`]", "'"], ["[\u201c-\u201f]", '"'], ["\\s", " "]];
const NUMERALS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(" "), TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SHARES = { half: 2, halves: 2, third: 3, quarter: 4, fourth: 4, fifth: 5, sixth: 6, eighth: 8, tenth: 10 };
const WRITINGS = [ // other ways to write something, and the plain one; in this order
  [/^\$+(.*?)\$+$/, "$1"], [/^\*\*(.*)\*\*$/, "$1"], [/\\d?frac *\{([^{}]*)\} *\{([^{}]*)\}/g, "(($1)/($2))"], [/\\sqrt *\{([^{}]*)\}/g, "sqrt($1)"], [/\\(?:cdot|times)\b/g, "*"], [/\\infty\b/g, "inf"], [/(?<=[\d)]) +times +/g, "*"], [/(?<=[\d)]) +(?:over|divided by) +/g, "/"], [/\b(?:minus|negative) +/g, "-"], [/\blog_?(2|10) *\(([^()]*)\)/g, "(log($2)/log($1))"],
  [/\bfraction *\(([^(),]*),([^(),]*)\)/g, "(($1)/($2))"], [/(\d*\.\d*)\((\d)\)/g, "$1$2$2$2$2$2$2$2$2"], [/(?<=\d)\.{2,3}$/, ""], [/\?+$/, ""], [/(?<=[\d)]),? +(?:because|since|as|which)\b.*$/, ""], [/^((?:yes|no|true|false)\b)[,.]? +(?:it|they|that|a)\b[^\d]*$/, "$1"],
  [/^(?:(?:it|its|it's|that|the \w+|[a-z_]\w*\.grad|i think|i guess|i'd say|i expect|probably|maybe|is|are|stays|remains|still|will be|would be|only|just|exactly|a single|shape) +)+/, ""], [/^(none|nothing)\b(?! at all)[^\d]+$/, "$1"], [/^twice +(?=[\d(])/, "2*"], [/(?<=\d) +by +(?=\d)/, "*"], [/(?<=[\d)]) +(?:for|in) +(?:both|all|each|every)\b[^\d]*$/, " each"],
  [/^(?:\w+ )?(?:rises|grows|increases|goes up|moves) by +/, ""], [/(?<=[\w)]) +\((?=[^()]*(?:[a-z]{4}|[a-z] [a-z]|[a-z]{3} ))[^()]*\)$/, ""], [/(?<=[\d)])( +[a-z]{4,})? +(?:per|of) [^\d]*$/, "$1"], [/^(?:[a-z_\u2202][\w.\u2202]*(?:\/[a-z_\u2202][\w.\u2202]*)?(?:\[[\d, ]*\])? *(?:[=:]| is\b)|=)(?![=>]) */, ""],
  [/^(?:about|around|approximately|approx\.?|roughly|nearly|circa|ca\.?|~|\u2248) */, ""], [/\b(?:torch|math|numpy|np)\./g, ""], [/, *(?:dtype|requires_grad|grad_fn|device) *= *(?:<[^>]*>|[\w.']+)/g, ""], [/\b(?:tensor|array|size|decimal|fraction|float\d*|int\d*) *\( *['"]?([^'"]*?)['"]? *\)/g, "($1)"], [/\b[a-z_]\w*(?:\.\w+|\[[\d, ]*\])* *[=:] *(?=[-+\d.([])/g, ""],
  [/(^|[,;] *)[^=,;[\]<>!]*[a-z)][^=,;[\]<>!]*=(?![=>]) *(?=\S)/g, "$1"], [/^(?:[-+*/^() \d.]+= *)+(?=[-+(\d.])/, ""], [/^<(.*)>$/, "[$1]"], [/(?<=[\])])(?:\.t|\^ *t)$/, ""], [/^\[([^[\]]*)$/, "[$1]"], [/^([^[\]]*)\]$/, "$1"], [/(?<!\b0)(?<=\d) *x *(?=[\d(])/g, "*"], [/\b(one|zero)s *\(? *(\d+) *,? *\)?/g, "[$1]*$2"], [/^(?:all )?(one|zero)s$/, "all $1"],
  [/\bfull *\( *\(? *(\d+) *,? *\)? *, *([^()]+)\)/g, "[$2]*$1"]];
const COUNTS = [[/^(?:no|none|nothing|never|neither|not (?:one|any))\b(?! (?:idea|clue))[^\d]*$/, "0"], [/^(\d+) *x$/, "$1"], [/^(\w+) +(?:out +)?of +(?:the +)?\w+$/, "$1"]]; // the same for counts
const TOKEN = /(?: *)(\d+(?:_\d+)*\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|[a-z]+|\*\*|[-=]?>|[-+*/^%()[\]{},;|&])( *)/y;
const SEPARATORS = [",", ";", ">", "->", "=>", "|", "&", "and", "then"];

// Thrown for a text that is not a number or a list of numbers: `part` is what was not understood.
class Unreadable { constructor(part) { this.part = part; } }
const alone = (found) => (found.length === 1 ? found[0] : found); // a single value as itself, several as a list

// The text in plain characters and lower case, without quotes around it or a full stop after it.
export function tidy(text) {
  for (const [sign, meant] of LOOKS_LIKE) text = text.replace(new RegExp(sign, "gu"), meant);
  text = text.replace(/^[ '"]+|[ '"]+$/g, "").replace(/[!;, ]+$/, "").toLowerCase();
  return text.replace(/(?:(?<!\d)|(\.\d+))\.$/, "$1").replace(/^[ '"]+|[ '"]+$/g, "");
}

// null, true, false, a number or nested lists of numbers; `size` numbers are expected. { unread: part } for anything else.
// A single expected number may have commas for thousands or for its decimals. `counts`: the answer is a count, so
// "none" is 0, "2x" is 2 and "6 of 16" is 6.
export function readTyped(text, size = 1, counts = false) {
  try {
    return numbersIn(text, size, counts);
  } catch (error) {
    if (error instanceof Unreadable) return { unread: error.part };
    throw error;
  }
}

// "twelve", "forty-two", "a hundred" as digits.
function counted(text) {
  const ones = NUMERALS.join("|"), tens = new RegExp(`\\b(${TENS.join("|")})(?:[- ](${ones}))?\\b`, "g");
  const digits = text.replace(tens, (_, ten, one) => 20 + 10 * TENS.indexOf(ten) + (one ? NUMERALS.indexOf(one) : 0));
  return digits.replace(new RegExp(`\\b(${ones})\\b`, "g"), (word) => NUMERALS.indexOf(word)).replace(/^an? (?=\d)/, "").replace(/^an? (?=hundred|thousand|million|billion)/, "1 ");
}

function numbersIn(text, size, counts = false) {
  if (text.length > LONGEST) throw new Unreadable(text.slice(0, 20));
  text = [...(counts && text.trim() !== "None" ? COUNTS : []), ...WRITINGS].reduce((said, [way, plain]) => said.replace(way, plain), tidy(text));
  if (Object.hasOwn(WORDS, text)) return WORDS[text];
  text = counted(size === 1 ? text.replace(/(?<=\d), +[a-z][^\d]*$/, "") : text); // "64, one for each pixel"
  text = text.replace(new RegExp(`\\b(?:(\\d+|an?) +)?(${Object.keys(SHARES).join("|")})s?\\b`, "g"), // "a third", "two thirds"
    (_, count, part) => `(${(count ?? "a")[0] === "a" ? 1 : count}/${SHARES[part]})`);
  if (size !== 1) {
    text = text.replace(/^\(?\d+(?: *\* *\d+)+\)?$/, (shape) => (shape.split("*").length === size ? shape.replaceAll("*", ",") : shape)).replace(/^(?:(?:all|both)(?: are| equal)? (\S+)|(\S+) (?:each|everywhere))$/, `[$1$2]*${size}`); // a shape, 2 x 3; "all 3"
    if ((text.match(/\d,\d/g) ?? []).length === size && text.split(/;|\band\b/).length === size) text = text.replace(/(?<=\d),(?=\d{3}\b)/g, "").replace(/(?<=\d),(?=\d)/g, "."); // 1,5; 2,5
    return new Reader(text, true, size).all();
  }
  text = text.replace(/^all (?=\S+$)/, ""); // "all 6"
  const unit = text.match(/^([^a-z]*[\d)]) *([a-z]+)$/), name = unit && [unit[2], unit[2].replace(/s$/, "")].find((one) => Object.hasOwn(UNITS, one));
  if (unit && (name || unit[2].length > 3)) // "8 kB", "4 functions"
    return each((a, b) => a * b, UNITS[name] ?? 1, numbersIn(unit[1], 1));
  const beside = text.match(/^(.*\d) +\(([^()]*)\)$/)?.slice(1).map((part) => numbersIn(part, 1)); // "12 (4 + 8)", and 2 (3 + 4)
  if (beside) return beside[0] === beside[1] ? beside[0] : each((a, b) => a * b, ...beside);
  if (/^(?:[-+]? *\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,})$/.test(text)) text = text.replaceAll(".", "").replace(",", "."); // 6.000,5
  text = text.replace(/^([-+]?)(\d+) (\d+\/\d+)$/, "$1($2+$3)");
  const grouped = text.replace(/(?<![\d.,])[1-9]\d{0,2}(?:[, ']\d{3})+(?![\d,])/g, (found) => found.replace(/[, ']/g, "")).replace(/^([+-]? *\d+),(\d+)$/, "$1.$2");
  try { return new Reader(grouped, false).all(); } catch { return new Reader(text, true).all(); }
}

// Reads one text. With `spaces`, a space separates numbers: 1 -2 is two of them, 1 - 2 is one.
class Reader {
  constructor(text, spaces, size = 1) {
    Object.assign(this, { spaces, size, tokens: [], at: 0 });
    for (let place = 0; place < text.trimEnd().length; place = TOKEN.lastIndex) {
      TOKEN.lastIndex = place;
      const found = TOKEN.exec(text);
      if (!found) throw new Unreadable(text.slice(place).trim().split(" ")[0].slice(0, 20));
      this.tokens.push([found[1], found[2] !== ""]);
    }
  }

  all() { return alone(this.sequence("", 0)); }

  sees(...tokens) { return this.at < this.tokens.length && tokens.includes(this.tokens[this.at][0]); }

  take() {
    if (this.at === this.tokens.length) throw new Unreadable("the end");
    return this.tokens[this.at++][0];
  }

  // Whether a space has just been passed.
  gap() { return this.at > 0 && this.tokens[this.at - 1][1]; }

  // Values up to a closing bracket or the end. If rows are separated by `;`, each is a list.
  sequence(closing, depth) {
    let rows = [[]];
    while (this.at < this.tokens.length && !this.sees(closing)) {
      rows.at(-1).push(this.sum(depth));
      const separated = this.sees(...SEPARATORS);
      if (this.sees(";")) rows.push([]);
      while (this.sees(...SEPARATORS)) this.take(); // "1, and 2"
      if (!(separated || this.sees(closing) || (this.spaces && this.gap()))) break;
    }
    if (closing ? !this.sees(closing) : this.at < this.tokens.length) throw new Unreadable(this.tokens[this.at]?.[0] ?? "the end");
    if (closing) this.take();
    rows = rows.filter((row) => row.length);
    return rows.length > 1 && rows.some((row) => row.length > 1) ? rows : rows.flat();
  }

  sum(depth) {
    let value = this.product(depth);
    while (this.sees("+", "-")) {
      if (this.spaces && this.gap() && !this.tokens[this.at][1]) break; // a sign, not a sum: the next number begins here
      const sign = this.take();
      value = each(sign === "+" ? (a, b) => a + b : (a, b) => a - b, value, this.product(depth));
    }
    return value;
  }

  product(depth) {
    let value = this.signed(depth);
    for (;;) {
      if (this.sees("*", "/")) {
        const times = this.take() === "*", other = this.signed(depth);
        value = (times && this.repeated(value, other)) || each(times ? (a, b) => a * b : (a, b) => a / b, value, other);
      } else if ((!this.gap() && this.sees("(")) || // 2(3 + 4), 2 pi
          (!(this.spaces && this.gap()) && this.sees(...Object.keys(NUMBERS), ...Object.keys(FUNCTIONS)))) {
        value = each((a, b) => a * b, value, this.signed(depth));
      } else return value;
    }
  }

  // [1/3] * 3 if three numbers are expected.
  repeated(one, other) {
    const [few, count] = Array.isArray(one) ? [one, other] : [other, one];
    return Array.isArray(few) && few.length === 1 && count === this.size && count > 1 ? Array(count).fill(few[0]) : null;
  }

  signed(depth) {
    if (this.sees("+", "-")) return each((a, b) => a * b, this.take() === "-" ? -1 : 1, this.signed(depth));
    const value = this.single(depth);
    if (!this.sees("^", "**")) return value;
    this.take();
    return each((a, b) => a ** b, value, this.signed(depth));
  }

  single(depth) {
    const token = this.take();
    if (depth > DEPTH) throw new Unreadable(token);
    if (token === "[" || token === "{") return this.sequence(token === "[" ? "]" : "}", depth + 1);
    if (token === "(") return alone(this.sequence(")", depth + 1));
    if (Object.hasOwn(FUNCTIONS, token)) return each(FUNCTIONS[token], this.single(depth + 1), 0);
    if (Object.hasOwn(NUMBERS, token)) return NUMBERS[token];
    if (!/^[\d.]/.test(token)) throw new Unreadable(token);
    const value = Number(token.replaceAll("_", ""));
    if (!this.sees("%")) return value;
    this.take();
    return value * 0.01;
  }
}

// The operation on two numbers, or on each number of a list and one number.
function each(operation, one, other) {
  if (Array.isArray(one) && Array.isArray(other)) throw new Unreadable("a list");
  if (Array.isArray(one)) return one.map((item) => each(operation, item, other));
  return Array.isArray(other) ? other.map((item) => each(operation, one, item)) : operation(one, other);
}

// Whether somebody who types the number `got` means the number `due`. Whole numbers must match exactly. Others may be off by
// `rtol`, or be rounded or cut off after at least two digits; a number with three digits or fewer, 0.125, must not be rounded.
export function means(got, due, rtol, scale = 0) {
  if (!Number.isFinite(got) || !Number.isFinite(due)) return got === due || (Number.isNaN(got) && Number.isNaN(due));
  const off = Math.abs(got - due), whole = Number.isInteger(got);
  if (whole && Number.isInteger(due)) return off === 0;
  if (off <= 2e-6 * Math.max(Math.abs(due), scale) + 1e-12) return true;
  if (Math.abs(due - Math.round(due)) <= 2e-6 * Math.abs(due) || (whole && Math.abs(got) < 100)) return false;
  if (!whole && off <= rtol * Math.abs(due)) return true;
  if (digits(got).length < (whole ? 3 : 2) || digits(due).length <= 3) return false;
  const unit = 10 ** lastPlace(got);
  const cutOff = !whole && got * due > 0 && Math.abs(got) < Math.abs(due) && off < Math.min(unit, 0.0101 * Math.abs(due));
  return off <= 0.5 * unit * (1 + 1e-6) || cutOff;
}

// Whether a number that does not mean `due` is close enough to be a rounding or the result of a nudge.
export function close(got, due) {
  if (!Number.isFinite(got) || !Number.isFinite(due) || got === 0 || got === due) return false;
  const off = Math.abs(got - due);
  return off <= 0.01 * Math.abs(due) || (!Number.isInteger(got) && off <= 0.5 * 10 ** lastPlace(got) * (1 + 1e-6));
}

// The fewest digits that identify this number, as float32 if it is one: "3.3e-1".
function shortest(value) {
  if (Math.fround(value) !== value) return value.toExponential();
  for (let places = 0; places < 8; places++) if (Math.fround(Number(value.toExponential(places))) === value) return Number(value.toExponential(places)).toExponential();
  return value.toExponential();
}
const digits = (value) => shortest(value).split("e")[0].replace(/[-.]/g, "");
const lastPlace = (value) => Number(shortest(value).split("e")[1]) - digits(value).length + 1;
