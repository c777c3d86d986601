/* The lines of a change are fetched when its fold is opened. Without this script the fold leads to them. */
const fill = async (fold) => {
  const answer = await fetch(fold.dataset.from);
  if (!answer.ok) return; // the link in the fold stays
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  delete fold.dataset.from;
  fold.replaceChildren(fold.querySelector("summary"), ...page.body.childNodes);
  fold.dispatchEvent(new CustomEvent("unspool:added", { bubbles: true }));
};
document.addEventListener("toggle", (event) => {
  if (event.target.open && event.target.matches("details[data-from]")) fill(event.target).catch(() => {});
}, true);
