// Fetches what the lessons need, with a word on how far it is; checks each file. For the first page and for live lesson pages.
"use strict";

// What Python needs and this browser lacks, as a sentence; "" if it can do everything.
function unable() {
  if (location.protocol === "file:") return "This page was opened from a disk. It needs a web server: run `python3 -m http.server` in this folder and open http://localhost:8000.";
  if (typeof WebAssembly !== "object") return "This browser does not run WebAssembly, which Python needs: allow it in the settings, or use a current Firefox, Chrome, Edge or Safari.";
  if (!isSecureContext) return "This page must come over https, or from localhost: ask whoever runs this site to turn https on.";
  return "";
}

// Whether what is written here will still be here at the next visit.
async function keeps() {
  try {
    const asked = indexedDB.open("see-autograd-try");
    await new Promise((resolve, reject) => { asked.onsuccess = resolve; asked.onerror = reject; });
    asked.result.close();
    return true;
  } catch {
    return false;
  }
}

async function digest(data) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A file's bytes; add(n) is called as they arrive.
async function load(file, add, cache) {
  const answer = await fetch(file.address, { cache });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  const parts = [];
  const reader = answer.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    add(part.value.length);
  }
  const data = await new Blob(parts).arrayBuffer();
  if (file.sha256 && (await digest(data)) !== file.sha256) throw new Error("it arrived damaged");
  return data;
}

// The same; if it fails, once more, from the server: a half-downloaded file may be in the cache.
async function fetched(file, add) {
  let done = 0;
  const count = (size) => { done += size; add(size); };
  try {
    return await load(file, count, "default");
  } catch {
    add(-done);
    done = 0;
  }
  try {
    return await load(file, count, "reload");
  } catch (error) {
    const { pathname, host } = file.address;
    throw new Error(`${pathname.split("/").pop()} could not be loaded from ${host} (${error.message}). Is this computer online, and does its network or an extension block ${host}?`);
  }
}

const QUIET = 15; // seconds without a byte after which the report says so

// Fetch everything that `base`/start.json lists. Calls report(share, words): how much of it is here, and what is still to come.
// Throws an Error that says what to do.
async function downloadAll(base, report) {
  const list = await fetched({ address: new URL("start.json", base) }, () => {});
  const files = JSON.parse(new TextDecoder().decode(list));
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  const coming = new Set(files);
  let loaded = 0, last = Date.now(), over = false;
  const tell = () => {
    if (over) return; // a failure has been reported; nothing after it is
    const seconds = Math.round((Date.now() - last) / 1000), share = Math.min(1, loaded / total);
    const names = [...new Set([...coming].map((file) => file.part))].join(", ");
    const still = seconds < QUIET ? "" : `. Nothing has arrived for ${seconds} seconds: the network is slow or stands still`;
    report(share, `${Math.floor(100 * share)} % is here${names && `, still to come: ${names}`}${still}`);
  };
  const watch = setInterval(tell, 1000);
  const add = (size) => { loaded += size; last = Date.now(); tell(); };
  try {
    await Promise.all(files.map(async (file) => {
      await fetched({ ...file, address: new URL(file.address, base) }, add);
      coming.delete(file);
    }));
    tell();
  } finally {
    over = true;
    clearInterval(watch);
  }
}
