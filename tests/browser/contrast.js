// Every visible text whose contrast with what is behind it is under WCAG AA. Backgrounds are followed outwards; SVG text is
// compared with the fill of its group's shape. Numbers on tinted cells are included: the tints are blended.
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = (c) => c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (el) => {
    const layers = [];
    for (let e = el; e; e = e.parentElement) {
      layers.push(rgba(getComputedStyle(e).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reverse().reduce((b, a) => over(a, b), rgba(matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "#ffffff"));
  };
  const weak = [];
  let judged = 0;
  const judge = (el, front, back, text) => {
    judged += 1;
    const [a, b] = [light(over(front, back)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(getComputedStyle(el).fontSize), bold = Number(getComputedStyle(el).fontWeight) >= 700;
    if (ratio < (size >= 24 || (bold && size >= 18.66) ? 3 : 4.5)) weak.push(`${ratio.toFixed(2)} ${el.className.baseVal ?? el.className}: ${text.trim().slice(0, 40)}`);
  };
  for (const el of document.querySelectorAll(".mgv *")) {
    const text = [...el.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("");
    if (!text.trim() || !el.getClientRects().length) continue;
    if (el instanceof SVGElement) {
      const group = el.closest(".node, .mgv-order, .mgv-label");
      const shape = group && group.querySelector(group.classList.contains("node") ? ".shape" : "rect");
      const around = behind(el.closest(".mgv-frame"));
      const fill = shape ? over(rgba(getComputedStyle(shape).fill), around) : around;
      judge(el, rgba(getComputedStyle(el).fill), el.closest(".mgv-order") ? over(rgba(getComputedStyle(el.parentNode.querySelector("rect")).fill), around) : fill, text);
    } else judge(el, rgba(getComputedStyle(el).color), behind(el), text);
  }
  return judged ? [...new Set(weak)] : ["no text is to be seen"];
}
