// Dragging across the chart of window and money leads to the turns that were dragged over. Without it, links do.
"use strict";
(() => {
  const chart = document.querySelector(".plot .stacks");
  if (!chart) return;
  const bars = [...chart.querySelectorAll("a[data-from]")];
  let begun = null;
  let dragged = false;

  const barAt = (x) => {
    const box = chart.getBoundingClientRect();
    const place = Math.floor(((x - box.left) / box.width) * bars.length);
    return Math.min(Math.max(place, 0), bars.length - 1);
  };
  const between = (x) => [begun, barAt(x)].sort((one, other) => one - other);
  const show = (low, high) => bars.forEach((bar, at) => bar.classList.toggle("taken", at >= low && at <= high));

  chart.addEventListener("dragstart", (event) => event.preventDefault());
  chart.addEventListener("pointerdown", (event) => {
    dragged = false;
    if (event.button === 0 && event.pointerType !== "touch") begun = barAt(event.clientX);
  });
  addEventListener("pointermove", (event) => {
    if (begun === null) return;
    const [low, high] = between(event.clientX);
    dragged = dragged || low !== high;
    if (dragged) show(low, high);
  });
  addEventListener("pointerup", (event) => {
    if (begun === null) return;
    const [low, high] = between(event.clientX);
    begun = null;
    show(1, 0);
    if (!dragged) return;
    const address = new URL(location.href);
    address.searchParams.set("from", bars[low].dataset.from);
    address.searchParams.set("to", bars[high].dataset.to);
    address.hash = "spending";
    location.assign(address);
  });
  // what was dragged was not meant as a click on the bar where it ended
  chart.addEventListener("click", (event) => { if (dragged) event.preventDefault(); }, true);
})();
