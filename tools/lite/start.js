// The first page of the browser lessons: it says what is missing, loads what the lessons need, and opens the lesson.
const lesson = /^\w+$/.exec(new URLSearchParams(location.search).get("lesson") || "index")?.[0] || "index";
const at = (id) => document.getElementById(id);
const open = () => location.replace(`lab/index.html?path=${lesson}.ipynb`);

function stop(sentence, label, then) {
  at("now").textContent = "";
  at("bar").hidden = true;
  at("what").textContent = sentence;
  at("again").textContent = label || "Try again";
  at("again").onclick = then || (() => location.reload());
  at("problem").hidden = false;
  at("again").focus();
}

async function start() {
  if (typeof downloadAll === "undefined") return stop(`download.js could not be loaded from ${location.host}. Is this computer online?`);
  const sentence = unable();
  if (sentence) return stop(sentence);
  await downloadAll(new URL(".", location), (share, words) => {
    at("bar").value = share;
    at("now").textContent = `${words}.`;
  });
  if (!navigator.serviceWorker || !(await keeps())) {
    return stop("This window keeps nothing, as private windows do: the lessons run, but your answers are gone when you close it.", "Open the lesson", open);
  }
  at("now").textContent = "Opening the lesson …";
  open();
}

start().catch((error) => stop(error.message));
