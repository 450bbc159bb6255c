// Exports: the picture as SVG or PNG, a page with all steps, a link to this step.

import { h, s } from "./elements.js";
import { download } from "./toolbar.js";

const LOOK = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "visibility", "display", "font-family", "font-size", "font-weight", "text-anchor", "transform", "transform-origin", "transform-box"];

export const exporting = {
  // The picture as it is painted now, with its styles inlined.
  svgText() {
    const svg = this.picture.cloneNode(true), look = getComputedStyle(this.frame), [width, height] = this.size;
    const from = [...this.picture.querySelectorAll("*")], to = [...svg.querySelectorAll("*")];
    from.forEach((el, i) => { const style = getComputedStyle(el); for (const name of LOOK) { const value = style.getPropertyValue(name); if (value && !/^(none|normal|auto|fill-box)$/.test(value) || name === "fill") to[i].style.setProperty(name, value); } });
    for (const el of svg.querySelectorAll(".mgv-open, .mgv-hit, .edge > .mgv-order")) el.remove();
    svg.prepend(s("rect", { width, height, fill: look.backgroundColor }));
    for (const [name, value] of Object.entries({ width, height, xmlns: "http://www.w3.org/2000/svg" })) svg.setAttribute(name, value);
    svg.removeAttribute("style");
    return new XMLSerializer().serializeToString(svg);
  },

  fileName(ending) { return `${String(this.data.title || "backward").replace(/[^\w.-]+/g, "-").slice(0, 40)}-step-${this.shown}.${ending}`; },

  saveSvg() { download(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.svgText())}`, this.fileName("svg")); },

  async savePng() {
    const image = new Image(), [width, height] = this.size, scale = Math.min(2, 8000 / Math.max(width, height)), canvas = h("canvas", { width: width * scale, height: height * scale });
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.svgText())}`;
    await image.decode();
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    download(canvas.toDataURL("image/png"), this.fileName("png"));
  },

  savePage() { // a copy of this page, with an empty pane
    const page = document.documentElement.cloneNode(true);
    page.querySelector("#pane").replaceChildren();
    for (const el of page.querySelectorAll("style:not(:first-of-type), script[type=module]")) el.remove();
    this.downloadPage(`<!doctype html>\n${page.outerHTML}`);
  },

  downloadPage(text) { download(`data:text/html;charset=utf-8,${encodeURIComponent(text)}`, this.fileName("html").replace(/-step-\d+/, "")); },

  address() { return `#step=${this.shown}${this.wanted ? `&view=${this.wanted}` : ""}`; },

  // Shows a link to this step, to be copied with a click.
  showShare() {
    this.more.open(false);
    const link = location.href.split("#")[0] + this.address(), field = h("input.answer", { type: "text", readonly: true, value: link, "aria-label": "Link", onfocus: () => field.select() }), copy = h("button.submit", "Copy");
    copy.addEventListener("click", () => { field.select(); const done = navigator.clipboard ? navigator.clipboard.writeText(link) : Promise.reject(); done.then(() => { copy.textContent = "Copied"; }, () => { copy.textContent = "Press Ctrl+C"; }); });
    const form = h("div.form", field, copy), { right, top } = this.stage.getBoundingClientRect();
    this.popUp(() => [form], right, top);
  },
};
