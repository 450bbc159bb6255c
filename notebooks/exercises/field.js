// The field of a prediction. Says nothing about what is right: that comes from the kernel, below it.
const WAITS = 5000; // milliseconds until silence of the kernel is mentioned

function made(name, properties, ...inside) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...inside);
  return node;
}

function render({ model, el }) {
  const key = model.get("key");
  const asks = made("span", { id: `asks-${key}-${Math.random().toString(36).slice(2)}`, innerHTML: model.get("asks") });
  const input = made("input", { type: "text", placeholder: model.get("example"), autocomplete: "off", spellcheck: false });
  input.setAttribute("aria-labelledby", asks.id);
  const button = made("button", { type: "submit", textContent: "I think so" });
  const skip = made("button", { type: "button", className: "prediction-skip", textContent: "skip" });
  const note = made("p", { className: "prediction-note" });
  note.setAttribute("role", "status");
  const form = made("form", {}, input, button, skip);
  const label = made("p", { className: "prediction-label", textContent: `Predict · ${key}` });
  el.append(made("section", { className: "prediction-field" }, label, made("p", { className: "prediction-asks" }, asks), form, note));

  let waiting = 0;
  const quiet = () => { clearTimeout(waiting); note.textContent = ""; };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!input.value.trim()) { note.textContent = "Type what you expect, or skip."; input.focus(); return; }
    quiet();
    waiting = setTimeout(() => { note.textContent = "Waiting for Python. If nothing happens, run this cell again and type it there."; }, WAITS);
    model.send({ guess: input.value });
  });
  // keys are for the field, not for the notebook's commands
  for (const name of ["keydown", "keyup", "keypress"]) el.addEventListener(name, (event) => event.stopPropagation());
  skip.addEventListener("click", () => {
    quiet();
    note.textContent = "Skipped: run on and look. You can still type a prediction.";
  });
  const answered = () => {
    el.firstChild.classList.toggle("answered", model.get("answered"));
    button.textContent = model.get("answered") ? "Change it" : "I think so";
  };
  answered();
  model.on("change:heard", quiet);
  model.on("change:answered", answered);
  return () => { clearTimeout(waiting); model.off("change:heard", quiet); model.off("change:answered", answered); };
}

export default { render };
