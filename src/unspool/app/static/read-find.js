/* unspool: words in all of a long session, of which the page shows a part. Ctrl-F asks the server which blocks hold
   them; Ctrl-F once more is the browser's own search. In a session of one page, it is the browser's own at once. */
const WAIT = 180;
const about = document.querySelector("meta[name=unspool-session]")?.dataset ?? {};
let bar, input, count, links = [], places = [], total = 0, at = -1, ranges = [], inner = 0, backwards = false, sought = "", waiting = 0, timer = 0, asking = null, opener = null;

function make(tag, attributes, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value); else element.setAttribute(name, value);
  element.append(...inside);
  return element;
}
function build() {
  input = make("input", { type: "search", "aria-label": "Find in this session", placeholder: "Find in this session", autocomplete: "off",
    spellcheck: "false", maxlength: "400", oninput: later, onkeydown: press });
  count = make("output", { class: "num", "aria-live": "polite" });
  const button = (text, name, act) => make("button", { class: "button", type: "button", "aria-label": name, title: name, onclick: act }, text);
  bar = make("search", { class: "find", "aria-label": "Find in this session" }, input, count,
    button("↑", "Previous", () => step(-1)), button("↓", "Next", () => step(1)), button("✕", "Close", close));
  document.body.append(bar);
}
function open() {
  if (!bar) build();
  if (bar.hidden || !bar.contains(document.activeElement)) opener = document.activeElement;
  bar.hidden = false;
  const chosen = String(getSelection()).trim();
  if (chosen && chosen.length < 200 && !chosen.includes("\n")) { input.value = chosen; later(); }
  input.focus();
  input.select();
}
function close() {
  bar.hidden = true;
  waiting = 0;
  asking?.abort();
  CSS.highlights?.delete("found"), CSS.highlights?.delete("here");
  if (opener?.isConnected) opener.focus({ preventScroll: true });
}

/* --- asking ------------------------------------------------------------------------------------------------ */
function later() {
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT);
}
async function ask() {
  clearTimeout(timer);
  timer = 0;
  asking?.abort();
  asking = new AbortController();
  const words = input.value.trim();
  links = [], places = [], total = 0, at = -1, ranges = [], sought = "", waiting = 0;
  CSS.highlights?.delete("found");
  if (!words) { count.textContent = ""; return; }
  count.textContent = "…";
  try {
    const answer = await fetch(`/s/${encodeURIComponent(about.key)}/find?q=${encodeURIComponent(words)}`, { signal: asking.signal });
    if (!answer.ok) throw new Error(String(answer.status));
    const found = await answer.json();
    links = found.links, places = found.places, total = found.total;
    if (links.length) step(1, nearest()); else count.textContent = "None";
  } catch (error) {
    if (error.name !== "AbortError") count.textContent = "Did not work";
  }
}
/** The first place that is not above what is being read. */
function nearest() {
  const here = location.pathname.split("/").pop();
  const seen = links.findIndex((link) => {
    const [page, anchor] = link.split("#"), block = document.getElementById(anchor);
    return block ? block.getBoundingClientRect().bottom > 60 : page === here;
  });
  return Math.max(0, seen);
}
async function step(way, to = null) {
  if (timer) { await ask(); return; }
  if (!links.length) return;
  if (sought && to === null) { waiting += way; return; } // how many places the block shows is known once it is here
  backwards = way < 0;
  if (to === null && ranges[inner + way]) { inner += way; show(); return; } // in the same block
  at = to ?? (at + way + links.length) % links.length;
  ranges = [], inner = 0;
  CSS.highlights?.delete("here");
  say();
  sought = decodeURIComponent(links[at].split("#")[1]);
  document.dispatchEvent(new CustomEvent("unspool:go", { detail: `/s/${encodeURIComponent(about.key)}/${links[at]}` }));
}

/** A block came; the steps that were asked for on the way are taken now. */
function arrive(anchor) {
  if (anchor !== sought) { sought = "", waiting = 0; return; } // led elsewhere by a link
  sought = "";
  mark(anchor);
  while (waiting && !sought) {
    const way = Math.sign(waiting);
    waiting -= way;
    step(way);
  }
}

/** Which of all places is looked at. */
function say() {
  const before = places.slice(0, at).reduce((sum, one) => sum + one, 0), here = ranges.length ? inner + 1 : backwards ? places[at] : 1;
  count.textContent = `${(before + here).toLocaleString("en")} of ${total.toLocaleString("en")}`;
}

/* --- showing ----------------------------------------------------------------------------------------------- */
/** The words in the block that was gone to, marked without touching the page. */
function mark(anchor) {
  const block = bar && !bar.hidden ? document.getElementById(anchor) : null;
  if (!block) return;
  input.focus({ preventScroll: true });
  ranges = [];
  if (!CSS.highlights) return;
  const words = input.value.trim().toLowerCase(), walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < 500; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    for (let from = text.indexOf(words); from >= 0; from = text.indexOf(words, from + words.length)) {
      const range = new Range();
      if (from + words.length > node.length) break; // lower case can be longer
      range.setStart(node, from), range.setEnd(node, from + words.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
  const shown = Math.max(1, ranges.length); // a page may show a block in part, or a piece of it twice
  total += shown - places[at], places[at] = shown;
  inner = backwards ? Math.max(0, ranges.length - 1) : 0;
  if (ranges.length) show(); else if (block.tagName === "DETAILS") block.open = true;
}
/** The place that is looked at: opened, marked, and inside the window and what scrolls around it. */
function show() {
  const range = ranges[inner];
  say();
  CSS.highlights.set("here", new Highlight(range));
  unfold(range);
  const box = range.startContainer.parentElement.closest("pre"), place = range.getBoundingClientRect(), room = box?.getBoundingClientRect();
  if (box && (place.left < room.left || place.right > room.right)) box.scrollLeft += place.left - room.left - box.clientWidth / 3;
}
/** What is folded away is opened as far as the words. */
function unfold(first) {
  const inside = first.startContainer.parentElement;
  for (let one = inside; one && one !== document.body; one = one.parentElement) {
    if (one.tagName === "DETAILS" && !first.startContainer.parentElement.closest("summary")?.contains(first.startContainer)) one.open = true;
    if (one.matches(".clip.cut:not(.whole)")) one.nextElementSibling?.matches(".more") ? one.nextElementSibling.click() : one.classList.add("whole");
  }
  const { top, bottom } = first.getBoundingClientRect();
  if (bottom < 160 || top > window.innerHeight - 80) inside.scrollIntoView({ block: "center" });
}

/* --- keys -------------------------------------------------------------------------------------------------- */
function press(event) {
  const acts = { Enter: () => step(event.shiftKey ? -1 : 1), Escape: close, ArrowDown: () => step(1), ArrowUp: () => step(-1) };
  if (!Object.hasOwn(acts, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  acts[event.key]();
}
function start() {
  if (!about.key || document.documentElement.dataset.windows === undefined || document.querySelector("main [data-session]")) return; // a story is of several
  document.querySelector("main").dataset.keys = "Ctrl F: find in all of this session; Ctrl F Ctrl F: the browser's own search";
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "f") return;
    if (document.querySelector("dialog[open]") || (bar && !bar.hidden && document.activeElement === input)) return; // the browser's own
    event.preventDefault();
    open();
  });
  document.addEventListener("unspool:there", (event) => arrive(decodeURIComponent(event.detail)));
}
if (document.readyState === "complete") start(); else document.addEventListener("DOMContentLoaded", start); // after read-windows.js
