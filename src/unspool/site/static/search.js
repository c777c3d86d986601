/* Search without a server: loads the index as scripts, so it works from disk as well. Text is only ever set as text.

   The element with data-scope says where the page lies: data-root leads to the site's root, data-scope is the id of
   the page's session (empty elsewhere), data-index the folder of the archive's index ("search" if not said; a page of a
   session without data-root and data-index has no archive). `unspoolSearch.open(query)` opens the dialog, and so does
   a click on any element with data-do="search". What the files hold is told in site/search; the rules for words are
   the same as in site/search/words.py. */
(() => {
  "use strict";

  // --- loading ---------------------------------------------------------------------------------------------------

  const loaded = new Map(), delivered = new Map();

  globalThis.unspoolShard = (name, data) => delivered.set(document.currentScript?.dataset.shard ?? name, data);

  function load(url) {
    if (!loaded.has(url)) loaded.set(url, fetched(url).catch((error) => { loaded.delete(url); throw error; }));
    return loaded.get(url);
  }

  function fetched(url) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = url;
      script.dataset.shard = url;
      const done = () => {
        script.remove();
        const data = delivered.get(url);
        delivered.delete(url);
        if (data === undefined) reject(new Error(`${url} could not be loaded`));
        else resolve(typeof data === "string" ? inflated(data) : data);
      };
      script.onload = script.onerror = done;
      document.head.append(script);
    });
  }

  function inflated(base64) {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).json();
  }

  // --- words -----------------------------------------------------------------------------------------------------

  const UNSPACED = "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u2e80-\\u2fdf\\u3005-\\u3007\\u3040-\\u30ff" +
    "\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
  const LETTER = `(?:(?![${UNSPACED}])[\\p{L}\\p{N}])`;
  const RUNS = new RegExp(`[${UNSPACED}]+|${LETTER}+`, "gu");
  const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
  const ENDS_UNSPACED = new RegExp(`[${UNSPACED}]$`, "u");
  const LONGEST = 40;

  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/ς/g, "σ");
  const cut = (word) => word.length > LONGEST ? Array.from(word).slice(0, LONGEST).join("") : word;
  const kept = (word) => word.length > 1 || word > "\x7f";

  function words(text) {
    const found = new Set();
    for (const [run] of fold(text).matchAll(RUNS)) {
      if (!IS_UNSPACED.test(run)) { if (kept(run)) found.add(cut(run)); continue; }
      const chars = Array.from(run);
      chars.forEach((char, at) => found.add(char + (chars[at + 1] ?? "")));
    }
    return found;
  }

  /* A query is terms: words and "phrases". A term is looked up by its words and checked, whole, on each record; the
     last one, as long as nothing follows it, also finds longer words. */
  function parsed(query) {
    const terms = [];
    for (const found of query.matchAll(/"([^"]*)("|$)|[^\s"]+/g)) {
      const text = fold(found[1] ?? found[0]).trim();
      const open = found.index + found[0].length === query.length && found[2] !== '"';
      if (!new RegExp(RUNS).test(text)) continue;
      const looked = asked(text, open), sure = looked.length === 1 && looked[0].word === text;
      terms.push({ pattern: pattern(text, open), asked: looked, sure });
    }
    return terms;
  }

  function asked(text, open) {
    const runs = Array.from(text.matchAll(RUNS), ([run]) => run);
    const growing = open && new RegExp(`(?:[${UNSPACED}]|${LETTER})$`, "u").test(text);
    return runs.flatMap((run, at) => {
      if (!IS_UNSPACED.test(run)) {
        return kept(run) ? [{ word: cut(run), prefix: growing && at === runs.length - 1 && run.length <= LONGEST }] : [];
      }
      const chars = Array.from(run);
      if (chars.length === 1) return [{ word: run, prefix: true }];
      return chars.slice(1).map((char, before) => ({ word: chars[before] + char, prefix: false }));
    });
  }

  function pattern(text, open) {
    const literal = text.replace(/[\\^$.*+?()[\]{}|\/-]/g, (char) => `\\x${char.charCodeAt(0).toString(16)}`);
    const before = new RegExp(`^${LETTER}`, "u").test(text) ? `(?<!${LETTER})` : "";
    const after = !open && !ENDS_UNSPACED.test(text) && /[\p{L}\p{N}]$/u.test(text) ? `(?!${LETTER})` : "";
    return new RegExp(before + literal.replace(/\s+/g, "\\s+") + after, "gu");
  }

  const matches = (terms, text) => {
    const folded = fold(text);
    return terms.every((term) => folded.search(term.pattern) >= 0);
  };

  // --- sources: the archive's index, or the records of one session -------------------------------------------------

  const ROOM = 2 ** 20; // records a session may have: a record's id is its session's number times this, plus its own

  const kindOf = (session, number) => {
    let kind = 0;
    for (let left = number; left >= session.counts[kind]; kind++) left -= session.counts[kind];
    return kind;
  };
  const partFile = (folder, part) => `${folder}${part ? `records-${part}` : "records"}.js`;
  const partOf = (session, number) => session.starts.findLastIndex((start) => start <= number);

  class Archive {
    constructor(root, index) { this.root = root; this.index = `${root}${index}/`; }

    async open() {
      if (this.shards) return this;
      const head = await load(`${this.index}head.js`);
      this.kinds = head.kinds;
      this.projects = head.projects;
      this.sessions = head.sessions.map(([path, title, project, started, counts, starts]) => {
        const folder = `${this.root || "./"}${path.split("/").map(encodeURIComponent).join("/")}/`;
        return { folder, title, project, started, counts, starts };
      });
      this.shards = head.shards;
      return this;
    }

    async lookup({ word, prefix }) {
      const last = prefix ? `${word}\uffff` : word;
      const from = Math.max(0, this.shards.findLastIndex(([first]) => first <= word));
      const names = this.shards.slice(from).filter(([first]) => first <= last).map(([, name]) => name);
      const found = [];
      for (const [known, postings] of await Promise.all(names.map((name) => load(this.index + name)))) {
        const numbers = postings.split(" ");
        known.split(" ").forEach((one, at) => {
          if (prefix ? one.startsWith(word) : one === word) this.decode(numbers[at], found);
        });
      }
      return found;
    }

    decode(postings, found) {
      let session = 0, number = 0, place = 1, inSession = false;
      for (let at = 0; at < postings.length; at++) {
        const code = postings.charCodeAt(at);
        if (code >= 65 && code <= 90) {
          session = (inSession ? session * 26 : 0) + code - 65;
          inSession = true;
          continue;
        }
        inSession = false;
        const digit = DIGITS[code];
        number += (digit % 31) * place;
        place *= 31;
        if (digit < 31) { found.push(session * ROOM + number); number = 0; place = 1; }
      }
    }

    async records(ids) {
      return Promise.all(ids.map(async (id) => {
        const session = this.sessions[Math.floor(id / ROOM)], number = id % ROOM, part = partOf(session, number);
        const { records } = await load(partFile(session.folder, part)).catch(() => ({ records: [] })); // taken away since
        return records[number - session.starts[part]];
      }));
    }
  }

  const DIGITS = [];
  Array.from("abcdefghijklmnopqrstuvwxyz0123456789!#$%()*+,-./:;=>?@[]^_{|}~").forEach((char, at) => {
    DIGITS[char.charCodeAt(0)] = at;
  });

  class Session {
    async open() {
      if (this.rows) return this;
      const inline = document.querySelector('script[type="application/json"][data-search]');
      const first = inline ? JSON.parse(inline.textContent) : await load(partFile("./", 0));
      const rest = first.about.starts.slice(1).map((_, at) => load(partFile("./", at + 1)));
      this.kinds = first.kinds;
      this.projects = [""];
      this.sessions = [{ ...first.about, folder: "./", project: 0, inline: Boolean(inline) }];
      this.rows = [first, ...await Promise.all(rest)].flatMap((part) => part.records);
      this.found = new Map();
      this.rows.forEach(([, , text], number) => {
        for (const word of words(text)) {
          if (this.found.has(word)) this.found.get(word).push(number);
          else this.found.set(word, [number]);
        }
      });
      return this;
    }

    async lookup({ word, prefix }) {
      if (!prefix) return this.found.get(word) ?? [];
      return Array.from(this.found).flatMap(([known, numbers]) => known.startsWith(word) ? numbers : []);
    }

    async records(ids) { return ids.map((id) => this.rows[id]); }
  }

  // --- finding -----------------------------------------------------------------------------------------------------

  async function candidates(source, terms) {
    const lists = await Promise.all(terms.flatMap((term) => term.asked).map((one) => source.lookup(one)));
    if (!lists.length) return null;
    lists.sort((one, other) => one.length - other.length);
    const sets = lists.slice(1).map((list) => new Set(list));
    return Array.from(new Set(lists[0])).filter((id) => sets.every((set) => set.has(id))).sort((a, b) => a - b);
  }

  /* Sessions with what was found in them: the best kind first, then the newest; records are numbered by rank. */
  function grouped(source, ids) {
    const groups = new Map();
    for (const id of ids) {
      const number = Math.floor(id / ROOM);
      if (!groups.has(number)) groups.set(number, { number, session: source.sessions[number], ids: [] });
      groups.get(number).ids.push(id);
    }
    const rank = (group) => kindOf(group.session, group.ids[0] % ROOM);
    return Array.from(groups.values(), (group) => ({ ...group, rank: rank(group) }))
      .sort((one, other) => one.rank - other.rank || other.number - one.number);
  }

  // --- the dialog --------------------------------------------------------------------------------------------------

  const SESSIONS = 10, HITS = 3, MORE = 20, LOOKS = 40, DELAY = 120;
  const NAMES = {
    prompt: "Prompts", title: "Titles", plan: "Plans", question: "Questions", answer: "Answers", agent: "Subagents",
    thinking: "Thinking", tool: "Tools", notice: "Notices",
  };
  const sources = {};

  /* Where the page lies; asked when the search is first opened, for the script may come before the body. */
  function situate() {
    const { root = "", scope = "", index = "" } = document.querySelector("[data-scope]")?.dataset ?? {};
    if (scope) sources.session = new Session();
    if (index || root || !scope) sources.archive = new Archive(root, index || "search");
  }

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const ui = {};
  let turn = 0, timer = 0, before = "", hits = [], active = -1, waiting = [];

  function build() {
    situate();
    ui.input = element("input", {
      type: "text", class: "search-input", role: "combobox", inputmode: "search", enterkeyhint: "search",
      autocomplete: "off", spellcheck: "false", "aria-controls": "search-results", "aria-autocomplete": "list",
      "aria-expanded": "false", "aria-label": "Search for", placeholder: 'Words, or "a phrase"', autofocus: "",
    });
    ui.close = element("button", { type: "button", class: "search-close", "aria-label": "Esc: close" }, "Esc");
    ui.where = element("select", { "aria-label": "Where" });
    ui.kind = element("select", { "aria-label": "Kind" });
    ui.project = element("select", { "aria-label": "Project" });
    ui.status = element("p", { class: "search-status", role: "status" });
    ui.results = element("div", { class: "search-results", id: "search-results", role: "listbox", "aria-label": "Results" });
    ui.more = element("button", { type: "button", class: "search-more", hidden: "" }, "More sessions");
    const keys = [["↑ ↓", "choose"], ["↵", "open"], ["Esc", "close"]].map(([key, what]) => element("span", {}, element("kbd", {}, key), ` ${what}`));
    ui.dialog = element("dialog", { class: "search", "aria-label": "Search" },
      element("div", { class: "search-bar" }, element("span", { class: "search-glass", "aria-hidden": "true" }, "⌕"), ui.input, ui.close),
      element("div", { class: "search-filters" }, ui.where, ui.kind, ui.project),
      ui.status, ui.results, ui.more, element("div", { class: "search-foot", "aria-hidden": "true" }, ...keys));
    for (const name of Object.keys(sources)) {
      ui.where.append(element("option", { value: name }, name === "session" ? "This session" : "All sessions"));
    }
    ui.where.hidden = Object.keys(sources).length < 2;
    ui.project.hidden = true;
    document.body.append(ui.dialog);
    listen();
  }

  function listen() {
    ui.input.addEventListener("input", () => {
      turn++; // what is still being looked for is no longer wanted
      busy(true);
      clearTimeout(timer);
      timer = setTimeout(find, DELAY);
    });
    ui.input.addEventListener("keydown", keyed);
    ui.close.addEventListener("click", () => ui.dialog.close());
    for (const select of [ui.where, ui.kind, ui.project]) select.addEventListener("change", () => find());
    ui.more.addEventListener("click", () => further(turn));
    ui.dialog.addEventListener("click", (event) => { if (event.target === ui.dialog) ui.dialog.close(); });
    ui.dialog.addEventListener("close", () => {
      turn++;
      clearTimeout(timer);
      busy(false);
      if (state() && !ui.followed) history.replaceState(null, "", before || location.href.split("#")[0]);
      ui.followed = false;
    });
  }

  function keyed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && hits.length) {
      event.preventDefault();
      activate((active + step + hits.length) % hits.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (hits.length) hits[Math.max(0, active)].click();
    }
  }

  function activate(at) {
    hits[active]?.setAttribute("aria-selected", "false");
    active = at;
    const hit = hits[at];
    if (!hit) return ui.input.removeAttribute("aria-activedescendant");
    hit.setAttribute("aria-selected", "true");
    hit.scrollIntoView({ block: "nearest" });
    ui.input.setAttribute("aria-activedescendant", hit.id);
  }

  // --- the state in the address

  function state() {
    const told = new URLSearchParams(location.hash.slice(1));
    return told.has("search") ? told : null;
  }

  function tell() {
    const told = new URLSearchParams({ search: ui.input.value });
    if (ui.kind.value) told.set("kind", ui.kind.value);
    if (ui.project.value) told.set("project", ui.project.value);
    if (ui.where.value !== Object.keys(sources)[0]) told.set("in", ui.where.value);
    history.replaceState(null, "", `#${told.toString().replace(/\+/g, "%20")}`);
  }

  function open(query) {
    if (!ui.dialog) build();
    const told = state() ?? new URLSearchParams();
    if (!ui.dialog.open) {
      before = state() ? "" : location.hash;
      ui.dialog.showModal();
    }
    if (query !== undefined || told.has("search")) ui.input.value = query ?? told.get("search");
    if (Object.hasOwn(sources, told.get("in") ?? "")) ui.where.value = told.get("in");
    ui.input.focus();
    ui.input.select();
    return find(told.get("kind") ?? ui.kind.value, told.get("project") ?? ui.project.value);
  }

  // --- showing

  const busy = (is) => ui.results.setAttribute("aria-busy", String(is));

  async function find(kind = ui.kind.value, project = ui.project.value) {
    const mine = ++turn, terms = parsed(ui.input.value);
    busy(true);
    try {
      const source = await sources[ui.where.value].open();
      if (mine !== turn) return;
      const ids = terms.length ? await candidates(source, terms) : [];
      if (mine !== turn) return;
      const wanted = filtered(source, ids ?? [], kind, project);
      tell();
      clear();
      waiting = grouped(source, wanted);
      ui.shown = { source, terms, total: wanted.length, sessions: waiting.length };
      ui.status.textContent = status(terms, ids);
      await further(mine);
    } catch (error) {
      if (mine !== turn) return;
      clear();
      ui.status.textContent = `Search does not work here: ${error.message}.`;
    }
    if (mine === turn) busy(false);
  }

  function clear() {
    hits = [];
    waiting = [];
    activate(-1);
    ui.results.replaceChildren();
    ui.more.hidden = true;
    ui.input.setAttribute("aria-expanded", "false");
  }

  const upTo = (terms) => terms.every((term) => term.sure) ? "" : "up to "; // the rest shows when records are loaded

  function status(terms, ids) {
    if (!ui.input.value.trim()) return "";
    if (!terms.length || !ids) return "Type a word of two letters or more.";
    const { total, sessions } = ui.shown;
    if (!total) return "Nothing found.";
    const found = `${upTo(terms)}${total.toLocaleString()} ${total === 1 ? "match" : "matches"}`;
    return ui.where.value === "session" ? found : `${found} in ${sessions.toLocaleString()} ${sessions === 1 ? "session" : "sessions"}`;
  }

  /* The ids of the kind and project asked for; the choices are offered with what each would give. */
  function filtered(source, ids, kind, project) {
    const told = ids.map((id) => {
      const session = source.sessions[Math.floor(id / ROOM)];
      return { id, kind: source.kinds[kindOf(session, id % ROOM)], project: source.projects[session.project] };
    });
    const ofKind = told.filter((one) => !kind || one.kind === kind);
    const ofProject = told.filter((one) => !project || one.project === project);
    choices(ui.kind, "All kinds", source.kinds, kind, ofProject.map((one) => one.kind), (name) => NAMES[name] ?? name);
    choices(ui.project, "All projects", source.projects, project, ofKind.map((one) => one.project), (name) => name || "(none)");
    ui.project.hidden = source.projects.length < 2;
    return ofKind.filter((one) => !project || one.project === project).map((one) => one.id);
  }

  function choices(select, all, values, chosen, found, named) {
    const counts = new Map();
    for (const one of found) counts.set(one, (counts.get(one) ?? 0) + 1);
    const offered = values.filter((value) => value && (counts.has(value) || value === chosen));
    select.replaceChildren(element("option", { value: "" }, all), ...offered.map((value) =>
      element("option", { value }, `${named(value)} (${(counts.get(value) ?? 0).toLocaleString()})`)));
    select.value = offered.includes(chosen) ? chosen : "";
  }

  /* Show the next sessions. What is loaded for it is bounded: where many records only seem to match, the rest waits
     for the button. */
  async function further(mine) {
    const { source, terms } = ui.shown;
    ui.more.hidden = true;
    const batch = waiting.splice(0, SESSIONS);
    const shown = await Promise.all(batch.map((group) => verified(source, terms, group, HITS)));
    if (mine !== turn) return;
    batch.forEach((group, at) => { if (shown[at].length) ui.results.append(section(source, terms, group, shown[at])); });
    numbered();
    ui.more.hidden = !waiting.length;
    if (!hits.length && !waiting.length && ui.shown.total) ui.status.textContent = "Nothing found.";
    if (!hits.length && waiting.length) {
      ui.shown.looks = (ui.shown.looks ?? 0) + 1;
      if (ui.shown.looks < 4) await further(mine);
      else ui.status.textContent = "Nothing found yet.";
    }
  }

  /* The first records of a group that hold every term; takes what it looked at out of the group. */
  async function verified(source, terms, group, wanted) {
    const found = [];
    for (let looks = 0; found.length < wanted && group.ids.length && looks < LOOKS; looks += wanted) {
      const ids = group.ids.splice(0, wanted - found.length);
      (await source.records(ids)).forEach((record, at) => {
        if (record && matches(terms, record[2])) found.push({ id: ids[at], record });
      });
    }
    return found;
  }

  function section(source, terms, group, found) {
    const { session } = group, name = `search-session-${group.number}`;
    const head = element("div", { class: "search-session", id: name, role: "presentation" }, element("b", {}, session.title));
    const project = source.projects[session.project];
    if (project) head.append(element("span", {}, project));
    if (session.started) head.append(element("time", { class: "day", datetime: written(session.started) }));
    const box = element("div", { role: "group", "aria-labelledby": name }, head);
    const add = (some) => box.append(...some.map((one) => hit(source, terms, session, one)));
    add(found);
    if (group.ids.length) box.append(rest(source, terms, group, add));
    return box;
  }

  function rest(source, terms, group, add) {
    const more = element("div", { class: "search-rest", role: "option", "aria-selected": "false" });
    more.textContent = `${upTo(terms)}${group.ids.length.toLocaleString()} more in this session`;
    more.addEventListener("click", async () => {
      const mine = turn, box = more.parentElement, found = await verified(source, terms, group, MORE);
      if (mine !== turn) return;
      more.remove();
      add(found);
      if (group.ids.length) box.append(rest(source, terms, group, add));
      numbered();
    });
    return more;
  }

  function hit(source, terms, session, { id, record: [link, after, text] }) {
    const kind = source.kinds[kindOf(session, id % ROOM)];
    const made = element("a", { class: "search-hit", role: "option", tabindex: "-1", "aria-selected": "false" },
      element("span", { class: `search-kind kind-${kind}` }, kind === "agent" ? "subagent" : kind), snippet(terms, text));
    made.href = address(session, link);
    if (after && session.started) made.title = MOMENT.format((session.started + after) * 1000);
    made.addEventListener("click", (event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) leave(); });
    return made;
  }

  /* A page that carries its records may be called anything: what stands on it is addressed by its anchor alone. */
  function address(session, link) {
    const anchor = link.split("#")[1] ?? "";
    return session.inline && (!anchor || document.getElementById(anchor)) ? `#${anchor}` : session.folder + link;
  }

  /* Close, but leave the search in the address: Back leads to it again. */
  function leave() {
    ui.followed = true;
    ui.dialog.close();
  }

  const written = (seconds) => new Date(seconds * 1000).toISOString();
  const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short", hourCycle: "h23" });

  function numbered() {
    ui.results.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true })); // the page writes the times
    hits = Array.from(ui.results.querySelectorAll("[role=option]"));
    hits.forEach((one, at) => { one.id = `search-hit-${at}`; });
    ui.input.setAttribute("aria-expanded", String(hits.length > 0));
    activate(hits.length ? Math.min(Math.max(active, 0), hits.length - 1) : -1);
  }

  const LEAD = 60, LENGTH = 240, MARKS = 200;

  function snippet(terms, text) {
    const marks = marked(terms, text);
    const from = Math.max(0, best(marks) - LEAD), to = Math.min(text.length, from + LENGTH);
    const box = element("span", { class: "search-text", dir: "auto" }, from ? "… " : "");
    let at = from;
    for (const [start, end] of marks) {
      if (start < at || end > to) continue;
      box.append(text.slice(at, start), element("mark", {}, text.slice(start, end)));
      at = end;
    }
    box.append(text.slice(at, to), to < text.length ? " …" : "");
    return box;
  }

  /* The first place from which the most terms can be seen. */
  function best(marks) {
    const near = marks.slice(0, MARKS);
    const seen = near.map(([start]) =>
      new Set(near.filter(([at]) => at >= start && at < start + LENGTH - LEAD * 2).map(([, , term]) => term)).size);
    return near[seen.indexOf(Math.max(...seen))]?.[0] ?? 0;
  }

  /* Where the terms stand in the text as it was written: folding changes lengths, so positions are led back. */
  function marked(terms, text) {
    const ascii = !/[^\x00-\x7f]/.test(text), origin = [];
    let folded = "";
    if (ascii) folded = text.toLowerCase();
    else for (let at = 0; at < text.length;) {
      const char = String.fromCodePoint(text.codePointAt(at)), plain = fold(char);
      for (let unit = 0; unit < plain.length; unit++) origin.push(at);
      folded += plain;
      at += char.length;
    }
    origin.push(text.length);
    const back = (at) => ascii ? at : origin[at];
    const found = terms.flatMap((term, which) => Array.from(folded.matchAll(term.pattern), (one) =>
      [back(one.index), back(one.index + one[0].length), which]));
    return found.sort((one, other) => one[0] - other[0]).filter(([start, end]) => end > start);
  }

  globalThis.unspoolSearch = { open, close: () => ui.dialog?.close(), words: (text) => Array.from(words(text)) };
  const arrive = () => { if (state()) open(); };
  addEventListener("hashchange", arrive);
  document.addEventListener("click", (event) => { if (event.target.closest("[data-do=search]")) open(); });
  document.addEventListener("keydown", (event) => {
    const way = document.querySelector("[data-do=search], a[rel=search]"), shown = document.querySelector("dialog[open]");
    if (!way || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (shown === ui.dialog && shown) ui.input.select(); else if (!shown) way.click();
  });
  addEventListener("pageshow", arrive); // also where Back finds the page as it was left
})();
