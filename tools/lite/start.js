// The first page of the browser lessons: it says what is missing, loads what the lessons need, and opens the lesson.
const lesson = /^\w+$/.exec(new URLSearchParams(location.search).get("lesson") || "index")?.[0] || "index";
const at = (id) => document.getElementById(id);
const open = () => location.replace(`lab/index.html?path=${lesson}.ipynb`);

function stop(sentence, label, then) {
  at("what").textContent = sentence;
  at("again").textContent = label || "Try again";
  at("again").onclick = then || (() => location.reload());
  at("problem").hidden = false;
  at("again").focus();
}

// what the browser cannot do without, or a sentence
function missing() {
  if (location.protocol === "file:") return "This page was opened from a disk. It needs a web server: run `python -m http.server` in this folder and open http://localhost:8000.";
  if (typeof WebAssembly !== "object") return "This browser does not run WebAssembly, which Python needs: allow it in the settings, or use a current Firefox, Chrome, Edge or Safari.";
  if (!window.isSecureContext) return "This page must come over https, or from localhost: ask whoever runs this site to turn https on.";
  return "";
}

// whether what is written here will still be here at the next visit
async function keeps() {
  if (!navigator.serviceWorker) return false;
  const stored = new Promise((resolve) => {
    const asked = indexedDB.open("see-autograd-try");
    asked.onsuccess = () => { asked.result.close(); resolve(true); };
    asked.onerror = () => resolve(false);
  });
  try { return await stored; } catch { return false; }
}

async function start() {
  const sentence = missing();
  if (sentence) return stop(sentence);
  try {
    await downloadAll(new URL(".", location), (loaded, total, ready, all) => {
      at("bar").value = Math.min(1, loaded / total);
      at("now").textContent = `${(loaded / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} MB unpacked; ${ready} of ${all} files are here.`;
    });
  } catch (error) {
    return stop(error.message);
  }
  if (!(await keeps())) {
    return stop("This window keeps nothing, as private windows do: the lessons run, but your answers are gone when you close it.", "Open the lesson", open);
  }
  at("now").textContent = "Opening the lesson …";
  open();
}

start().catch((error) => stop(`The lessons could not be started (${error.message}).`));
