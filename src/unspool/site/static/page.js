/* unspool: what a page does beyond being read. Everything here is an extra: without it all content is there.
   The address keeps the state: `#anchor&hide=thinking,tools`. What other scripts keep there is left as it is. */
(() => {
  "use strict";
  const root = document.documentElement;
  const THEMES = ["system", "light", "dark"];
  const KINDS = [["thinking", "Thinking"], ["tools", "Tool calls"], ["notices", "Notices"], ["agents", "Subagents"], ["todos", "Todo lists"], ["images", "Images"]];
  const LEVELS = [["story", "Story", "Prompts and answers"], ["normal", "Normal", "Quiet calls folded"], ["everything", "Everything", "All of it open"]];
  const CLIP = 800, TOO_LONG = 50000, LINE = /.{24}/; // the least that may be too wide for a small screen
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  /* --- theme: before the first paint ------------------------------------------------------------- */
  const kept = (value, name = "unspool-theme") => { // storage may be forbidden: the choice then lasts as long as the page
    try { if (value !== undefined) localStorage.setItem(name, value); return localStorage.getItem(name); } catch { return null; }
  };
  const theme = () => root.dataset.theme || "system";
  const wear = (name) => { if (name === "system") delete root.dataset.theme; else root.dataset.theme = name; };
  root.classList.add("js");
  if (THEMES.includes(kept())) wear(kept());
  if (kept(undefined, "unspool-tokens") === "on") root.dataset.tokens = "";
  if (LEVELS.some(([level]) => level === kept(undefined, "unspool-level"))) root.dataset.level = kept(undefined, "unspool-level");
  /* --- making elements --------------------------------------------------------------------------- */
  function make(tag, attributes, ...inside) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value); else element.setAttribute(name, value);
    element.append(...inside);
    return element;
  }
  /* --- times in the reader's own zone ------------------------------------------------------------ */
  function localTimes(within) {
    const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long", hourCycle: "h23" });
    for (const element of all("time[datetime]", within)) {
      const when = new Date(element.dateTime);
      if (isNaN(when)) continue;
      const [, date, month, year, clock] = new Date(when - when.getTimezoneOffset() * 60000).toUTCString().split(" ");
      const day = `${Number(date)} ${month} ${year}`, short = clock.slice(0, 5); // written as the server writes them
      element.title = full.format(when);
      element.textContent = element.classList.contains("clock") ? short : element.classList.contains("day") ? day : `${day}, ${short}`;
    }
  }
  /* --- the address ------------------------------------------------------------------------------- */
  function address() {
    const parts = location.hash.slice(1).split("&").filter(Boolean);
    const hide = parts.find((part) => part.startsWith("hide="));
    return {
      anchor: parts.find((part) => !part.includes("=")) || "",
      hide: hide ? decodeURIComponent(hide.slice(5)).split(",").filter((kind) => KINDS.some(([known]) => known === kind)) : [],
      rest: parts.filter((part) => part.includes("=") && part !== hide),
    };
  }
  function hashOf(anchor, hide, rest) {
    const parts = [anchor, ...rest, ...(hide.length ? [`hide=${hide.join(",")}`] : [])];
    return parts.some(Boolean) ? `#${parts.join("&")}` : "";
  }
  const hidden = () => KINDS.map(([kind]) => kind).filter((kind) => root.classList.contains(`hide-${kind}`));
  function rewrite(hide) {
    const now = address();
    history.replaceState(history.state, "", location.pathname + location.search + hashOf(now.anchor, hide, now.rest));
  }
  function conceal(hide) {
    for (const [kind] of KINDS) root.classList.toggle(`hide-${kind}`, hide.includes(kind));
    for (const box of all(".sheet input[value]")) box.checked = !hide.includes(box.value);
  }
  function reveal(anchor) {
    let target = null;
    try { target = document.getElementById(decodeURIComponent(anchor)); } catch { return; } // an address can hold anything
    if (!target) return;
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
      if (at.classList.contains("clip")) unclip(at);
      if (at.classList.contains("turn")) at.classList.add("met"); // laid out now, so that its place is known
    }
    target.scrollIntoView({ block: "start" });
    if (!target.matches("details, a, button, [tabindex]")) target.tabIndex = -1;
    (target.tagName === "DETAILS" ? target.querySelector("summary") : target).focus({ preventScroll: true });
  }
  function follow() {
    const now = address();
    if (now.hide.length) conceal(now.hide);
    else if (hidden().length) rewrite(hidden());
    if (now.anchor) reveal(now.anchor);
  }
  /** Links to other pages of the session keep what is hidden. */
  function carry(event) {
    const link = event.target.closest("a[href]");
    const hide = hidden();
    if (!link || !hide.length || link.protocol !== location.protocol || link.host !== location.host) return;
    if (link.pathname === location.pathname || !link.pathname.endsWith(".html") || link.hash.includes("hide=")) return;
    link.hash = hashOf(link.hash.slice(1), hide, []);
  }
  /** Viewers of gists name the page in the query, `?ID/page-002.html`: links are made to fit before they are used. */
  function fit(event) {
    const gist = /^\?([0-9a-f]{20,})(?:\/|$)/.exec(location.search);
    const link = gist && event.target.closest?.("a[href]");
    const href = link ? link.getAttribute("href") : "";
    if (/^[\w.-]+\.html(?:#|$)/.test(href)) link.setAttribute("href", `?${gist[1]}/${href}`);
  }
  /* --- long blocks, copying, colours: each when it comes into view; nothing is measured before it does -------------- */
  const seen = new IntersectionObserver((entries) => {
    const met = entries.filter((entry) => entry.isIntersecting).map(({ target: one }) => [one, one.scrollHeight > CLIP + 40, one.scrollWidth > one.clientWidth]);
    for (const [block, tall, wide] of met) { // after all were measured, so that they are laid out once
      seen.unobserve(block);
      if (block.classList.contains("clip")) clip(block, tall);
      else if (!wide && block !== document.activeElement) block.removeAttribute("tabindex");
      if (block.tagName === "PRE") { addCopy(block); colour(block); }
    }
  }, { rootMargin: "200px" });
  /** Await blocks, folded ones once they are open. What may scroll sideways is reached by keyboard until it was measured. */
  function tend(within) {
    for (const block of all(":is(.clip, main pre:not([aria-hidden]), .table:not([tabindex]), .prose table):not(details:not([open]) *)", within)) {
      if (!block.classList.contains("clip") && (block.tagName !== "PRE" || LINE.test(block.textContent))) block.tabIndex = 0;
      seen.observe(block);
    }
  }
  function clip(block, tall) {
    if (block.matches(".whole, .cut")) return;
    block.classList.add(tall ? "cut" : "whole");
    if (!tall) return;
    const button = make("button", { class: "more", type: "button", "aria-expanded": "false", onclick: () => {
      const open = block.classList.toggle("whole");
      button.textContent = open ? "Show less" : "Show more";
      button.setAttribute("aria-expanded", String(open));
      if (!open && block.getBoundingClientRect().top < 0) block.scrollIntoView({ block: "center" });
    } }, "Show more");
    block.after(button);
    block.addEventListener("focusin", () => { if (!block.classList.contains("whole")) button.click(); });
  }
  function unclip(block) {
    block.classList.add("whole");
    if (block.nextElementSibling?.matches(".more[aria-expanded=false]")) {
      block.classList.remove("whole");
      block.nextElementSibling.click();
    }
  }
  function addCopy(pre) {
    let place = pre.parentElement;
    if (place.querySelector(":scope > .copy")) return;
    if (all(":scope > :not(pre[aria-hidden])", place).length > 1) place = make("div"), pre.replaceWith(place), place.append(pre); // over no other text
    place.classList.add("copies");
    const button = make("button", { class: "copy", type: "button", onclick: async () => {
      try {
        await navigator.clipboard.writeText(said(pre));
        button.textContent = "Copied";
      } catch { button.textContent = "Not allowed"; }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    } }, "Copy");
    place.append(button);
  }
  /** The text of a block without line numbers; a diff with its signs. */
  function said(pre) {
    if (!pre.closest(".diff") || pre.querySelector("code")) return pre.textContent;
    const signs = { INS: "+", DEL: "-", SPAN: " " }; // an element holds lines of one sign
    return Array.from(pre.children, (run) => {
      const copy = run.cloneNode(true), sign = signs[run.tagName];
      all("i", copy).forEach((mark) => mark.remove());
      return run.className === "gap" ? "" : sign + copy.textContent.replace(/\n(?!$)/g, `\n${sign}`);
    }).join("");
  }
  let loading = null;
  function highlighter() {
    loading = loading || (window.hljs ? Promise.resolve() : new Promise((done, failed) => {
      document.head.append(make("script", { src: root.dataset.highlight, onload: done, onerror: failed }));
    }));
    return loading;
  }
  async function colour(pre) {
    const code = pre.querySelector("code[class*=language-]");
    if (!code || code.textContent.length > TOO_LONG || code.dataset.highlighted) return;
    if (!window.hljs && !root.dataset.highlight) return;
    try { await highlighter(); } catch { return; } // without the file the code is plain
    const language = /language-([\w+#.-]+)/.exec(code.className);
    if (language && window.hljs.getLanguage(language[1])) window.hljs.highlightElement(code);
  }
  /* --- dialogs ------------------------------------------------------------------------------------ */
  function show(dialog) {
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }
  function enlarge(image) {
    const dialog = make("dialog", { class: "light", "aria-label": image.alt || "Image", onclick: () => dialog.close() }, make("img", { src: image.currentSrc || image.src, alt: image.alt }));
    show(dialog);
  }
  function help() {
    if (document.querySelector("dialog[open]")) return;
    const keys = [["j", "next prompt"], ["k", "previous prompt"], ["/", "search"], ["t", "light, dark or as the system"],
      ["o", "open or close all folds"], ["?", "this help"], ["Esc", "close"]];
    const list = make("dl"), own = all("[data-keys]").flatMap((one) => one.dataset.keys.split("; ").map((pair) => pair.split(": ")));
    for (const [key, what] of new Map([...keys, ...own])) list.append(make("dt", null, make("kbd", null, key)), make("dd", null, what));
    const close = make("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Close");
    const dialog = make("dialog", { "aria-labelledby": "help-title" }, make("h2", { id: "help-title" }, "Keys"), list, close);
    show(dialog);
  }
  /* --- the bar ------------------------------------------------------------------------------------ */
  function cycle() {
    wear(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
    kept(theme()), label();
  }
  function label() {
    for (const button of all("[data-do=theme]")) {
      button.textContent = { system: "◐", light: "☀", dark: "☾" }[theme()];
      for (const name of ["aria-label", "title"]) button.setAttribute(name, `Theme: ${theme()}`);
    }
  }
  function toggleAll() {
    const folds = all("main details"), open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
  }
  /** Story: what was asked and answered. Everything: what few read, too. Remembered as the theme is. */
  function showLevel(level) {
    root.dataset.level = kept(level, "unspool-level") ?? level;
    unfold(document), pressed();
  }
  const unfold = (within) => all("details.sum, details.notices", within).forEach((fold) => { fold.open = root.dataset.level === "everything"; });
  const pressed = () => all(".levels button").forEach((one) => one.setAttribute("aria-pressed", String(one.value === (root.dataset.level ?? "normal"))));
  function menu(place) {
    const sheet = make("div", { class: "sheet" });
    for (const [kind, name] of KINDS) {
      const box = make("input", { type: "checkbox", value: kind, checked: "", onchange: () => {
        const hide = all(".sheet input[value]").filter((one) => !one.checked).map((one) => one.value);
        conceal(hide);
        rewrite(hide);
      } });
      sheet.append(make("label", null, box, name));
    }
    const tokens = make("input", { type: "checkbox", onchange: () => kept((root.toggleAttribute("data-tokens", tokens.checked) ? "on" : "off"), "unspool-tokens") });
    tokens.checked = root.hasAttribute("data-tokens");
    sheet.append(make("label", { class: "apart", title: "Of each message: what was in the window, what it wrote, what it cost" }, tokens, "Tokens"));
    const ways = LEVELS.map(([level, name, about]) => make("button", { type: "button", value: level, title: about, onclick: () => showLevel(level) }, name));
    sheet.prepend(make("div", { class: "levels", role: "group", "aria-label": "How much to show" }, ...ways));
    sheet.append(make("button", { class: "button", type: "button", onclick: toggleAll }, "Open or close all"));
    place.append(sheet);
    document.addEventListener("click", (event) => { if (!place.contains(event.target)) place.open = false; });
    place.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { place.open = false; place.querySelector("summary").focus(); }
    });
  }
  const railToggle = (force, open = root.classList.toggle("rail-open", force)) => all("[data-do=rail]").forEach((button) => button.setAttribute("aria-expanded", String(open)));
  /* --- from prompt to prompt ----------------------------------------------------------------------- */
  function step(way) {
    const placed = (prompt) => prompt.closest(".turn") ?? prompt; // a turn has a place before what is in it is laid out
    const prompts = all(":is(main .turn > .prompt, .timeline > li[id], .change[id]):not(details:not([open]) *)").filter((one) => placed(one).checkVisibility());
    const held = prompts.indexOf(document.activeElement), top = (at) => placed(prompts[at]).getBoundingClientRect().top;
    const stays = held >= 0 && top(held) > 40 && top(held) < window.innerHeight; // near the end of a page it cannot come to the top
    const here = stays ? held : prompts.findLastIndex((_, at) => top(at) < 80);
    const exact = stays || (here >= 0 && top(here) > 40);
    const next = prompts[way > 0 ? here + 1 : exact ? here - 1 : here];
    if (!next) { document.querySelector(way > 0 ? "a[rel=next]" : "a[rel=prev]")?.click(); return; }
    if (!next.hasAttribute("tabindex")) next.tabIndex = -1;
    next.scrollIntoView({ block: "start" });
    next.focus({ preventScroll: true });
  }
  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]")) return;
    const search = document.querySelector("[data-do=search], a[rel=search]"); // a page without records leads to the one that has them
    const acts = { j: () => step(1), k: () => step(-1), t: cycle, o: toggleAll, "?": help, Escape: () => railToggle(false),
      "/": search && search.offsetParent ? () => search.click() : null };
    if (!Object.hasOwn(acts, event.key) || !acts[event.key]) return;
    if (event.key !== "Escape") event.preventDefault();
    acts[event.key]();
  }
  /** The rail says where the reader is. */
  let reached = "";
  const passing = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) reached = target.id;
    point();
  }, { rootMargin: "-10% 0px -75% 0px" });
  function point() {
    const here = reached && document.querySelector(`.rail a[href$="#${CSS.escape(reached)}"]`);
    if (here) all(".rail a[aria-current]").forEach((link) => link.removeAttribute("aria-current")), here.setAttribute("aria-current", "true");
  }
  /* --- start ---------------------------------------------------------------------------------------- */
  function adorn(within) { // all of a page, or what somebody added to it
    localTimes(within), tend(within), point();
    if (root.dataset.level === "everything") unfold(within);
    for (const turn of [...all("main .turn[id]:not(.agent:not(.own) *)", within), ...(within.matches?.(".turn[id]") ? [within] : [])]) passing.observe(turn);
  }
  function start() {
    adorn(document), label();
    all("details.menu").forEach(menu), pressed();
    document.addEventListener("unspool:added", (event) => adorn(event.target));
    document.addEventListener("unspool:hide", (event) => conceal(event.detail)); // what is hidden where no address says so
    document.addEventListener("toggle", (event) => { if (event.target.open) tend(event.target); }, true);
    const does = { theme: cycle, help, rail: () => railToggle() };
    document.addEventListener("click", (event) => {
      const act = does[event.target.closest("[data-do]")?.dataset.do];
      if (act) act();
      else if (event.target.matches("main img") && !event.target.closest("a")) enlarge(event.target);
      else if (event.target.closest(".rail a")) railToggle(false);
      carry(event);
    });
    for (const use of ["pointerdown", "focusin", "click"]) document.addEventListener(use, fit, true);
    document.addEventListener("keydown", press);
    window.addEventListener("hashchange", follow);
    follow();
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
