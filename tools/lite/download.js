// Fetches what the lessons need, with a word on how far it is; checks each file. For the first page and for live lesson pages.
"use strict";

async function digest(data) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

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
}

async function fetched(file, add) {
  let done = 0;
  const count = (size) => { done += size; add(size); };
  try {
    await load(file, count, "default");
  } catch {
    add(-done); // a half-downloaded file may be in the cache: once more, from the server
    done = 0;
    await load(file, count, "reload");
  }
}

// Everything that `base`/start.json lists. Calls report(bytes so far, bytes of all, files so far, files of all). Throws an Error that
// says what to do.
async function downloadAll(base, report) {
  const files = await (await fetch(new URL("start.json", base))).json();
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  let loaded = 0, ready = 0;
  const add = (size) => { loaded += size; report(loaded, total, ready, files.length); };
  await Promise.all(files.map(async (file) => {
    const address = new URL(file.address, base);
    try {
      await fetched({ ...file, address }, add);
    } catch (error) {
      throw new Error(`${address.pathname.split("/").pop()} could not be loaded from ${address.host} (${error.message}). Is this computer online, and does its network or an extension block ${address.host}?`);
    }
    ready += 1;
    add(0);
  }));
}
