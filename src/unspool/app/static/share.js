/* Choices without a new page, and stretches of text added by selecting them. The forms work without this script. */
const LONGEST = 200;
const say = (text) => document.dispatchEvent(new CustomEvent("unspool:say", { detail: text }));
const part = (page = document) => page.querySelector("[data-part=share]");
const post = (address, fields) => fetch(address, {
  method: "POST",
  headers: { "Content-Type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(fields),
});

/* --- deciding ---------------------------------------------------------------------------------------- */
/** The page as it is after a choice takes the place of the one before; the focus stays where it was. */
async function decide(address, fields, focused) {
  part().setAttribute("aria-busy", "true");
  await show(await post(address, fields));
  (document.getElementById(focused) ?? document.getElementById("term"))?.focus({ preventScroll: true });
  say(part().querySelector(".share-head p").textContent);
}
async function show(answer) {
  if (!answer.ok) throw new Error(`${answer.status}`);
  const now = part(new DOMParser().parseFromString(await answer.text(), "text/html"));
  if (!now) throw new Error("no such part");
  part().replaceWith(now);
  wait();
}
/** A long session is looked through while its page tells how far that is; then the review takes its place. */
async function wait() {
  const address = part()?.dataset.waits;
  if (!address) return;
  try {
    const { share, ended } = await (await fetch(address)).json();
    part().querySelector("progress").value = share;
    if (ended) await show(await fetch(location.href));
    else setTimeout(wait, 200);
  } catch { location.reload(); }
}
wait();
document.addEventListener("submit", (event) => {
  const form = event.target, pressed = event.submitter;
  if (!form.matches("[data-decide]")) return;
  event.preventDefault();
  const fields = new FormData(form, pressed), plain = () => {
    for (const [name, value] of fields) if (!form.elements[name]?.matches?.("input")) form.append(hidden(name, value));
    form.submit();
  };
  decide(form.action.split("#")[0], fields, form.querySelector("input.field")?.id ?? pressed?.id).catch(plain);
});
function hidden(name, value) {
  const field = document.createElement("input");
  Object.assign(field, { type: "hidden", name, value });
  return field;
}

/* --- keys: from finding to finding -------------------------------------------------------------------- */
const held = () => document.activeElement.closest(".value");
function step(way) {
  const values = Array.from(document.querySelectorAll(".value"));
  const next = held() ? values[values.indexOf(held()) + way] : values.find((one) => one.getBoundingClientRect().top > 60);
  next?.querySelector(".either [aria-pressed=true]").focus({ preventScroll: true });
  next?.scrollIntoView({ block: "center" });
}
const press = (name) => held()?.querySelector(`.either [name=${name}]`).click();
const KEYS = { j: () => step(1), k: () => step(-1), r: () => press("replace"), e: () => press("keep") };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !part() || !Object.hasOwn(KEYS, event.key)) return;
  if (event.target.closest("input, textarea, select") || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  KEYS[event.key]();
}, true);

/* --- making ------------------------------------------------------------------------------------------ */
/** A passphrase is asked for where one is chosen, twice the same. */
function check(form) {
  const { passphrase, again, seal } = form.elements, wanted = seal.value === "passphrase";
  passphrase.required = again.required = wanted;
  again.setCustomValidity(wanted && again.value !== passphrase.value ? "The two passphrases differ." : "");
}
for (const name of ["input", "change", "click"])
  document.addEventListener(name, (event) => { const form = event.target.closest?.("[data-makes]"); if (form) check(form); });
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copies]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
    button.textContent = "Copied";
  } catch { button.textContent = "Did not work"; }
  say(button.textContent);
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});

/* --- a selected stretch ------------------------------------------------------------------------------ */
const review = location.pathname.replace(/\/preview\/.*$/, "");
const pick = document.createElement("button");
pick.type = "button";
pick.className = "pick";
pick.textContent = "Must not leave";
pick.hidden = true;
document.body.append(pick);
const words = () => {
  const chosen = getSelection();
  const within = chosen.anchorNode?.parentElement?.closest("[data-around], main article, main .turn, .share-turns .words");
  const text = within ? chosen.toString().trim() : "";
  return text.length > 1 && text.length <= LONGEST ? text : "";
};
document.addEventListener("selectionchange", () => {
  pick.hidden = !words();
  if (pick.hidden) return;
  const box = getSelection().getRangeAt(0).getBoundingClientRect();
  pick.style.left = `${Math.max(8, Math.min(box.left + scrollX, innerWidth - 160))}px`;
  pick.style.top = `${box.bottom + scrollY + 6}px`;
});
pick.addEventListener("pointerdown", (event) => event.preventDefault()); // or the selection would be gone
pick.addEventListener("click", async () => {
  const term = words();
  pick.hidden = true;
  if (!term) return;
  getSelection().removeAllRanges();
  try {
    if (part()) return await decide(review, { term }, "term");
    if (!(await post(review, { term })).ok) throw new Error("refused");
    location.reload();
  } catch {
    say("That could not be added");
  }
});
