/* unspool: what is loaded when it is opened and seen: what lighter copies would save, and conversations of subagents
   that are too long to stand in the page. Without it a link leads to the page that has it. */
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const added = (element) => element.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));
function make(tag, attributes, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}
async function fetched(href) {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(String(answer.status));
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) { seen.unobserve(target); fill(target); }
}, { rootMargin: "300px" });

/** What a place leads to comes to stand before it, page by page; where nothing comes, the link is left. */
async function fill(place) {
  const way = place.dataset.load;
  place.setAttribute("aria-busy", "true");
  try {
    const page = await fetched(way), agent = page.querySelector(".agent.own");
    const box = make("div", { class: "loaded" }, ...Array.from((agent ?? page.body).childNodes, (node) => document.adoptNode(node)));
    place.before(box);
    added(box);
    const next = agent && page.querySelector(".pager a[rel=next]")?.getAttribute("href");
    if (!next) { place.remove(); return; }
    place.dataset.load = new URL(next, new URL(way, location.href)).href;
    seen.observe(place);
  } catch { place.removeAttribute("aria-busy"); }
}
/** The row of a subagent that leads to its page opens in place. One that stands at another call is opened there. */
function openable(row) {
  const link = row.querySelector(":scope > a.what");
  if (!link || !row.id) return;
  const [name, gist] = ["b", "i"].map((one) => row.querySelector(`:scope > ${one}`));
  const place = make("p", { "data-load": link.href }, "Loading …");
  row.replaceWith(make("details", { class: "call", "data-kind": "agent", id: row.id },
    make("summary", {}, name, " ", make("span", { class: "what" }, link.textContent), " ", gist),
    make("div", { class: "agent" }, make("p", { class: "link" }, make("a", { href: link.href }, "Open alone")), place)));
}
function adorn(within) {
  all("main div.call[data-kind=agent]", within).forEach(openable);
  all("main [data-load]", within).forEach((place) => seen.observe(place));
}
function start() {
  adorn(document);
  document.addEventListener("unspool:added", (event) => adorn(event.target));
}
if (document.readyState === "complete") start(); else document.addEventListener("DOMContentLoaded", start); // after page.js
