/* unspool: reading in the app. Turns are copied as Markdown, blocks lead to their lines in the log, what is shown is
   remembered. Without it, everything can be read. */
const root = document.documentElement;
const about = document.querySelector("meta[name=unspool-session]")?.dataset ?? {};
/** The folder of the session that something belongs to: a story tells several. */
function home(of) {
  const key = of?.closest("[data-session]")?.dataset.session ?? about.key;
  return key ? `/s/${encodeURIComponent(key)}/` : "";
}
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

function make(tag, attributes, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value); else element.setAttribute(name, value);
  element.append(...inside);
  return element;
}
function kept(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch { return null; } // storage may be forbidden: the choice then lasts as long as the page
}

/* --- copying ------------------------------------------------------------------------------------------- */
/** Browsers let a page copy only while it answers a click: what is fetched is promised to them at once. */
async function copy(button, text) {
  const name = button.textContent;
  try {
    const said = text();
    if (typeof said === "string" || !window.ClipboardItem) await navigator.clipboard.writeText(await said);
    else await navigator.clipboard.write([new ClipboardItem({ "text/plain": said.then((words) => new Blob([words], { type: "text/plain" })) })]);
    button.textContent = "Copied";
  } catch { button.textContent = "Did not work"; }
  setTimeout(() => { button.textContent = name; }, 1500);
}
async function asked(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.text();
}

/* --- what can be done with turns and blocks ------------------------------------------------------------ */
function turnPath(turn) {
  const [, branch, number] = /^(?:part-\d+\.)?(?:branch-(\d+)\.)?turn-(\d+)$/.exec(turn.id) ?? [];
  return !Number(number) ? "" : `${home(turn)}turn/${branch ? `${branch}/` : ""}${number}.md`;
}
function deeds(turn) {
  const path = turnPath(turn);
  const foot = turn.querySelector(":scope > .foot");
  if (!path || turn.querySelector(":scope > .deeds, :scope > .foot > .deeds")) return;
  const button = make("button", { class: "deed", type: "button", title: "As Markdown", onclick: () => copy(button, () => asked(path)) }, "Copy turn");
  (foot ?? turn).append(make(foot ? "li" : "p", { class: "deeds" }, ...forking(turn), button));
}
/** The command that goes on from a turn in a copy, where the agent has such copies. */
function forking(turn) {
  const [whole, branch, number] = /^(?:branch-(\d+)\.)?turn-(\d+)$/.exec(turn.id) ?? [];
  if (!whole || !about.fork || turn.closest("[data-session]")) return [];
  const command = `${about.fork}${branch ? ` --branch ${branch}` : ""} --at ${number}`;
  return [make("button", { class: "deed", type: "button", title: `Copy: ${command}`, "data-copy": command }, "Fork here"), " "];
}
const RAW = /^(?:msg|line)-\d+(?:-\d+)?$/;
function behind(block) {
  if (!RAW.test(block.id) || block.querySelector(":scope > .behind")) return;
  const link = make("a", { class: "behind", href: `${home(block)}raw?block=${encodeURIComponent(block.id)}`, title: "The line in the log" }, "raw");
  link.setAttribute("aria-label", "raw line in the log behind this");
  block.classList.add("has-behind");
  if (block.tagName === "DETAILS") link.classList.add("inside");
  block.append(link); // those who hear the page hear the block first
}
/** Where branches part, they can be seen side by side. */
function beside(nav) {
  const right = all("a", nav).map((link) => /(?:^|\/)branch-(\d+)(?:\.\d+)?\.html/.exec(link.getAttribute("href"))?.[1]).find(Boolean);
  if (!right || nav.querySelector(".beside")) return;
  nav.append(make("a", { class: "beside", href: `${home(nav)}branches?right=${right}` }, "Side by side"));
}
function adorn(within) {
  for (const nav of all("main .branches", within)) beside(nav);
  for (const turn of [...all("main .turn", within), ...(within.matches?.(".turn") ? [within] : [])]) deeds(turn);
  for (const block of all("main :is(.prompt, .answer, .call, .notice, [data-kind])[id]", within)) behind(block);
  if (root.classList.contains("verbose")) for (const fold of all("main details:not(.goon)", within)) fold.open = true;
}

/* --- what is shown, remembered --------------------------------------------------------------------------- */
const MODES = [["", "All", "Everything, folded"], ["focus", "Focus", "Prompts and answers only"], ["verbose", "Verbose", "Everything, opened"]];
function wear(mode) {
  for (const [name] of MODES) if (name) root.classList.toggle(name, name === mode);
  for (const button of all("[data-mode]")) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
  for (const fold of mode === "verbose" ? all("main .turn details") : []) fold.open = true;
}
function modes() {
  const box = make("div", { class: "modes", role: "group", "aria-label": "How much is shown" });
  for (const [mode, name, title] of MODES) {
    const choose = () => { kept("unspool-view", mode); wear(mode); };
    box.append(make("button", { class: "button", type: "button", "data-mode": mode, title, onclick: choose }, name));
  }
  document.querySelector(".menu .sheet")?.prepend(box);
  wear(kept("unspool-view") ?? "");
}

/* --- what is hidden can be seen again, turn by turn ------------------------------------------------------- */
const HIDDEN = { thinking: "[data-kind=thinking]", tools: ".call:not([data-kind])", notices: ":is(.notice, .notices, [data-kind=notice])", agents: "[data-kind=agent]", todos: "[data-kind=todos]", images: "[data-kind=image]" };
function veil(turn) {
  const kinds = Object.entries(HIDDEN).filter(([name]) => root.classList.contains(`hide-${name}`)).map(([, kind]) => kind);
  const count = kinds.length ? all(kinds.join(), turn).filter((one) => !one.parentElement.closest(kinds.join())).length : 0;
  const old = turn.querySelector(":scope > .veil"), bare = turn.classList.contains("bare");
  if (!count) { old?.remove(); turn.classList.remove("bare"); return; }
  const words = bare ? "Hide again" : `Show ${count} hidden`;
  if (old) { old.textContent = words; old.setAttribute("aria-expanded", String(bare)); return; }
  const button = make("button", { class: "veil deed", type: "button", "aria-expanded": "false", onclick: () => { turn.classList.toggle("bare"); veil(turn); } }, words);
  (turn.querySelector(":scope > .foot") ?? turn.lastElementChild)?.before(button);
}
const outer = (within) => [...all("main .turn", within), ...(within.matches?.(".turn") ? [within] : [])].filter((turn) => !turn.parentElement.closest(".turn"));
function veils(within) {
  for (const turn of outer(within)) veil(turn);
}
function hideAsSet() {
  new MutationObserver(() => veils(document)).observe(root, { attributeFilter: ["class"] });
  if (about.hide && !location.hash.includes("hide=")) document.dispatchEvent(new CustomEvent("unspool:hide", { detail: about.hide.split(",") }));
  veils(document);
}

/* --- a long session, of which only a part was there ------------------------------------------------------ */
const gist = (turn) => all("[id], .badge, .what, :is(summary, .call, .notice) > :is(b, i)", turn).map((one) => one.id || one.textContent).join("\n");
/** A turn that the whole log tells otherwise than its own lines did. */
function mend(turn) {
  const ours = document.getElementById(turn.id);
  if (!ours || gist(ours) === gist(turn)) return;
  const told = document.adoptNode(turn);
  told.classList.add("met"); // laid out at once: the page must not shrink while it is read
  ours.replaceWith(told);
  told.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));
}
async function complete() {
  const answer = await fetch(`${home()}ready`);
  if (!answer.ok) return;
  if (!document.querySelector("main .turn")) { location.reload(); return; }
  const whole = new DOMParser().parseFromString(await asked(location.pathname), "text/html");
  const ours = all(".rail, .pager, title"), theirs = all(".rail, .pager, title", whole);
  if (ours.length !== theirs.length) { location.reload(); return; }
  ours.forEach((one, at) => one.replaceWith(document.adoptNode(theirs[at])));
  for (const turn of all("main .turn", whole)) mend(turn);
  root.dataset.whole = "";
  const told = whole.querySelector("meta[name=unspool-session]")?.dataset;
  if (told?.live !== undefined) document.dispatchEvent(new CustomEvent("unspool:live", { detail: { ...told } }));
  document.dispatchEvent(new CustomEvent("unspool:whole"));
}

/* --- start ---------------------------------------------------------------------------------------------- */
function start() {
  adorn(document);
  modes();
  hideAsSet();
  document.addEventListener("unspool:added", (event) => { adorn(event.target); veils(event.target); });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button, () => button.dataset.copy);
  });
  if (about.part) complete().catch(() => {}); // the beginning can still be read; a reload asks again
}
if (document.readyState === "complete") start(); else document.addEventListener("DOMContentLoaded", start); // after page.js
