/* unspool: a session on the stage, part by part. Without it, turns follow one another by links. */
const root = document.documentElement;
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const SIZES = 5, KINDS = ["tools", "thinking", "notices"];
function kept(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(`unspool-present-${name}`, value);
    return localStorage.getItem(`unspool-present-${name}`);
  } catch { return null; } // storage may be forbidden: the choice then lasts as long as the page
}

/* --- parts of a turn ------------------------------------------------------------------------------------- */
let shown = 1;
const kindOf = (part) => part.dataset.kind ?? (part.matches(".notice, .notices") ? "notice" : part.matches(".call") ? "tool" : "text");
/** What is shown one after the other: the prompt, each answer, each row of what was done. */
function parts() {
  const found = [];
  for (const child of all(".stage > .turn > *")) {
    if (child.matches(".foot")) continue;
    found.push(...(child.matches(".calls") ? Array.from(child.children) : [child]));
  }
  const hidden = KINDS.filter((kind) => root.classList.contains(`hide-${kind}`)).map((kind) => kind.replace(/(?<=tool|notice)s$/, ""));
  return found.filter((part) => !hidden.includes(kindOf(part)));
}
function show(number) {
  const list = parts();
  shown = Math.max(1, Math.min(number, list.length));
  list.forEach((part, at) => {
    part.classList.toggle("later", at >= shown);
    part.classList.toggle("now", at === shown - 1 && shown > 1);
  });
  document.querySelector(".desk .at").textContent = document.querySelector(".stage").dataset.at;
  history.replaceState(history.state, "", `${location.pathname}${location.search}#step=${shown}`);
  if (shown > 1) list[shown - 1]?.scrollIntoView({ block: "nearest" }); else window.scrollTo(0, 0);
}

/* --- turns ------------------------------------------------------------------------------------------------- */
let moving = false;
async function go(rel, atEnd = false) {
  const link = document.querySelector(`.stage a[rel=${rel}]`);
  if (!link || moving) return;
  moving = true;
  try {
    const answer = await fetch(link.href);
    if (!answer.ok) throw new Error(String(answer.status));
    const stage = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".stage");
    history.pushState(null, "", link.href);
    put(document.adoptNode(stage), atEnd ? Infinity : 1);
  } catch { location.assign(link.href); } finally { moving = false; }
}
function put(stage, step) {
  document.querySelector(".stage").replaceWith(stage);
  stage.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));
  show(step);
}
const on = () => { if (shown < parts().length) show(shown + 1); else go("next"); };
const back = () => { if (shown > 1) show(shown - 1); else go("prev", true); };

/* --- how it looks ------------------------------------------------------------------------------------------ */
function size(change) {
  const now = Math.max(0, Math.min(SIZES - 1, Number(kept("size") ?? 2) + change));
  for (let one = 0; one < SIZES; one += 1) root.classList.toggle(`size-${one}`, one === now);
  kept("size", String(now));
}
function hide(kinds) {
  for (const kind of KINDS) root.classList.toggle(`hide-${kind}`, kinds.includes(kind));
  for (const button of all("[data-hide]")) button.setAttribute("aria-pressed", String(kinds.includes(button.dataset.hide)));
  kept("hide", kinds.join(","));
}
const hiddenNow = () => KINDS.filter((kind) => root.classList.contains(`hide-${kind}`));
function toggle(kind) {
  const now = hiddenNow();
  hide(now.includes(kind) ? now.filter((one) => one !== kind) : [...now, kind]);
  for (const part of all(".stage .later")) part.classList.remove("later");
  show(shown);
}
const leave = () => { if (!document.fullscreenElement) location.assign(document.querySelector(".stage").dataset.leave); };

/* --- keys and buttons ---------------------------------------------------------------------------------------- */
const KEYS = { ArrowRight: on, " ": on, PageDown: on, ArrowLeft: back, PageUp: back, ArrowDown: () => go("next"), ArrowUp: () => go("prev"),
  Escape: leave, "+": () => size(1), "=": () => size(1), "-": () => size(-1) };
const ACTS = { on, back, larger: () => size(1), smaller: () => size(-1), leave };
function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select") || document.querySelector("dialog[open]")) return;
  if (event.key === " " && event.target.closest("button, summary, a")) return;
  if (!Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
}
function start() {
  const step = /step=(\d+)/.exec(location.hash);
  hide((kept("hide") ?? "").split(",").filter((kind) => KINDS.includes(kind)));
  size(0);
  show(step ? Number(step[1]) : 1);
  document.addEventListener("keydown", press);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act], [data-hide]");
    if (button) (button.dataset.hide ? () => toggle(button.dataset.hide) : ACTS[button.dataset.act])?.();
    const link = event.target.closest(".stage a[rel=next], .stage a[rel=prev]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); go(link.rel); }
  });
  window.addEventListener("popstate", () => location.reload());
}
if (document.readyState === "complete") start(); else document.addEventListener("DOMContentLoaded", start); // after page.js
