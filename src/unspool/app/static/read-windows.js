/* unspool: a long session read without turning pages. Each page of it is a window of turns; the next one is fetched as
   one comes near it, and those far away are put aside, so that the document stays small. Without it, there are pages. */
const NEAR = 1600, MOST = 7;
const main = document.querySelector("main");
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const folder = (path = location.pathname) => path.replace(/[^/]*$/, "");
const nameOf = (address) => new URL(address, location.href).pathname.split("/").pop();
const pagers = (within) => all(":scope > .pager", within);

/* --- windows --------------------------------------------------------------------------------------------- */
/** What stands between the pagers of a page. */
function between(within) {
  const [above, below] = pagers(within), found = [];
  for (let one = above?.nextSibling; below && one && one !== below; one = one.nextSibling) found.push(one);
  return found;
}
/** A page that was fetched, or the one that is here: its turns, its frame and the ways on. */
function pageOf(doc, name) {
  const inside = doc.querySelector("main"), [above, below] = pagers(inside);
  if (!below) return null;
  const way = (rel) => below.querySelector(`a[rel=${rel}]`)?.getAttribute("href") ?? "";
  return { name, above: above.cloneNode(true), below: below.cloneNode(true), previous: way("prev"), following: way("next"), title: doc.title,
    facts: inside.querySelector(":scope > .facts")?.cloneNode(true), rail: doc.querySelector(".rail")?.cloneNode(true), here: doc.querySelector(".crumbs [aria-current]")?.textContent ?? "",
    about: { ...doc.querySelector("meta[name=unspool-session]")?.dataset } };
}
function windowOf(page, inside) {
  const box = document.createElement("div");
  box.className = "window";
  box.append(...inside);
  box.page = page;
  return box;
}
const windows = () => all(":scope > .window", main);
const mounted = () => windows().filter((one) => !one.classList.contains("aside"));
const added = (box) => box.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));

async function fetched(name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(String(answer.status));
  const doc = new DOMParser().parseFromString(await answer.text(), "text/html"), page = pageOf(doc, name);
  if (!page) throw new Error("no window");
  if (page.previous) for (const one of all("main > .label, main > .agent.own", doc)) // the head of a subagent, which stands above already
    if (one.matches(".label")) one.remove(); else one.removeAttribute("id");
  return windowOf(page, between(doc.querySelector("main")).map((one) => document.adoptNode(one)));
}
/** Do something above the reader without moving what is being read. */
function still(act) {
  const held = mounted().flatMap((box) => Array.from(box.children)).find((one) => one.getBoundingClientRect().bottom > 60);
  const before = held?.getBoundingClientRect().top ?? 0;
  act();
  const moved = held?.isConnected ? held.getBoundingClientRect().top - before : 0;
  if (Math.abs(moved) > 1) window.scrollBy({ top: moved, behavior: "instant" });
}
/** A window that is far away leaves its place, as high as it was, and the way to get it back. */
function putAside(box) {
  const { name, previous, following } = box.page;
  box.page = { name, previous, following };
  box.style.height = `${box.getBoundingClientRect().height}px`;
  box.classList.add("aside");
  box.replaceChildren();
}
function tidy() {
  const distance = (box) => { const { top, bottom } = box.getBoundingClientRect(); return Math.max(0, top - window.innerHeight, -bottom); };
  const far = mounted().filter((box) => !box.contains(document.activeElement)).sort((one, other) => distance(other) - distance(one));
  while (mounted().length > MOST && far.length && distance(far[0]) > NEAR) putAside(far.shift());
}

/* --- going on -------------------------------------------------------------------------------------------- */
let busy = null;
/** One at a time; what fails is asked for again when the reader moves on. */
async function load(name, put) {
  if (busy) return;
  busy = fetched(name).then((box) => { still(() => put(box)); added(box); tidy(); now(); tellLive(box.page); return true; }, () => false);
  const came = await busy;
  busy = null;
  if (came) look();
}
function look() {
  if (busy) return;
  const boxes = windows(), first = boxes[0], last = boxes.at(-1), height = window.innerHeight;
  const away = boxes.find((box) => {
    const { top, bottom } = box.getBoundingClientRect();
    return box.classList.contains("aside") && bottom > -NEAR / 2 && top < height + NEAR / 2;
  });
  if (away) load(away.page.name, (box) => away.replaceWith(box));
  else if (last.page.following && last.getBoundingClientRect().bottom < height + NEAR) load(last.page.following, (box) => last.after(box));
  else if (up && first.page.previous && first.getBoundingClientRect().top > -NEAR) load(first.page.previous, (box) => first.before(box));
}
function tellLive(page) {
  if (page.about.live !== undefined) document.dispatchEvent(new CustomEvent("unspool:live", { detail: page.about }));
}

/* --- where the reader is: address, title, rail and pagers are those of the page in view --------------------- */
let here = null;
function now() {
  const box = mounted().find((one) => one.getBoundingClientRect().bottom > window.innerHeight / 3) ?? mounted().at(-1);
  const boxes = windows(), facts = main.querySelector(":scope > .facts");
  if (facts) refresh(facts, boxes[0].page.facts); // which prompts the first of these windows has
  refresh(pagers(main)[0], boxes[0].page.above);
  refresh(pagers(main)[1], boxes.at(-1).page.below);
  if (!box || box.page === here) return;
  here = box.page;
  const kept = location.hash.slice(1).split("&").filter((part) => part.includes("=")).join("&");
  history.replaceState(history.state, "", `${here.name}${location.search}${kept ? `#${kept}` : ""}`);
  document.title = here.title;
  const crumb = document.querySelector(".crumbs [aria-current]"), rail = document.querySelector(".rail");
  if (crumb) crumb.textContent = here.here;
  if (rail && here.rail) {
    rail.replaceChildren(...here.rail.cloneNode(true).childNodes);
    rail.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));
  }
}
function refresh(old, wanted) {
  if (wanted && !old.isEqualNode(wanted)) old.replaceWith(wanted.cloneNode(true));
}

/* --- going elsewhere -------------------------------------------------------------------------------------- */
const targetOf = (anchor) => { try { return document.getElementById(decodeURIComponent(anchor)); } catch { return null; } }; // anything can stand there
let goings = 0;
/** To a page and anchor of this session: in place where its window is here or can be had. Who asks last is led. */
async function go(href) {
  const going = goings += 1;
  const address = new URL(href, location.href), name = nameOf(address), anchor = address.hash.slice(1).split("&")[0];
  if (folder(address.pathname) !== folder()) { location.assign(address); return; }
  if (!targetOf(anchor) && !mounted().some((box) => box.page.name === name)) {
    await busy;
    try {
      const box = await fetched(name);
      if (going !== goings) return;
      for (const old of windows().slice(1)) old.remove();
      windows()[0].replaceWith(box);
      added(box);
    } catch { if (going === goings) location.assign(address); return; }
  }
  here = null;
  now();
  history.replaceState(history.state, "", `${location.pathname}${location.search}${address.hash}`);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
  document.dispatchEvent(new CustomEvent("unspool:there", { detail: anchor }));
}
/** An anchor that no window here has may stand in another; each is asked for once. */
function lost() {
  const anchor = location.hash.slice(1).split("&").find((part) => !part.includes("="));
  if (main.querySelector("[data-session]")) return; // a story has no anchors but its own
  if (!anchor || !/^(?:(?:branch-\d+\.)?turn-\d+|(?:msg|line)-\d+(?:-\d+)?)$/.test(anchor) || targetOf(anchor)) return;
  const sought = `${folder()}${anchor}`;
  try {
    if (sessionStorage.getItem("unspool-sought") === sought) return;
    sessionStorage.setItem("unspool-sought", sought);
  } catch { return; } // what cannot be remembered would be asked for again and again
  location.replace(`${folder()}?at=${encodeURIComponent(anchor)}`);
}

/* --- start ------------------------------------------------------------------------------------------------ */
let up = false, at = 0, asked = false;
function scrolled() {
  if (window.scrollY !== at) up = window.scrollY < at;
  at = window.scrollY;
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; now(); look(); });
}
function start() {
  const inside = between(main), page = pageOf(document, nameOf(location));
  document.addEventListener("unspool:go", (event) => (page ? go(event.detail) : location.assign(event.detail)));
  if (!page || (!page.previous && !page.following)) return;
  lost();
  window.addEventListener("hashchange", lost);
  for (const one of all(".calls", main)) if (one.getBoundingClientRect().top < window.innerHeight) one.classList.add("met"); // drawn already
  const [above] = pagers(main), box = windowOf(page, inside);
  above.after(box);
  here = page;
  document.documentElement.dataset.windows = "";
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (link.origin !== location.origin || link.pathname === location.pathname || folder(link.pathname) !== folder()) return;
    if (!link.hash || !targetOf(link.hash.slice(1).split("&")[0])) return;
    event.preventDefault();
    go(link.href);
  });
  document.addEventListener("unspool:whole", () => { // the rest of a long session was read: the ways on are known now
    const known = pageOf(document, page.name);
    if (known) Object.assign(page, { ...known, about: page.about });
    look();
  });
  at = window.scrollY;
  window.addEventListener("scroll", scrolled, { passive: true });
  window.addEventListener("resize", scrolled, { passive: true });
  look();
}
if (document.readyState === "complete") start(); else document.addEventListener("DOMContentLoaded", start); // after page.js
