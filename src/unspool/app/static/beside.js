/* unspool: the sessions of the list that this one was opened from, beside it where there is room. The room is kept
   before the first paint, so that nothing moves when the list comes; without it there is a link back to the list. */
(() => {
  "use strict";
  const root = document.documentElement, wide = matchMedia("(min-width: 76rem)");
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const kept = (name, value) => { // storage may be forbidden: the choice then lasts as long as the page
    try { if (value !== undefined) localStorage.setItem(name, value); return localStorage.getItem(name); } catch { return null; }
  };
  if (kept("unspool-beside") === "off") root.dataset.beside = "off";

  /** Where one came from: as this tab remembers it, or else the last list that any tab was in. */
  function came() {
    try {
      const told = sessionStorage.getItem("unspool-list") ?? kept("unspool-list");
      if (told) sessionStorage.setItem("unspool-list", told);
      const { back, ask } = JSON.parse(told);
      return typeof ask === "string" && /^\/(?![/\\])/.test(back) ? { back, ask } : null;
    } catch { return null; }
  }
  let loading = null;
  function load() {
    loading = loading ?? fetch(`/s/${encodeURIComponent(root.dataset.scope)}/beside?${came()?.ask ?? ""}`).then(async (answer) => {
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html"), box = document.getElementById("sessions-beside");
      box.replaceChildren(...page.body.childNodes);
      point();
    }).catch(() => { loading = null; }); // the next time
    return loading;
  }
  function point() {
    const box = document.getElementById("sessions-beside"), here = box.querySelector("[aria-current]");
    if (here) box.scrollTop += here.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  }
  async function step(way) {
    await load();
    const links = all("#sessions-beside a"), here = links.findIndex((link) => link.hasAttribute("aria-current"));
    const next = here < 0 ? null : links[here + way];
    if (next) location.assign(next.href);
    else document.dispatchEvent(new CustomEvent("unspool:say", { detail: way > 0 ? "The last session of the list" : "The first session of the list" }));
  }
  const shown = () => root.dataset.beside !== "off";
  function tell() {
    const button = document.querySelector(".sessions-beside button");
    button.textContent = shown() ? "Hide" : "Show beside";
    button.setAttribute("aria-expanded", String(shown()));
    if (shown() && wide.matches) load()?.then(point);
  }
  function toggle() {
    if (shown()) root.dataset.beside = "off"; else delete root.dataset.beside;
    kept("unspool-beside", shown() ? "on" : "off");
    tell();
  }
  const KEYS = { "]": () => step(1), "[": () => step(-1), J: () => step(1), K: () => step(-1), b: toggle };
  document.addEventListener("keydown", (event) => {
    const plain = event.getModifierState("AltGraph") || !(event.ctrlKey || event.altKey); // by which some keyboards have brackets
    if (!plain || event.metaKey || !Object.hasOwn(KEYS, event.key)) return;
    if (event.target.closest("input, textarea, select") || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  document.addEventListener("DOMContentLoaded", () => {
    const link = document.querySelector(".sessions-beside a"), from = came();
    if (!link) return;
    if (from) link.href = from.back;
    document.querySelector(".sessions-beside button").addEventListener("click", toggle);
    wide.addEventListener("change", tell);
    if (document.readyState === "complete") tell(); else window.addEventListener("load", tell); // the page itself goes first
  });
})();
