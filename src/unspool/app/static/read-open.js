/* unspool: what is loaded when it is opened: what lighter copies would save, and long conversations of subagents.
   Without it a link leads to the page that has it. */
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const added = (element) => element.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));
async function fetched(href) {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(String(answer.status));
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}
/** In place of something that leads elsewhere, what is there; where that does not come, the way stays. */
function fill(place) {
  const href = place.dataset.load;
  if (!href) return;
  delete place.dataset.load;
  place.setAttribute("aria-busy", "true");
  fetched(href).then((page) => { place.replaceChildren(...page.body.childNodes); added(place); }, () => { place.dataset.load = href; })
    .finally(() => place.removeAttribute("aria-busy"));
}
document.addEventListener("toggle", (event) => {
  if (event.target.open) all(":scope > div > [data-load], :scope > [data-load]", event.target).forEach(fill);
}, true);
