// Search of the site: looks the typed words up in search-index.js, which is next to the pages and is loaded when somebody comes
// to the field. Nothing leaves the page. "/" goes to the field; the arrows go through what is found; Escape closes it.
(() => {
  const form = document.querySelector(".search"), field = form.querySelector("input"), found = form.querySelector(".found");
  const list = found.querySelector("ol"), status = found.querySelector("[role=status]"), most = 12;

  function load() {
    if (document.getElementById("search-index")) return;
    const script = Object.assign(document.createElement("script"), { id: "search-index", src: "search-index.js" });
    script.addEventListener("load", show);
    document.head.append(script);
  }

  // how well an entry [page, its title, anchor, heading, text] fits; 0 if a word is not there
  function fit([, title, , heading, text], words) {
    const head = ` ${heading.toLowerCase()} `, whole = `${head} ${title.toLowerCase()} ${text.toLowerCase()}`;
    if (!words.every((word) => whole.includes(word))) return 0;
    const exact = head.trim() === words.join(" ") ? 100 : 0, first = words.every((word) => whole.includes(` ${word}`)) ? 5 : 0;
    return 1 + exact + first + words.reduce((sum, word) => sum + (head.includes(` ${word}`) ? 20 : head.includes(word) ? 8 : 0), 0);
  }

  // the text around the first word, with the words marked
  function excerpt(text, words) {
    const at = Math.max(0, Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((n) => n >= 0), text.length));
    const from = at < 60 || at === text.length ? 0 : text.indexOf(" ", at - 50) + 1;
    const shown = (from ? "… " : "") + text.slice(from, from + 150) + (from + 150 < text.length ? " …" : "");
    const small = document.createElement("small"), escaped = words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    shown.split(new RegExp(`(${escaped.join("|")})`, "i")).forEach((part, i) =>
      small.append(i % 2 ? Object.assign(document.createElement("mark"), { textContent: part }) : part));
    return small;
  }

  function show() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = !words.length || !globalThis.SEARCH;
    if (found.hidden) return;
    const hits = SEARCH.map((entry) => [fit(entry, words), entry]).filter(([n]) => n).sort((a, b) => b[0] - a[0]);
    status.textContent = hits.length ? `${hits.length} found${hits.length > most ? `, the first ${most} of them` : ""}` : "Nothing found";
    list.replaceChildren(...hits.slice(0, most).map(([, [page, title, anchor, heading, text]]) => {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = `${page}.html${anchor && `#${encodeURIComponent(anchor)}`}`;
      link.append(Object.assign(document.createElement("strong"), { textContent: heading || title }));
      if (heading && heading !== title) link.append(Object.assign(document.createElement("small"), { textContent: title }));
      link.append(excerpt(text, words));
      item.append(link);
      return item;
    }));
  }

  field.addEventListener("focus", load);
  field.addEventListener("input", show);
  form.addEventListener("submit", (event) => { event.preventDefault(); list.querySelector("a")?.click(); });
  form.addEventListener("click", (event) => { if (event.target.closest("a")) found.hidden = true; });
  form.addEventListener("keydown", (event) => {
    const stops = [field, ...list.querySelectorAll("a")], at = stops.indexOf(document.activeElement);
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") { found.hidden = true; field.focus(); }
    else if (by && !found.hidden && at + by in stops) { event.preventDefault(); stops[at + by].focus(); }
  });
  field.addEventListener("focus", () => { if (found.hidden) show(); });
  addEventListener("pointerdown", (event) => { if (!form.contains(event.target)) found.hidden = true; });
  form.addEventListener("focusout", (event) => { if (event.relatedTarget && !form.contains(event.relatedTarget)) found.hidden = true; });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest?.("input, textarea, [contenteditable]")) return;
    event.preventDefault();
    field.focus();
  });
})();
