/* Stars without a new page, marking in a dialog, keys, filters, how the sync goes on.
   All of it works without this script, page by page. */
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const say = (text) => document.dispatchEvent(new CustomEvent("unspool:say", { detail: text }));
const parsed = (text) => new DOMParser().parseFromString(text, "text/html");
const failed = (answer) => { if (!answer.ok) throw new Error(`${answer.status}`); return answer; };

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

/* --- what a sync brought is shown where it belongs, unless somebody is busy there ------------------- */
document.addEventListener("unspool:news", async () => {
  const parts = all("[data-part]");
  const busy = parts.some((part) => part.contains(document.activeElement)) || document.querySelector("dialog[open]");
  if (busy || scrollY > innerHeight || document.querySelector(".welcome, [data-typed]")) return;
  try {
    const page = parsed(await failed(await fetch(location.href)).text());
    for (const part of parts) {
      const now = page.querySelector(`[data-part="${part.dataset.part}"]`);
      if (!now) return location.reload();
      part.replaceChildren(...now.childNodes);
      part.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));
    }
  } catch { /* the next time */ }
});
