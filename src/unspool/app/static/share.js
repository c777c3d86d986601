/* Choices without a new page, and stretches of text added by selecting them. The forms work without this script. */
const LONGEST = 200;
const say = (text) => {
  let place = document.querySelector("[data-say]");
  if (!place) {
    place = document.createElement("p");
    place.className = "unseen";
    place.dataset.say = "";
    place.setAttribute("role", "status");
    document.body.append(place);
  }
  place.textContent = text;
};
const part = (page = document) => page.querySelector("[data-part=share]");
const post = (address, fields) => fetch(address, {
  method: "POST",
  headers: { "Content-Type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(fields),
});

/* --- deciding ---------------------------------------------------------------------------------------- */
/** The page as it is after a choice takes the place of the one before; the focus stays where it was. */
async function decide(address, fields, held) {
  part().setAttribute("aria-busy", "true");
  const answer = await post(address, fields);
  if (!answer.ok) throw new Error(`${answer.status}`);
  const now = part(new DOMParser().parseFromString(await answer.text(), "text/html"));
  if (!now) throw new Error("no such part");
  part().replaceWith(now);
  (document.getElementById(held) ?? document.getElementById("term"))?.focus({ preventScroll: true });
  say(now.querySelector(".share-head p").textContent);
}
document.addEventListener("submit", (event) => {
  const form = event.target, pressed = event.submitter;
  if (!form.matches("[data-decide]")) return;
  event.preventDefault();
  const fields = new FormData(form, pressed), plain = () => {
    for (const [name, value] of fields) if (!form.elements[name]?.matches?.("input")) form.append(hidden(name, value));
    form.submit();
  };
  decide(form.action.split("#")[0], fields, form.elements.term ? "term" : pressed?.id).catch(plain);
});
function hidden(name, value) {
  const field = document.createElement("input");
  Object.assign(field, { type: "hidden", name, value });
  return field;
}

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
