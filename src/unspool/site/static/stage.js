/* unspool: what every stage has: its bar hides while the mouse rests, and it can have the whole screen. */
(() => {
  "use strict";
  const root = document.documentElement, REST = 2500;
  let resting = 0;
  function wake() {
    root.classList.remove("resting");
    clearTimeout(resting);
    if (root.classList.contains("staged")) resting = setTimeout(() => root.classList.add("resting"), REST);
  }
  function full() {
    if (document.fullscreenElement) document.exitFullscreen(); else root.requestFullscreen().catch(() => {}); // may be forbidden
  }
  for (const use of ["pointermove", "pointerdown", "focusin", "unspool:wake"]) document.addEventListener(use, wake);
  document.addEventListener("click", (event) => { if (event.target.closest?.("[data-act=full]")) full(); });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "f" || event.ctrlKey || event.metaKey || event.altKey || !root.classList.contains("staged")) return;
    if (!event.target.closest("input:not([type=range]), textarea, select") && !document.querySelector("dialog[open]")) full();
  });
  wake();
})();
