// Copies what a button names, and says so.
for (const button of document.querySelectorAll("[data-copy]")) {
  const name = button.textContent;
  button.addEventListener("click", async () => {
    let said = "Copied";
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
    } catch {
      said = "Could not copy";
    }
    button.textContent = said;
    setTimeout(() => { button.textContent = name; }, 2000);
  });
}
