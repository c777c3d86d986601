/* A list of any length: each of its pages has a place, and only the pages around the window are in it.
   The others are empty room of their height, so the bar beside the page tells the truth and leads anywhere at once.
   And the list follows what is typed into its filter. Without this script there are pages and a button. */
const NEAR = 2000, MOST = 8, PAUSE = 120;
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const parsed = (text) => new DOMParser().parseFromString(text, "text/html");
const added = (element) => element.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));
const asked = async (address, signal) => {
  const answer = await fetch(address, { signal });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return parsed(await answer.text());
};

/* --- pages in their places -------------------------------------------------------------------------- */
function unroll(list) {
  const leaf = list.querySelector(".leaf"), pager = list.querySelector(".pager");
  if (!leaf || !pager) return;
  const here = Number(leaf.dataset.page), pages = Number(pager.dataset.pages), first = pager.dataset.first;
  const full = new Set(), coming = new Map();
  let height = leaf.offsetHeight;
  const places = Array.from({ length: pages }, (_, at) => (at + 1 === here ? leaf : place(at + 1)));
  const watch = new IntersectionObserver(look, { rootMargin: `${NEAR}px 0px` });
  pager.remove();
  if ("joins" in leaf.dataset) { // its first day began on the page before, which is above it now
    leaf.querySelector(":scope > .date:first-child")?.remove();
    leaf.classList.add("begun");
  }
  list.replaceChildren(...places);
  full.add(leaf);
  places.forEach((one) => watch.observe(one));
  if (here > 1 && !scrollY) leaf.scrollIntoView();
  return () => { watch.disconnect(); coming.forEach((stop) => stop.abort()); };

  function place(number) {
    const made = document.createElement("div");
    made.className = "leaf";
    made.dataset.page = number;
    made.style.height = `${height}px`;
    return made;
  }
  function look(entries) {
    for (const { target, isIntersecting } of entries) {
      target.classList.toggle("near", isIntersecting);
      if (isIntersecting && !full.has(target)) fill(target).catch(() => failed(target));
      if (!isIntersecting) coming.get(target)?.abort();
    }
    if (full.size > MOST) for (const one of full) if (!one.matches(".near") && !one.matches(":focus-within")) empty(one);
  }
  async function fill(one) {
    if (coming.has(one)) return;
    const stop = new AbortController();
    coming.set(one, stop);
    try {
      const page = await asked(new URL(`${first}page=${one.dataset.page}&part=rows`, location), stop.signal);
      const found = page.querySelector(".leaf");
      const known = new Set(all("[data-key]", list).map((row) => row.dataset.key));
      all("[data-key]", found).forEach((row) => known.has(row.dataset.key) && row.remove());
      one.className = `${found.className} near`;
      one.replaceChildren(...found.childNodes);
      one.style.height = "";
      full.add(one);
      added(one);
    } finally { coming.delete(one); }
  }
  function empty(one) {
    height = one.offsetHeight || height;
    one.style.height = `${height}px`;
    one.replaceChildren();
    full.delete(one);
  }
  function failed(one) {
    if (!one.matches(".near") || full.has(one)) return;
    const again = document.createElement("button");
    again.className = "button";
    again.type = "button";
    again.textContent = "Load these";
    again.addEventListener("click", () => fill(one).catch(() => {}));
    one.replaceChildren(again);
  }
}
let ends = [];
const begin = () => { ends.forEach((end) => end?.()); ends = all("[data-list]").map(unroll); };
begin();

/* --- filtering as one types -------------------------------------------------------------------------- */
function follow(form) {
  let waiting = 0, stop = new AbortController();
  const address = () => `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`.replace(/\?$/, "");
  const ask = async () => {
    stop.abort();
    stop = new AbortController();
    const where = address();
    try {
      const page = await asked(where, stop.signal);
      all("[data-part]").forEach((part) => {
        const now = page.querySelector(`[data-part="${part.dataset.part}"]`);
        if (!now || part.contains(document.activeElement)) return; // nothing is taken from under somebody's hands
        part.replaceChildren(...now.childNodes);
        added(part);
      });
      history.replaceState(null, "", where);
      begin();
    } catch (error) { if (error.name !== "AbortError") form.requestSubmit(); }
  };
  form.elements.q.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(ask, PAUSE); });
}
all("form[data-typed]").forEach(follow);
/** What is saved is what was typed, though the list may not have followed yet. */
document.addEventListener("submit", (event) => {
  const sift = document.querySelector("form[data-typed]");
  if (sift && event.target.matches("form.keep")) event.target.elements.query.value = new URLSearchParams(new FormData(sift));
});
