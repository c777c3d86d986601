/* Lists that go on by themselves, stars without a new page, marking in a dialog, filtering as one types.
   All of it works without this script, page by page. */
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const say = (text) => {
  let place = document.querySelector("[data-say]");
  if (!place) {
    place = document.createElement("p");
    place.className = "unseen";
    place.dataset.say = "";
    place.setAttribute("role", "status");
    document.body.append(place);
  }
  place.textContent = text;
};
const parsed = (text) => new DOMParser().parseFromString(text, "text/html");
const added = (element) => element.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));
const failed = (answer) => { if (!answer.ok) throw new Error(`${answer.status}`); return answer; };

/* --- a list that goes on ------------------------------------------------------------------------- */
function goOn(list) {
  const next = list.querySelector(".pager a.further");
  if (!next) return;
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    more(list, next).catch(() => { next.textContent = "Load more"; });
  }, { rootMargin: "1200px" });
  seen.observe(next);
}
async function more(list, next) {
  const address = new URL(next.href);
  address.searchParams.set("part", "rows");
  const page = parsed(await failed(await fetch(address)).text());
  const leaf = page.querySelector(".leaf");
  if (!leaf) return;
  const known = new Set(all("[data-key]", list).map((row) => row.dataset.key));
  all("[data-key]", leaf).filter((row) => known.has(row.dataset.key)).forEach((row) => row.remove());
  joinDays(list, leaf);
  list.querySelector(".pager").remove();
  const pager = page.querySelector(".pager");
  list.append(leaf, ...(pager ? [pager] : []));
  added(leaf);
  goOn(list);
}
/** A day that goes on over two pages is one day. */
function joinDays(list, leaf) {
  const last = all(".leaf .date", list).at(-1), first = leaf.querySelector(".date");
  const before = all(".leaf .rows", list).at(-1), after = leaf.querySelector(".rows");
  if (!before || !after) return;
  if ((last?.textContent ?? "") !== (first?.textContent ?? "")) return;
  first?.remove();
  after.remove();
  const rows = Array.from(after.children);
  before.append(...rows);
  rows.forEach(added);
}

/* --- marks ----------------------------------------------------------------------------------------- */
const send = (form) => fetch(form.action, {
  method: "POST",
  headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(new FormData(form)),
});
async function star(form) {
  const mark = await failed(await send(form)).json();
  for (const one of all(`[data-key="${CSS.escape(form.closest("[data-key]").dataset.key)}"] .star`)) {
    one.setAttribute("aria-pressed", String(mark.starred));
    one.textContent = mark.starred ? "★" : "☆";
    one.form.elements.star.value = mark.starred ? "0" : "1";
  }
  say(mark.starred ? "Starred" : "No longer starred");
}
async function openMark(link) {
  const address = new URL(link.href);
  address.searchParams.set("part", "form");
  const form = parsed(await failed(await fetch(address)).text()).querySelector("form");
  const dialog = document.createElement("dialog");
  dialog.className = "marked";
  dialog.setAttribute("aria-label", "Mark a session");
  dialog.append(form);
  document.body.append(dialog);
  dialog.addEventListener("close", () => { dialog.remove(); link.focus(); });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-close]")) { event.preventDefault(); dialog.close(); }
  });
  dialog.showModal();
  form.elements.title.focus();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.querySelector(".star")) return;
  event.preventDefault();
  star(form).catch(() => form.submit());
});
document.addEventListener("click", (event) => {
  const pen = event.target.closest("a.pen");
  if (!pen || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  openMark(pen).catch(() => { location.href = pen.href; });
});

/* --- keys: from session to session ------------------------------------------------------------------ */
function step(way) {
  const titles = all(".rows .title").filter((one) => one.checkVisibility());
  const held = titles.indexOf(document.activeElement.closest("li")?.querySelector(".title"));
  const first = () => titles.findIndex((one) => one.getBoundingClientRect().top > 60);
  const next = titles[held < 0 ? first() : held + way];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
const here = (selector) => document.activeElement.closest("[data-key]")?.querySelector(selector)?.click();
const KEYS = { j: () => step(1), k: () => step(-1), s: () => here("button.star"), m: () => here("a.pen") };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key) || !document.querySelector("[data-keys]")) return;
  if (event.target.closest("input, textarea, select") || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  KEYS[event.key]();
}, true);

/* --- filters --------------------------------------------------------------------------------------- */
function filterAsTyped(input) {
  const list = document.getElementById(input.dataset.filter);
  const none = document.querySelector(`[data-none="${input.dataset.filter}"]`);
  const narrow = () => {
    const words = input.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of list.children) {
      const name = row.dataset.name.toLocaleLowerCase();
      row.hidden = !words.every((word) => name.includes(word));
      left += row.hidden ? 0 : 1;
    }
    if (none) none.hidden = left > 0;
    say(left === 1 ? "1 fits" : `${left} fit`);
  };
  const shown = input.value;
  input.addEventListener("input", () => {
    // A page that was narrowed by its address has not all of them: widening it asks the server.
    if (shown && !input.value.includes(shown)) input.form.requestSubmit(); else narrow();
  });
}
all("[data-filter]").forEach(filterAsTyped);
all("[data-list]").forEach(goOn);
for (const form of all("form.sift"))
  for (const choice of all("select, input[type=date]", form)) choice.addEventListener("change", () => form.requestSubmit());
/** Addresses without what was not asked for. */
document.addEventListener("formdata", (event) => {
  if (!event.target.matches("form.sift")) return;
  for (const [name, value] of Array.from(event.formData.entries()))
    if (!value || (name === "sort" && value === "newest")) event.formData.delete(name);
});

/* --- settings: the theme chosen here holds over one chosen on a page before ------------------------- */
document.querySelector("[data-settings]")?.addEventListener("submit", (event) => {
  try {
    const theme = new FormData(event.target).get("theme");
    if (theme) localStorage.setItem("unspool-theme", theme);
  } catch { /* storage may be forbidden */ }
});

/* --- the sync behind it: show how it goes on, and what it brought --------------------------------- */
const progress = document.querySelector("[data-progress]");
if (progress) setInterval(async () => {
  if (document.hidden || document.querySelector("dialog[open]")) return;
  try {
    const page = parsed(await failed(await fetch(location.href)).text());
    const now = page.querySelector("[data-progress]");
    if (!now) location.reload(); else progress.replaceChildren(...now.childNodes);
  } catch { /* the next time */ }
}, 2000);
