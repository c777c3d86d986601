/* The line of a share: its link copied, without what was jumped to. */
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const bar = document.querySelector(".shared-bar");
  const button = bar && bar.querySelector("[data-copy-link]");
  if (!button) return;
  const told = bar.querySelector("[role=status]");
  const link = new URL(button.dataset.copyLink || ".", location.href).href.replace(/\/$/, "");
  button.hidden = false;

  async function copied() {
    try {
      await navigator.clipboard.writeText(link);
      return true;
    } catch { /* not everywhere allowed; then the old way */ }
    const field = Object.assign(document.createElement("textarea"), { value: link, readOnly: true });
    bar.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }

  button.addEventListener("click", async () => {
    told.textContent = (await copied()) ? "Link copied" : link;
    button.focus();
  });
});
