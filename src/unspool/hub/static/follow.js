/* A share that grows: asks the hub now and then whether there is more, tells so, and shows it to whoever follows. */
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const FIRST = 10_000, LONGEST = 120_000, RECENT = 3_600_000;
  const root = new URL(document.documentElement.dataset.root || ".", location.href);
  const kept = (name) => `unspool ${name} ${root.pathname}`;
  const shown = Math.floor(Date.parse(document.lastModified) / 1000); // when what is here was sent
  let wait = FIRST, first, bar, follow, more;

  /** Whoever was led on sees the newest: on the last page, and there at its last turn. */
  function goOn() {
    const number = (path) => Number((/page-(\d+)\.html/.exec(path) || [0, 0])[1]);
    const own = number(location.pathname);
    const last = [...document.querySelectorAll('.pager a[href^="page-"], .rail a[href^="page-"]')]
      .sort((one, other) => number(one.pathname) - number(other.pathname)).pop();
    if (own && last && number(last.pathname) > own) {
      location.replace(last.pathname);
      return;
    }
    sessionStorage.removeItem(kept("going"));
    const turns = document.querySelectorAll("main > .turn, main .timeline > li");
    if (turns.length) turns[turns.length - 1].scrollIntoView({ block: "start" });
  }

  function reload() {
    sessionStorage.setItem(kept("going"), "1");
    location.reload();
  }

  function build() {
    bar = Object.assign(document.createElement("div"), { className: "follow" });
    bar.setAttribute("role", "status");
    follow = Object.assign(document.createElement("button"), { className: "button", type: "button", textContent: "Follow" });
    follow.title = "Show what is added as soon as it is there";
    follow.addEventListener("click", () => {
      const on = follow.getAttribute("aria-pressed") !== "true";
      follow.setAttribute("aria-pressed", String(on));
      if (on) sessionStorage.setItem(kept("follow"), "1");
      else sessionStorage.removeItem(kept("follow"));
      if (on && !more.hidden) reload();
    });
    follow.setAttribute("aria-pressed", String(sessionStorage.getItem(kept("follow")) === "1"));
    more = Object.assign(document.createElement("button"), { className: "button main", type: "button", textContent: "New below", hidden: true });
    more.addEventListener("click", reload);
    bar.append(more, follow);
    document.body.append(bar);
  }

  /** What the hub says now, as a script: a page of a share may load nothing else. Nothing where it does not answer. */
  const asked = () => new Promise((resolve) => {
    const script = Object.assign(document.createElement("script"), { src: new URL("version.js", root) });
    script.addEventListener("load", () => {
      const [version, updated] = (document.documentElement.dataset.shared || "").split(" ").map(Number);
      resolve(updated ? { version, updated } : null);
    });
    script.addEventListener("error", () => resolve(null));
    document.head.append(script);
    script.remove();
  });

  async function ask() {
    const told = document.hidden ? null : await asked();
    if (!told) { // the share was ended, or the hub is away and may come back
      wait = LONGEST;
      return;
    }
    first ??= told.version;
    if (!bar && (told.updated > Date.now() - RECENT || told.version > first)) build();
    const newer = told.version > first || Math.floor(told.updated / 1000) > shown;
    wait = newer ? FIRST : Math.min(LONGEST, wait * 1.5);
    if (!newer || !bar || sessionStorage.getItem(kept("seen")) === String(told.version)) return;
    if (follow.getAttribute("aria-pressed") === "true") {
      sessionStorage.setItem(kept("seen"), String(told.version)); // once: clocks may disagree
      reload();
    } else more.hidden = false;
  }

  async function askOn() {
    await ask();
    setTimeout(askOn, wait);
  }

  if (sessionStorage.getItem(kept("going")) === "1") goOn();
  document.addEventListener("visibilitychange", () => { wait = FIRST; ask(); });
  askOn();
});
