/* unspool: what goes on. A session's page grows as its log does, and is followed until one scrolls up; the board of
   active sessions keeps itself up to date. Streams are closed while nobody looks. */
const about = document.querySelector("meta[name=unspool-session]")?.dataset ?? {};
const AT_END = 120;

/** An event stream that pauses while the page is hidden: browsers allow few at once. */
function listen(address, events) {
  let source = null, again = 0, over = false;
  const stop = () => { clearTimeout(again); source?.close(); };
  const open = () => {
    stop();
    if (over || document.hidden) return;
    source = new EventSource(address());
    for (const [name, heard] of Object.entries(events))
      source.addEventListener(name, (event) => heard(JSON.parse(event.data), () => { over = true; stop(); }));
    source.addEventListener("error", () => { // refused for now: asked again later; other errors mend themselves
      if (source.readyState === EventSource.CLOSED) again = setTimeout(open, 10000);
    });
  };
  document.addEventListener("visibilitychange", () => { if (document.hidden) stop(); else open(); });
  window.addEventListener("pagehide", stop);
  window.addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  open();
}
const parsed = (html) => document.adoptNode(new DOMParser().parseFromString(html, "text/html").body);
const added = (element) => element.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));

/* --- a session ----------------------------------------------------------------------------------------- */
const turnsOf = () => Array.from(document.querySelectorAll("main .turn[id^='turn-']"));
const numberOf = (turn) => Number(turn.id.slice(5));

/** Folds that the reader opened stay open. */
function carryFolds(from, to) {
  for (const fold of from.querySelectorAll("details[open][id]")) {
    const same = to.querySelector(`#${CSS.escape(fold.id)}`);
    if (same) same.open = true;
  }
}
function place(told) {
  const turn = parsed(told.html).querySelector(".turn");
  if (!turn) return;
  turn.classList.add("met"); // laid out at once: the page must not shrink while it is read
  const old = document.getElementById(turn.id), before = turnsOf().filter((one) => numberOf(one) < told.number).at(-1);
  if (old) { carryFolds(old, turn); old.replaceWith(turn); }
  else if (before) before.after(turn);
  else document.querySelector("main").insertBefore(turn, document.querySelector("main > .pager[aria-label$=below]"));
  if (!old) { turn.classList.add("arrived"); stop(told); }
  added(turn);
}
/** The rail gets a line for a new prompt, and what says how many there are says one more. */
function stop(told) {
  const list = document.querySelector(".rail ol"), words = document.createElement("span"), number = document.createElement("i");
  if (!list || !told.number) return;
  number.textContent = told.number;
  words.textContent = told.words;
  const link = document.createElement("a"), item = document.createElement("li");
  link.href = `#turn-${told.number}`;
  link.append(number, " ", words);
  item.append(link);
  list.append(item);
  const name = document.querySelector(".rail .label"), here = document.querySelector(".crumbs [aria-current]"), before = here?.textContent ?? "";
  name.textContent = name.textContent.replace(/[\d,]+/g, (one) => (Number(one.replaceAll(",", "")) + 1).toLocaleString("en")).replace(/prompt$/, "prompts");
  if (!/^Prompts? \d+/.test(before)) return;
  here.textContent = before.replace(/^Prompts? (\d+).*/, `Prompts $1 to ${told.number}`);
  document.title = document.title.replace(before, here.textContent);
}

let followed = false;
/** Follow the session from the first turn of its last page on: once, however often that page is met. */
function follow(about) {
  if (followed) return;
  followed = true;
  let since = about.since, following = location.hash.startsWith("#live"), at = window.scrollY, waiting = false;
  const end = () => document.documentElement.scrollHeight - window.innerHeight;
  const atEnd = () => window.scrollY >= end() - AT_END;
  const box = document.createElement("div"), toggle = document.createElement("button"), below = document.createElement("button");
  box.className = "follow live-on";
  box.setAttribute("role", "status");
  toggle.className = "button";
  below.className = "button new";
  toggle.type = below.type = "button";
  below.textContent = "↓ New below";
  box.append(toggle, below);
  document.body.append(box);

  const show = () => {
    const dot = document.createElement("span");
    dot.className = "dot";
    toggle.replaceChildren(dot, following ? "Following" : "Follow");
    toggle.setAttribute("aria-pressed", String(following));
    below.hidden = !waiting;
  };
  const down = () => { waiting = false; window.scrollTo({ top: end(), behavior: "instant" }); at = window.scrollY; show(); };
  toggle.addEventListener("click", () => { following = !following; if (following) down(); show(); });
  below.addEventListener("click", () => { following = true; down(); });
  window.addEventListener("scroll", () => {
    if (window.scrollY < at - 4 && !atEnd()) following = false; // only a reader scrolls up
    if (atEnd()) waiting = false;
    at = window.scrollY;
    show();
  }, { passive: true });

  listen(() => `events?from=${about.live}&since=${encodeURIComponent(since)}`, {
    turns: (news) => {
      for (const told of news.turns) place(told);
      for (const turn of turnsOf()) if (numberOf(turn) > news.last) turn.remove();
      since = news.mark;
      if (!following && !atEnd()) waiting = true;
      show();
    },
    end: (_, close) => { close(); box.remove(); },
  });
  show();
  new ResizeObserver(() => { if (following) down(); }).observe(document.body); // turns grow, and have their height once they are seen
}

/* --- the board ----------------------------------------------------------------------------------------- */
function watchBoard(board) {
  listen(() => "/live/events", { board: ({ html }) => {
    const held = board.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    board.replaceChildren(...parsed(html).childNodes);
    if (held) board.querySelector(`a[href="${CSS.escape(held)}"]`)?.focus();
    added(board);
  } });
}

const board = document.getElementById("board");
if (about.live !== undefined) follow(about);
document.addEventListener("unspool:live", (event) => follow(event.detail)); // its last page was scrolled to
if (board) watchBoard(board);
