// What in the picture of a pane lies over what it should not, and how small its smallest text is, in pixels.
() => {
  const svg = document.querySelector(".mgv-svg"), boxes = [], lines = [], found = new Set(), sizes = {};
  const seen = (el) => getComputedStyle(el).visibility !== "hidden" && el.getClientRects().length > 0;
  const add = (kind, who, el, crop = 0) => { // crop: the share of a text's height that stays empty above it, and below it
    const r = el.getBoundingClientRect(), cut = r.height * crop;
    boxes.push({ kind, who, el, left: r.left, right: r.right, top: r.top + cut, low: r.bottom - cut, says: kind === "head" ? who : el.closest(".node, .label, .mgv-label, .cluster")?.querySelector("text")?.textContent ?? who });
  };
  const known = (globalThis.pointsOfPaths ??= new Map()); // at other sizes and steps the same paths are drawn again
  const along = (line) => { // points of the line, four units apart; for each, the browser walks the whole path
    const path = line.getAttribute("d");
    if (!known.has(path)) {
      const length = line.getTotalLength(), count = Math.ceil(length / 4);
      known.set(path, Array.from({ length: count + 1 }, (_, i) => line.getPointAtLength((length * i) / count)));
    }
    return known.get(path);
  };
  for (const group of svg.querySelectorAll("g.node")) {
    if (!seen(group)) continue;
    add("node", group.dataset.id, group.querySelector(".shape"));
    for (const text of group.querySelectorAll("text")) if (seen(text) && !text.closest(".mgv-badge")) add("text", group.dataset.id, text, 0.16);
    for (const mark of group.querySelectorAll(".mgv-badge > rect, .mgv-open circle, .hook")) add("mark", group.dataset.id, mark);
  }
  for (const group of svg.querySelectorAll("g.edge")) {
    const line = group.querySelector(".line"), who = group.dataset.id;
    if (!line || !seen(line)) continue;
    const to = line.getScreenCTM();
    lines.push({ who, points: along(line).map((point) => point.matrixTransform(to)).map(({ x, y }) => [x, y]) });
    for (const part of group.querySelectorAll(".head")) add("head", who, part);
    for (const part of group.querySelectorAll(".hook")) add("mark", who, part);
    for (const plate of group.querySelectorAll(".label-bg, .plate")) if (seen(plate)) add("label", who, plate);
  }
  const over = [...svg.querySelectorAll("g.over")].map((group) => [...group.children].map((part) => part.getBoundingClientRect())); // a background and a text, painted over the arrows
  for (const text of svg.querySelectorAll("g.cluster text")) {
    const { left, right, top } = text.getBoundingClientRect();
    add("caption", "", text, 0.16);
    boxes.at(-1).safe = over.some(([plate, said]) => Math.abs(said.left - left) + Math.abs(said.top - top) < 1 && plate.left < left && plate.right > right);
  }
  for (const text of svg.querySelectorAll("text")) if (seen(text)) {
    const kind = text.closest(".mgv-badge, .label, .cluster, .node")?.getAttribute("class").split(" ")[0] ?? "lane"; // the name of a lane is in none of these
    sizes[kind] = Math.min(sizes[kind] ?? Infinity, parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d);
  }
  const shared = (a, b) => Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.low, b.low) - Math.max(a.top, b.top));
  const within = (node, { left, right, top, low }) => { // an ellipse and a diamond leave their corners free
    const from = node.el.getScreenCTM().inverse();
    for (let i = 0; i <= 6; i++) for (let j = 0; j <= 4; j++)
      if (node.el.isPointInFill(new DOMPoint(left + 1 + ((right - left - 2) * i) / 6, top + 1 + ((low - top - 2) * j) / 4).matrixTransform(from))) return true;
    return false;
  };
  // how far two kinds may overlap, in pixels; `own`: the same for parts of one node or one arrow
  const least = { "label label": 0.5, "caption label": 0.5, "head label": 1, "label mark": 2.5, "mark mark": 2, "mark text": 0.8, "text text": 0.5, "caption node": 0.5, "caption mark": 1, "caption head": 0.5, "caption caption": 0.5, "node node": 1, "mark node": 3, "label node": 0.5 };
  const own = { "head label": 3, "mark text": 0.8, "text text": 0.5, "label mark": 2.5 };
  boxes.forEach((a, i) => {
    for (const b of boxes.slice(i + 1)) {
      const [one, other] = a.kind <= b.kind ? [a, b] : [b, a], pair = `${one.kind} ${other.kind}`, most = (a.who === b.who && a.who ? own : least)[pair];
      if (most === undefined || shared(a, b) <= most) continue;
      if (other.kind === "node" && one.kind !== "caption" && one.kind !== "node" && !within(other, one)) continue;
      found.add(`${pair}: ${one.says} | ${other.says}`);
    }
  });
  const crossed = (box, by) => lines.filter(({ who, points }) => who !== box.who && points.some(([x, y]) => x > box.left + by && x < box.right - by && y > box.top + by && y < box.low - by));
  for (const box of boxes) {
    if (box.kind === "label") for (const { who } of crossed(box, 2)) found.add(`line label: ${who} | ${box.says}`);
    if (box.kind === "caption" && !box.safe) for (const { who } of crossed(box, 0.5)) found.add(`line caption: ${who} | ${box.says}`);
    if (box.kind !== "text") continue;
    const home = boxes.find((other) => other.kind === "node" && other.who === box.who);
    if (box.left < home.left - 0.5 || box.right > home.right + 0.5 || box.top < home.top - 1 || box.low > home.low + 1) found.add(`text leaves node: ${box.el.textContent}`);
  }
  // an arrow that begins or ends in an empty place; with open boxes, no picture that was sent says where it should
  const adrift = [], nodes = new Map(boxes.filter(({ kind }) => kind === "node").map((box) => [box.who, box])), sent = globalThis.recorded?.data;
  const drawn = [sent, ...(sent?.pictures ?? [])].find((picture) => picture && Object.keys(picture.nodes).length === nodes.size && Object.keys(picture.nodes).every((id) => nodes.has(id)) && lines.every(({ who }) => who in picture.edges));
  for (const { who, points } of drawn ? lines : []) {
    const ends = [nodes.get(drawn.edges[who].from), nodes.get(drawn.edges[who].to)];
    const far = ([x, y], box) => Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.low));
    const ways = [ends, [...ends].reverse()].map(([a, b]) => Math.max(far(points[0], a), far(points.at(-1), b)));
    if (Math.min(...ways) > 14) adrift.push(who);
  }
  const cut = boxes.filter((box) => { // over the border of the picture: it could never be seen
    const all = svg.getBoundingClientRect();
    return box.kind !== "head" && (box.left < all.left - 3 || box.right > all.right + 3 || box.top < all.top - 3 || box.low > all.bottom + 3);
  }).map((box) => `${box.kind} over the border: ${box.says}`);
  return { found: [...found, ...cut], sizes, adrift };
}
