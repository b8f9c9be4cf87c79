// Draw each chart live when it comes into sight; until then, and in print, its drawing stands.
// THEME and LOCALE are put before this text. The interpreter (ast) needs no eval.
const options = {
  mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false,
  tooltip: { disableDefaultStyle: true }, formatLocale: LOCALE,
};
const shown = new WeakMap();

async function draw(box) {
  const text = box.querySelector("script[type='application/json']").textContent;
  if (!text.trim()) return; // nothing to show yet
  const live = document.createElement("div");
  live.className = "chart-live";
  live.hidden = true;
  box.append(live);
  let made;
  try {
    made = await window.vegaEmbed(live, { ...JSON.parse(text), config: THEME }, options);
  } catch (problem) {
    live.remove();
    throw problem; // the drawing stays, and the console says why
  }
  live.hidden = false;
  const still = box.querySelector(".chart-still");
  if (still) still.hidden = true;
  const before = shown.get(box);
  if (before) { before.made.finalize(); before.live.remove(); }
  shown.set(box, { made, live });
  box.dataset.drawn = "live";
}

const watcher = new IntersectionObserver((seen) => {
  for (const entry of seen) {
    if (!entry.isIntersecting) continue;
    watcher.unobserve(entry.target);
    draw(entry.target);
  }
}, { rootMargin: "300px" });

// A page whose content changes calls this for a chart that is new, or has other data in it.
window.fireassayChart = (box) => {
  watcher.unobserve(box);
  watcher.observe(box);
};
for (const box of document.querySelectorAll("[data-chart]")) watcher.observe(box);
