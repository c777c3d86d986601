/* unspool: opens a sealed page in the browser. The key comes from the address, from the reader, or, after a reload,
   from the state of this entry of the history, which only this page can read. Nothing is sent or stored elsewhere. */
(() => {
  "use strict";
  const part = (id) => document.getElementById(id);
  const header = part("sealed").textContent;
  const facts = JSON.parse(header);
  const byKey = facts.secret === "key";
  const utf8 = (text) => new TextEncoder().encode(text);
  const PURPOSE = utf8("unspool.sealed/1 key and commitment");
  const KEY = /^(?:[^]*[#&]key=|)([\w-]{43})(?:&[^]*)?$/;

  class Refused extends Error {}

  function bytes(text) {
    const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    const found = new Uint8Array(plain.length);
    for (let at = 0; at < plain.length; at++) found[at] = plain.charCodeAt(at);
    return found;
  }
  const written = (data) => btoa(String.fromCharCode(...data)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");

  /* --- from what the reader has to the key ------------------------------------------------------- */
  async function secretOf(given) {
    if (byKey) {
      const found = KEY.exec(given.trim());
      if (!found) throw new Refused("This is no key: a key has 43 letters, digits, - and _.");
      return bytes(found[1]);
    }
    const words = await crypto.subtle.importKey("raw", utf8(given.normalize("NFC")), "PBKDF2", false, ["deriveBits"]);
    const how = { name: "PBKDF2", hash: "SHA-256", salt: bytes(facts.salt), iterations: facts.iterations };
    return new Uint8Array(await crypto.subtle.deriveBits(how, words, 256));
  }

  async function keyOf(secret) {
    const base = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
    const how = { name: "HKDF", hash: "SHA-256", salt: bytes(facts.salt), info: PURPOSE };
    const both = new Uint8Array(await crypto.subtle.deriveBits(how, base, 512));
    if (written(both.subarray(32)) !== facts.commitment) {
      throw new Refused(byKey ? "This key does not open this page." : "This passphrase does not open this page.");
    }
    return crypto.subtle.importKey("raw", both.subarray(0, 32), "AES-GCM", false, ["decrypt"]);
  }

  /* --- from the key to the files ----------------------------------------------------------------- */
  function nonceOf(number, last) {
    const nonce = new Uint8Array(12);
    nonce.set(bytes(facts.prefix));
    new DataView(nonce.buffer).setUint32(7, number);
    nonce[11] = last ? 1 : 0;
    return nonce;
  }

  async function contents(key) {
    const chunks = Array.from(document.querySelectorAll("script.chunk"));
    const additionalData = utf8(header);
    try {
      if (!chunks.length) throw new Error("nothing to open");
      const opened = await Promise.all(chunks.map((chunk, number) => {
        const iv = nonceOf(number, number === chunks.length - 1);
        return crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData }, key, bytes(chunk.textContent));
      }));
      const plain = new Blob(opened).stream().pipeThrough(new DecompressionStream("gzip"));
      return new Uint8Array(await new Response(plain).arrayBuffer());
    } catch {
      throw new Refused("This page was changed or damaged since it was made, and is not opened. Get it once more.");
    }
  }

  function unpacked(whole) {
    const size = new DataView(whole.buffer).getUint32(0);
    const files = new Map();
    let at = 4 + size;
    for (const [name, length] of JSON.parse(new TextDecoder().decode(whole.subarray(4, at)))) {
      files.set(name, whole.subarray(at, at + length));
      at += length;
    }
    return files;
  }

  /* --- from the files to the page ---------------------------------------------------------------- */
  function show(files, secret) {
    const kept = history.state && history.state.unspool;
    const name = kept && files.has(kept.file) ? kept.file : files.keys().next().value;
    const mine = (file) => ({ unspool: { key: written(secret), file } });
    const replace = history.replaceState.bind(history), push = history.pushState.bind(history);
    history.replaceState = (state, title, address) => replace({ ...state, ...mine(name) }, title, address);
    history.pushState = (state, title, address) => push({ ...state, ...mine(name) }, title, address);
    history.replaceState(history.state, "");

    const place = (link) => new URL(link.getAttribute("href"), `http://inside/${name}`);
    const fileOf = (url) => (url.origin === "http://inside" ? decodeURIComponent(url.pathname.slice(1)) : "");
    const bare = location.pathname + location.search;
    const go = (file, hash) => { push(mine(file), "", bare + hash); location.reload(); };
    const save = (file) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([files.get(file)]));
      link.download = file.split("/").pop();
      link.click();
      URL.revokeObjectURL(link.href);
    };

    document.open();
    window.addEventListener("click", (event) => {
      const link = event.target instanceof Element && event.target.closest("a[href]");
      if (!link || link.download) return;
      const url = place(link), file = fileOf(url);
      if (!files.has(file) || (file === name && url.hash)) return;
      event.preventDefault();
      event.stopPropagation();
      if (file.endsWith(".html")) go(file, url.hash); else save(file);
    }, true); // before scripts of the page make the address of the link another one
    let leaving = false; // the page that is left must not act on the address of the one that comes
    const heed = (event) => {
      const there = history.state && history.state.unspool;
      if (there && there.file !== name && !leaving) { leaving = true; location.reload(); }
      if (leaving) event.stopImmediatePropagation(); else history.replaceState(history.state, "");
    };
    window.addEventListener("popstate", heed);
    window.addEventListener("hashchange", heed);
    document.write(new TextDecoder().decode(files.get(name)));
    document.close();
  }

  /* --- the page before it is opened -------------------------------------------------------------- */
  function say(text, bad) {
    part("says").textContent = text;
    part("says").className = bad ? "bad" : "";
    part("open").disabled = !bad && Boolean(text);
  }

  async function attempt(secret) {
    say("Opening …");
    try {
      const found = await secret();
      show(unpacked(await contents(await keyOf(found))), found);
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      say(problem.message, true);
      part("ask").hidden = false;
      part("secret").select();
    }
  }

  function begin() {
    const state = history.state && history.state.unspool;
    if (state) return attempt(async () => bytes(state.key));
    if (byKey && location.hash.includes("key=")) return attempt(() => secretOf(location.hash));
    part("ask").hidden = false;
    part("secret").focus();
    return undefined;
  }

  if (!globalThis.crypto || !crypto.subtle) {
    say("Browsers decrypt only in pages that come over https, or from this machine. Open it by https, or save this file and open it from disk.", true);
  } else if (typeof DecompressionStream === "undefined") {
    say("This browser is too old to open this page.", true);
  } else {
    part("ask").addEventListener("submit", (event) => {
      event.preventDefault();
      const given = part("secret").value;
      attempt(() => secretOf(given));
    });
    window.addEventListener("hashchange", () => { if (part("ask")) begin(); });
    begin();
  }
})();
