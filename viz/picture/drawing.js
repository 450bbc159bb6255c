// A drawing in a notebook or page that allows scripts: the picture in the <img> becomes part of the page, so that its words can be
// selected and found, and it can be zoomed. `img` is the image once it has loaded. Without scripts the image stays.
if (!img.dataset.shown) {
  img.dataset.shown = "1";
  const bytes = Uint8Array.from(atob(img.src.split(",")[1]), (c) => c.charCodeAt());
  const svg = document.importNode(new DOMParser().parseFromString(new TextDecoder().decode(bytes), "image/svg+xml").documentElement, true);
  for (const part of svg.querySelectorAll("[id]")) part.removeAttribute("id"); // several drawings on one page
  // the theme of the surrounding editor, also when it changes, rather than that of the system
  const style = svg.querySelector("style"), wide = svg.viewBox.baseVal.width, dark = `.viz-drawing{color-scheme:dark}${/^@media[^{]*\{(.*)\}$/s.exec(style.textContent)[1]}`;
  const light = `body:is([data-jp-theme-light="true"], .vscode-light, .vscode-high-contrast-light)`, night = `body:is([data-jp-theme-light="false"], .vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light))`;
  style.textContent = `${night}{${dark}} ${light} .viz-drawing{color-scheme:light} @media (prefers-color-scheme:dark){body:not(${light.slice(4)}){${dark}}}`;
  const view = document.createElement("div"), bar = document.createElement("div");
  const zoom = (by) => {
    const width = Math.max(0.5 * Math.min(wide, view.clientWidth), Math.min(8 * wide, by * svg.getBoundingClientRect().width));
    svg.style.cssText = `${by ? `width:${width}px;max-width:none` : "max-width:100%"};height:auto;display:block`;
  };
  zoom(0);
  svg.style.minWidth = img.style.minWidth; // at first each word can be read, even if the picture must then be scrolled
  for (const [text, name, by] of [["−", "Smaller", 0.8], ["⤢", "Fit", 0], ["+", "Larger", 1.25]]) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: text, title: name, onclick: () => zoom(by) });
    button.setAttribute("aria-label", name);
    button.style.cssText = "width:26px;height:26px;padding:0;border:0;border-radius:5px;background:none;color:inherit;cursor:pointer;font:15px sans-serif";
    bar.append(button);
  }
  // beside the picture: it covers nothing of it
  bar.style.cssText = "flex:none;display:grid;border:1px solid #8c959f;border-radius:6px;background:Canvas;color:CanvasText;opacity:0";
  const place = document.createElement("div"), show = (on) => { bar.style.opacity = Number(on || place.matches(":hover")); };
  place.style.cssText = "display:flex;align-items:flex-start;gap:4px;width:fit-content;max-width:100%";
  view.style.cssText = "min-width:0;overflow:auto;max-height:1200px";
  for (const event of ["pointerenter", "focusin"]) place.addEventListener(event, () => show(true));
  for (const event of ["pointerleave", "focusout"]) place.addEventListener(event, () => show(false));
  view.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); zoom(Math.exp(-event.deltaY * 0.004)); } }, { passive: false });
  view.append(svg);
  // what must be scrolled can be reached by keyboard
  const sizes = new ResizeObserver(() => { view.tabIndex = view.scrollWidth > view.clientWidth || view.scrollHeight > view.clientHeight ? 0 : -1; });
  for (const each of [view, svg]) sizes.observe(each);
  place.append(view, bar);
  place.className = "viz-drawing";
  img.parentNode.replaceWith(place);
}
