// Draws a curve and the line through two of its points; two sliders move the points. All numbers come with the data.
const W = 640, H = 300, PAD = 34;
const CURVE = "#0072B2", LINE = "#D55E00";

function make(tag, attributes, ...children) {
  const svg = /^(svg|path|line|circle|text|g)$/.test(tag);
  const el = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, value);
  el.append(...children);
  return el;
}

function slider(label, max, value) {
  const input = make("input", { type: "range", min: 0, max, value, "aria-label": label, "data-lm-suppress-shortcuts": "true", style: "width: 14em" });
  const shown = make("span", { style: "display: inline-block; min-width: 7em; font-variant-numeric: tabular-nums" });
  return { input, shown, row: make("label", { style: "display: inline-flex; gap: .6em; align-items: center; margin-right: 1em" }, input, shown) };
}

const written = (number, digits) => number.toFixed(digits).replace("-", "−");

export default {
  render({ model, el }) {
    const { name, place, places, sizes, curve, left, right } = model.get("data");
    const xs = curve.map((p) => p[0]), ys = curve.map((p) => p[1]);
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const sx = (x) => PAD + ((x - x0) / (x1 - x0)) * (W - 2 * PAD);
    const sy = (y) => H - PAD / 2 - ((y - y0) / (y1 - y0)) * (H - PAD);

    const axis = { stroke: "currentColor", "stroke-opacity": 0.35 };
    const svg = make("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", style: `width: 100%; max-width: ${W}px; display: block; overflow: hidden` },
      make("line", { x1: PAD, x2: W - PAD, y1: sy(0), y2: sy(0), ...axis }),
      make("line", { x1: sx(0), x2: sx(0), y1: PAD / 2, y2: H - PAD / 2, ...axis }));
    const label = { fill: "currentColor", "fill-opacity": 0.75, "font-size": 12 };
    for (let x = Math.ceil(x0); x <= x1; x++) if (x) svg.append(make("text", { x: sx(x), y: sy(0) + 15, "text-anchor": "middle", ...label }, written(x, 0)));
    for (let y = Math.ceil(y0 / 5) * 5; y <= y1; y += 5) if (y) svg.append(make("text", { x: sx(0) - 6, y: sy(y) + 4, "text-anchor": "end", ...label }, written(y, 0)));
    svg.append(make("path", { d: "M" + curve.map(([x, y]) => `${sx(x).toFixed(1)},${sy(y).toFixed(1)}`).join("L"), fill: "none", stroke: CURVE, "stroke-width": 2.5 }));
    const line = make("line", { stroke: LINE, "stroke-width": 2 });
    const dots = [0, 1].map(() => make("circle", { r: 5, fill: LINE }));
    svg.append(line, ...dots);

    const h = slider("h, from large to small", sizes.length - 1, 0), x = slider("x", places.length - 1, place);
    const reading = make("div", { role: "status", style: "margin-top: .4em; font-variant-numeric: tabular-nums" });

    function draw() {
      const i = Number(x.input.value), k = Number(h.input.value);
      const at = places[i], size = sizes[k], a = left[i][k], b = right[i][k];
      const slope = (b - a) / (2 * size), middle = (a + b) / 2;
      const on = (place) => middle + slope * (place - at);
      for (const [key, value] of Object.entries({ x1: sx(x0), x2: sx(x1), y1: sy(on(x0)), y2: sy(on(x1)) })) line.setAttribute(key, value);
      [[at - size, a], [at + size, b]].forEach(([px, py], n) => { dots[n].setAttribute("cx", sx(px)); dots[n].setAttribute("cy", sy(py)); });
      h.shown.textContent = `h = ${written(size, 4)}`;
      x.shown.textContent = `x = ${written(at, 2)}`;
      const moved = `${name} moved ${written(b - a, 4)} while x moved ${written(2 * size, 4)}: `;
      reading.replaceChildren(moved, make("strong", {}, `slope ${written(slope, 4)}`));
      svg.setAttribute("aria-label", `The curve of ${name} and a line through its points at x − h and x + h. ${moved} slope ${written(slope, 4)}.`);
    }
    for (const each of [h, x]) each.input.addEventListener("input", draw);
    el.append(make("div", { style: "color: var(--jp-content-font-color1, CanvasText); font-size: var(--jp-ui-font-size1, 13px); padding: .3em 0" },
      make("div", {}, h.row, x.row), svg, reading));
    draw();
  },
};
