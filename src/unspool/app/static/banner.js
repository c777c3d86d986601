/* What is above every page is kept up to date, and pages that list sessions hear that there are new ones. What other
   scripts have to say to somebody who does not see the page is said in one place. */
const SOON = 2000, LATER = 15000;
const here = () => document.querySelector("[data-banner]");
let known = here()?.dataset.round;

async function look() {
  if (!document.hidden) {
    try {
      const answer = await fetch("/banner");
      if (answer.ok) show(new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-banner]"));
    } catch { /* the next time */ }
  }
  setTimeout(look, here()?.matches("[data-busy], :has(progress)") ? SOON : LATER);
}
function show(now) {
  const busy = "busy" in now.dataset, was = here(), news = busy || ("busy" in (was?.dataset ?? {})) || known !== now.dataset.round;
  if (!was) document.querySelector("main")?.prepend(now);
  else if (was.outerHTML !== now.outerHTML) was.replaceWith(now);
  if (known !== undefined && news) document.dispatchEvent(new CustomEvent("unspool:news"));
  known = now.dataset.round;
}
setTimeout(look, SOON);

/* --- said aloud ---------------------------------------------------------------------------------------- */
const voice = document.createElement("p");
voice.className = "unseen";
voice.dataset.say = "";
voice.setAttribute("role", "status");
document.body.append(voice);
document.addEventListener("unspool:say", ({ detail }) => { voice.textContent = detail; });
