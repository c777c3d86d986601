/* unspool: a session played as it happened. What is there appears at the times that its anchors say, long waits cut.
   A page that holds the whole session plays itself; another names the pages that do, and each is fetched when it is due. */
(() => {
  "use strict";
  const SPEEDS = [1, 5, 20, 100], WAIT = 3000, UNTIMED = 1000, FRAME = 1000, SOON = 5;
  const TOPS = "main > :is(.turn, .branches, .copied)", MOMENT = /^#?msg-(\d{1,15})/;
  const root = document.documentElement;
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  /* --- what is played: pages of steps, each the parts that appear together ------------------------------------------ */
  let pages = [], steps = [], cuts = true;
  const moment = (id) => { const told = MOMENT.exec(id ?? ""); return told && Number(told[1]); };
  const kindOf = (part) => part.dataset.kind ?? (part.matches(".notice, .notices") ? "notice" : part.matches(".call") ? "tool" : "text");
  const unseen = (part) => root.matches(`.hide-${kindOf(part)}, .hide-${kindOf(part)}s`) || (root.dataset.level === "story" && part.matches(":is(.calls > *, .notices, .hush, .notice)"));
  const timeOf = (part) => (unseen(part) ? null : moment(part.id) ?? moment(part.querySelector("[id^=msg-]")?.id) ?? (part.id.startsWith("line-") ? NaN : null));
  /** Parts with the time they came at; null: with the part before them, or at the top of a turn with the one after. */
  function timed(tops) {
    const found = [];
    for (const top of tops) {
      const parts = (top.matches(".turn") ? Array.from(top.children) : [top]).flatMap((one) => (one.matches(".calls") ? Array.from(one.children) : [one]));
      const times = parts.map(timeOf), first = times.findIndex((time) => time !== null);
      if (first > 0) times[0] = times[first], times[first] = null;
      found.push(...parts.map((part, at) => [part, times[at]]));
    }
    return found;
  }
  function gather(page, tops) {
    page.groups = [], page.times = [], page.shown = 0;
    for (const [part, time] of timed(tops)) {
      const last = page.times.at(-1) ?? page.from ?? 0;
      if (time === null && page.groups.length) page.groups.at(-1).push(part);
      else page.groups.push([part]), page.times.push(Number.isNaN(time) ? last + UNTIMED : Math.max(time ?? 0, last));
      part.classList.add("later");
    }
  }
  /** Where each step is in the play, in milliseconds of it at speed 1. */
  function measure() {
    let at = 0, before = null;
    steps = pages.flatMap((page) => page.times.map((time, nth) => {
      const waited = before === null ? 0 : Math.max(0, time - before);
      at += cuts ? Math.min(waited, WAIT) : waited, before = Math.max(time, before ?? time);
      return { page, nth, time: before, at, waited };
    }));
  }
  const total = () => steps.at(-1)?.at ?? 0;
  const stepAt = (place) => Math.max(0, steps.findLastIndex((step) => step.at <= place));

  /* --- what is shown ------------------------------------------------------------------------------------------------ */
  let index = 0, place = 0, follows = true, loading = null;
  function uncover(page, count) {
    for (let at = Math.min(count, page.shown); at < Math.max(count, page.shown); at += 1)
      for (const part of page.groups[at]) part.classList.toggle("later", at >= count);
    page.shown = count;
  }
  async function load(page) {
    const answer = await fetch(page.href);
    if (!answer.ok) throw new Error(String(answer.status));
    const whole = new DOMParser().parseFromString(await answer.text(), "text/html");
    page.box = document.createElement("div");
    page.box.append(...all(TOPS, whole).map((top) => document.adoptNode(top)));
    if (!page.box.children.length) throw new Error("nothing of the session is there");
    const time = steps[index].time, here = steps[index].page === page, nth = steps[index].nth, holder = steps[index].page;
    gather(page, page.box.children), measure();
    const mine = steps.findIndex((step) => step.page === holder); // what stands now keeps its moment, whatever the page says of its steps
    index = here ? Math.max(mine, steps.findLastIndex((step) => step.page === page && step.time <= time)) : mine + nth;
    place = Math.max(steps[index].at, Math.min(place, steps[index + 1]?.at ?? place));
  }
  const need = (page) => (page && !page.groups ? (loading ??= load(page).then(() => { loading = null; show(); }, () => { pause(); say("The next part of the session cannot be had now."); loading = null; })) : null);
  function mount(page) {
    const at = pages.indexOf(page), stage = document.querySelector(".stage");
    if (!page.box || page.box.parentNode === stage && stage.lastChild === page.box) return;
    const before = pages[at - 1]?.groups ? pages[at - 1] : null;
    if (before) uncover(before, before.groups.length);
    stage.replaceChildren(...(before ? [before.box] : []), page.box);
    page.box.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));
    for (const far of pages) if (far.box && Math.abs(pages.indexOf(far) - at) > 1) far.box = far.groups = null;
  }
  /** Scroll to a part; once more when all around it is laid out, which moves it. */
  function reach(part) {
    const go = () => { if (follows && !part.matches(".later")) part.scrollIntoView({ block: "end", behavior: "instant" }); };
    part.closest(".turn")?.classList.add("met");
    go(), requestAnimationFrame(go);
  }
  function show() {
    const { page, nth } = steps[index] ?? {};
    if (!page) return;
    if (!page.groups) { need(page); tell(); return; }
    const came = page.shown !== nth + 1 || (page.box && !page.box.isConnected);
    mount(page);
    if (came) {
      for (const old of all(".now")) old.classList.remove("now");
      const forward = nth + 1 === page.shown + 1;
      uncover(page, nth + 1);
      if (forward) for (const part of page.groups[nth]) part.classList.add("now");
      if (follows) reach(page.groups[nth].at(-1));
    }
    if (nth + SOON > page.groups.length) need(pages[pages.indexOf(page) + 1]);
    tell();
  }

  /* --- time ----------------------------------------------------------------------------------------------------------- */
  let playing = false, last = 0, speed = SPEEDS[1];
  function tick(now) {
    if (!playing) return;
    if (!loading || steps[index].page.groups) { // nothing passes while what is due is fetched
      place = Math.min(total(), place + Math.min(now - last, FRAME) * speed);
      index = Math.max(index, stepAt(place));
      show();
    }
    last = now;
    if (place >= total() && !loading) pause(); else requestAnimationFrame(tick);
  }
  function play() {
    if (playing || !steps.length) return;
    if (place >= total()) seek(0);
    playing = true, last = performance.now();
    requestAnimationFrame(tick);
    tell();
  }
  function pause() {
    playing = false;
    history.replaceState(history.state, "", `${location.pathname}${location.search}#msg-${steps[index].time}`);
    tell();
  }
  function seek(to) { place = Math.max(0, Math.min(to, total())), index = stepAt(place), follows = true, show(); }
  function step(way) {
    if (playing) pause();
    index = Math.max(0, Math.min(index + way, steps.length - 1)), place = steps[index].at, follows = true;
    show();
  }
  function quicken(way) {
    speed = SPEEDS[Math.max(0, Math.min(SPEEDS.indexOf(speed) + way, SPEEDS.length - 1))];
    tell(), say(`Speed ${speed} times`);
  }
  function cutOrNot() {
    cuts = !cuts, measure();
    place = steps[index].at;
    tell();
  }

  /* --- the bar ---------------------------------------------------------------------------------------------------------- */
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  const lasted = (ms) => { const all = ms / 1000, hours = Math.floor(all / 3600); return `${hours ? `${hours}:` : ""}${two((all / 60) % 60)}:${two(all % 60)}`; };
  const words = (ms) => { const all = Math.round(ms / 1000), parts = [[all / 86400, "d"], [(all / 3600) % 24, "h"], [(all / 60) % 60, "m"], [all % 60, "s"]].map(([number, unit]) => [Math.floor(number), unit]).filter(([number]) => number); return parts.slice(0, 2).map((part) => part.join(" ")).join(" ") || "0 s"; };
  let desk = null, parts = {};
  function make(tag, attributes, ...inside) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (name.startsWith("on")) element.addEventListener(name.slice(2), value); else element.setAttribute(name, value);
    element.append(...inside);
    return element;
  }
  const button = (name, text, act, more = {}) => (parts[name] = make("button", { class: "button", type: "button", onclick: act, ...more }, text));
  function build() {
    parts.bar = make("input", { type: "range", min: 0, step: 1, value: 0, "aria-label": "Where the replay is", oninput: () => seek(Number(parts.bar.value)) });
    parts.clock = make("span", { class: "num" }), parts.waits = make("p", { class: "waits" }), parts.said = make("span", { class: "unseen", role: "status" });
    parts.speed = make("span", { class: "num speed", title: "Speed" });
    desk = make("div", { class: "desk replay", role: "toolbar", "aria-label": "Replay" },
      button("play", "▶", () => (playing ? pause() : play())), parts.bar, parts.clock,
      button("slower", "−", () => quicken(-1), { "aria-label": "Slower", title: "< or −" }), parts.speed,
      button("faster", "+", () => quicken(1), { "aria-label": "Faster", title: "> or +" }),
      button("cut", "Cut waits", cutOrNot), button("follow", "↓ Follow", () => { follows = true, reach(steps[index].page.groups[steps[index].nth].at(-1)), tell(); }),
      button("full", "Full screen", () => {}, { class: "button word", "data-act": "full", title: "f" }), button("leave", "Leave", leave, { title: "Esc" }), parts.waits, parts.said);
    document.querySelector("main").append(desk);
  }
  const say = (text) => { parts.said.textContent = text; document.dispatchEvent(new Event("unspool:wake")); };
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  function tell() {
    const now = steps[index], next = steps[index + 1], first = steps[0].time, end = steps.at(-1).time;
    const time = now.time + Math.min(Math.max(0, place - now.at), next ? next.time - now.time : 0), passed = `${lasted(time - first)} / ${lasted(end - first)}`;
    const said = first > 1e11 ? `${clock.format(time)} · ${passed}` : passed;
    parts.clock.textContent = said, parts.speed.textContent = `${speed}×`;
    parts.bar.max = Math.max(1, total()), parts.bar.value = place, parts.bar.setAttribute("aria-valuetext", said);
    parts.play.textContent = playing ? "❚❚" : "▶";
    for (const name of ["aria-label", "title"]) parts.play.setAttribute(name, playing ? "Pause" : "Play");
    parts.slower.disabled = speed === SPEEDS[0], parts.faster.disabled = speed === SPEEDS.at(-1), parts.follow.hidden = follows;
    parts.cut.setAttribute("aria-pressed", String(cuts)), parts.cut.title = `${words(steps.reduce((sum, one) => sum + Math.max(0, one.waited - WAIT), 0))} of waiting ${cuts ? "left out" : "could be left out"}`;
    parts.waits.textContent = cuts && next && next.waited > WAIT ? `${words(next.waited - WAIT)} of waiting cut` : "";
    desk.classList.toggle("stays", !playing || !follows);
  }

  /* --- keys, scrolling, coming and going ------------------------------------------------------------------------------------ */
  const KEYS = { " ": () => (playing ? pause() : play()), ArrowRight: () => step(1), ArrowLeft: () => step(-1), Home: () => seek(0), End: () => seek(Infinity), Escape: () => { if (!document.fullscreenElement) leave(); },
    ">": () => quicken(1), ".": () => quicken(1), "+": () => quicken(1), "=": () => quicken(1), "<": () => quicken(-1), ",": () => quicken(-1), "-": () => quicken(-1), w: cutOrNot };
  function press(event) {
    if (!root.classList.contains("replaying") || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const slider = event.target === parts.bar, key = slider ? { ArrowUp: "ArrowRight", ArrowDown: "ArrowLeft" }[event.key] ?? event.key : event.key;
    if (!Object.hasOwn(KEYS, key) || (!slider && event.target.closest("input, textarea, select")) || (key === " " && event.target.closest("button, summary, a"))) return;
    event.preventDefault(), event.stopPropagation();
    KEYS[key]();
  }
  let top = 0;
  function scrolled() {
    const up = window.scrollY < top, low = window.scrollY + window.innerHeight > root.scrollHeight - 80;
    top = window.scrollY;
    if (!root.classList.contains("replaying") || !(low || up) || follows === low) return;
    follows = low, tell();
  }
  function leave() {
    const here = steps[index]?.page.groups?.[steps[index].nth][0].closest(".turn");
    if (pages[0].href) { location.assign(here ? `./?at=${encodeURIComponent(here.id)}` : "./"); return; }
    playing = false;
    uncover(pages[0], pages[0].groups.length);
    root.classList.remove("staged", "replaying", "resting"), desk.remove(), opener.focus();
    here?.scrollIntoView({ block: "start" });
  }
  function enter() {
    root.classList.add("staged", "replaying");
    const sought = moment(location.hash), still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!pages[0].href) gather(pages[0], all(TOPS));
    if (!pages.some((page) => page.times.length)) pages[0].times = [0];
    build(), measure();
    index = Math.max(0, steps.findLastIndex((one) => one.time <= (sought ?? 0))), place = steps[index].at, follows = true;
    show(), opener?.blur(), document.dispatchEvent(new Event("unspool:wake"));
    if (!still) play();
  }
  let opener = null;
  function start() {
    const told = all("[data-leaf]"), hides = document.querySelector(".stage[data-hide]")?.dataset.hide;
    if (hides) document.dispatchEvent(new CustomEvent("unspool:hide", { detail: hides.split(",") }));
    pages = told.map(({ dataset }) => {
      let time = 0;
      return { href: dataset.leaf, times: dataset.times.split(" ").filter(Boolean).map((more) => (time += Number(more))) };
    });
    for (const page of pages) page.from = page.times[0];
    document.addEventListener("keydown", press, true);
    window.addEventListener("scroll", scrolled, { passive: true });
    if (told.length) { enter(); return; }
    if (!document.querySelector(TOPS)) return;
    pages = [{ times: [] }];
    opener = make("button", { class: "button", type: "button", onclick: enter, "aria-label": "Replay", title: "Play the session as it happened" }, "▷ ", make("span", { class: "word" }, "Replay"));
    document.querySelector("[data-do=theme]").before(opener);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
