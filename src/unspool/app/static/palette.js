/* The palette: search over everything from any page of the app. Ctrl-K or Cmd-K opens it, and so does whatever has
   data-do="search" (which `/` clicks). It asks /search.json as one types; text from there is only ever set as text. */

const WAIT = 120, RECENT = 8, KEY = "unspool-recent";
const HINTS = ["project:", "kind:", "role:user", "tool:", "is:error", "since:7d", "model:", "file:"];
const root = document.documentElement;
let dialog, input, list, status, options = [], active = -1, asking = null, timer = 0;

function make(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

/* --- recent searches: kept by the browser, where it may keep anything ---------------------------------------------- */

function recent() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string").slice(0, RECENT) : [];
  } catch { return []; }
}
function remember(text) {
  const said = text.trim();
  if (!said) return;
  try { localStorage.setItem(KEY, JSON.stringify([said, ...recent().filter((one) => one !== said)].slice(0, RECENT))); }
  catch { /* storage may be forbidden or full: then nothing is remembered */ }
}
function forget() {
  try { localStorage.removeItem(KEY); } catch { /* nothing was remembered */ }
  ask();
  input.focus();
}

/* --- the dialog ------------------------------------------------------------------------------------------------------ */

function build() {
  input = make("input", {
    class: "search-input", type: "search", role: "combobox", "aria-label": "Search all sessions", "aria-expanded": "false",
    "aria-controls": "search-results", "aria-autocomplete": "list", autocomplete: "off", autocapitalize: "off",
    spellcheck: "false", enterkeyhint: "go", placeholder: "Search all sessions", maxlength: "1000", oninput: later, onkeydown: press,
  });
  const close = make("button", { class: "search-close", type: "button", "aria-label": "Esc: close", onclick: shut }, "Esc");
  const hints = make("div", { class: "search-hints", role: "group", "aria-label": "Filters" });
  for (const hint of [...(root.dataset.scope ? [`session:${root.dataset.scope}`] : []), ...HINTS])
    hints.append(make("button", { class: "search-hint", type: "button", onclick: () => add(hint) },
      hint.startsWith("session:") ? "this session" : hint));
  status = make("p", { class: "search-status", role: "status" });
  list = make("div", { class: "search-results", id: "search-results", role: "listbox", "aria-label": "Results", onclick: click });
  const foot = make("div", { class: "search-foot", "aria-hidden": "true" });
  for (const [key, what] of [["↑ ↓", "choose"], ["↵", "open"], ["Ctrl ↵", "all results"], ["Tab", "take the filter"], ["Esc", "close"]])
    foot.append(make("span", {}, make("kbd", {}, key), ` ${what}`));
  const bar = make("div", { class: "search-bar" }, make("span", { class: "search-glass", "aria-hidden": "true" }, "⌕"), input, close);
  dialog = make("dialog", { class: "search", "aria-label": "Search", onclose: stop,
    onclick: (event) => { if (event.target === dialog) shut(); } }, bar, hints, status, list, foot);
  document.body.append(dialog);
}
function open() {
  if (!dialog) build();
  if (dialog.open) { input.select(); return; }
  if (document.querySelector("dialog[open]")) return;
  dialog.showModal();
  input.focus();
  input.select();
  ask();
}
/** Close it; the next key is not for its input any more, which would else keep the focus until the next frame. */
function shut() {
  dialog.close();
  input.blur();
}
function add(hint) {
  const before = input.value.trimEnd();
  if (!before.split(/\s+/).includes(hint)) input.value = `${before}${before ? " " : ""}${hint}${hint.endsWith(":") ? "" : " "}`;
  input.focus();
  ask();
}

/* --- asking ------------------------------------------------------------------------------------------------------------ */

function stop() {
  clearTimeout(timer);
  asking?.abort();
  asking = null;
}
function later() {
  stop();
  timer = setTimeout(ask, WAIT);
}
async function ask() {
  stop();
  const text = input.value;
  if (!text.trim()) { idle(); return; }
  const mine = asking = new AbortController();
  try {
    const answer = await fetch(`/search.json?q=${encodeURIComponent(text)}`, { signal: mine.signal, credentials: "same-origin" });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const found = await answer.json();
    if (mine === asking) tell(found, text);
  } catch (problem) {
    if (problem.name !== "AbortError" && mine === asking) say(`The search could not be asked: ${problem.message}.`, true);
  }
}
function say(text, bad = false) {
  status.textContent = text;
  status.classList.toggle("bad", bad);
}

/* --- telling ----------------------------------------------------------------------------------------------------------- */

function fill(...groups) {
  list.replaceChildren(...groups);
  options = Array.from(list.querySelectorAll("[role=option]"));
  options.forEach((option, at) => { option.id = `search-hit-${at}`; });
  input.setAttribute("aria-expanded", String(options.length > 0));
  list.scrollTop = 0;
  list.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true })); // which writes the times
  choose(-1);
}
function idle() {
  const kept = recent();
  say(kept.length ? "" : "Words, \"phrases\", prefix*, -without, and filters.");
  if (!kept.length) { fill(); return; }
  fill(group("recent", [make("b", {}, "Recent searches")],
    ...kept.map((text) => option({ "data-text": text }, "", text)),
    option({ "data-forget": "" }, "", "Forget these")));
}
function tell(found, text) {
  const files = found.context_files, any = found.sessions.length + files.length;
  const summary = found.sessions.length ? found.summary : any ? "No session was found." : "Nothing was found.";
  say(found.problem || [summary, ...found.notes].join(" "), Boolean(found.problem));
  const groups = [];
  if (found.completions.length)
    groups.push(group("filters", [make("b", {}, "Filters")], ...found.completions.map((one) => option({ "data-text": one }, "filter", one.trim()))));
  found.sessions.forEach((session, at) => groups.push(told(session, at)));
  if (files.length)
    groups.push(group("files", [make("b", {}, "Context files"), make("span", {}, String(found.context_files_found))],
      ...files.map((one) => hitOf(one.href, one.kind, one.kind, [[`${one.path}  `, false], ...one.pieces]))));
  if (any) groups.push(option({ href: found.all, class: "search-hit search-all" }, "", `All results for ${text.trim()}`));
  fill(...groups);
  if (any) choose(options.findIndex((one) => one.hasAttribute("href")));
}
function told(session, at) {
  const head = [make("b", {}, session.title), make("span", { title: session.place }, session.project)];
  if (session.when) head.push(make("time", { class: "day", datetime: session.when }));
  const hits = session.hits.filter((hit) => hit.href)
    .map((hit) => hitOf(hit.href, hit.label, hit.error ? "failed" : hit.kind, hit.pieces));
  return group(`session-${at}`, head, ...hits);
}
function hitOf(href, label, kind, pieces) {
  const text = make("span", { class: "search-text" });
  for (const [piece, lit] of pieces) text.append(lit ? make("mark", {}, piece) : piece);
  return make("a", { class: "search-hit", role: "option", tabindex: "-1", "aria-selected": "false", href },
    make("span", { class: `search-kind kind-${kind}` }, label), text);
}
function group(name, head, ...inside) {
  const title = make("div", { class: "search-session", id: `search-session-${name}`, role: "presentation" }, ...head);
  return make("div", { role: "group", "aria-labelledby": title.id }, title, ...inside);
}
function option(attributes, kind, text) {
  return make(attributes.href ? "a" : "div", { class: "search-hit", role: "option", tabindex: "-1", "aria-selected": "false", ...attributes },
    ...(kind ? [make("span", { class: "search-kind" }, kind)] : []), make("span", { class: "search-text" }, text));
}

/* --- choosing ------------------------------------------------------------------------------------------------------------ */

function choose(at) {
  options[active]?.setAttribute("aria-selected", "false");
  active = at;
  const chosen = options[active];
  if (!chosen) { input.removeAttribute("aria-activedescendant"); return; }
  chosen.setAttribute("aria-selected", "true");
  input.setAttribute("aria-activedescendant", chosen.id);
  chosen.scrollIntoView({ block: "nearest" });
}
function take(chosen, event) {
  if (chosen.hasAttribute("data-forget")) { forget(); return; }
  if (chosen.hasAttribute("data-text")) {
    input.value = chosen.dataset.text;
    input.focus();
    ask();
    return;
  }
  remember(input.value);
  if (event.type === "click") return; // the link does the rest
  if (new URL(chosen.href).pathname !== location.pathname) { location.assign(chosen.href); return; }
  shut();
  location.assign(chosen.href);
}
function click(event) {
  const chosen = event.target.closest("[role=option]");
  if (chosen) take(chosen, event);
}
function everything() {
  if (!input.value.trim()) return;
  remember(input.value);
  location.assign(`/search?q=${encodeURIComponent(input.value)}`);
}
function press(event) {
  if (event.isComposing) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && options.length) {
    const last = options.length - 1;
    choose(step > 0 ? (active >= last ? 0 : active + 1) : (active <= 0 ? last : active - 1));
  } else if (event.key === "Enter") {
    if (event.ctrlKey || event.metaKey || !options[active]) everything(); else take(options[active], event);
  } else if (event.key === "Escape") {
    shut();
  } else if (event.key === "Tab" && !event.shiftKey && filterOf()) {
    take(filterOf(), event);
  } else return;
  event.preventDefault();
}
/** The filter that Tab takes: the chosen one, or the first. */
function filterOf() {
  if (!input.value.trim()) return null;
  return options[active]?.dataset.text ? options[active] : options.find((one) => one.dataset.text);
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    open();
  }
});
document.addEventListener("click", (event) => { if (event.target.closest?.("[data-do=search]")) open(); });
for (const link of document.querySelectorAll(".ways a"))
  if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
