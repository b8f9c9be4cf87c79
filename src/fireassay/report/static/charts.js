// Draw each chart live when it comes into sight; until then, and in print, its drawing stands.
// THEME and LOCALE are put before this text. The interpreter (ast) needs no eval.
const options = {
  mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false,
  tooltip: { disableDefaultStyle: true }, formatLocale: LOCALE,
};

async function draw(box) {
  const spec = JSON.parse(box.querySelector("script[type='application/json']").textContent);
  const live = document.createElement("div");
  live.className = "chart-live";
  live.hidden = true;
  box.append(live);
  try {
    await window.vegaEmbed(live, { ...spec, config: THEME }, options);
  } catch (problem) {
    live.remove();
    throw problem; // the drawing stays, and the console says why
  }
  live.hidden = false;
  box.querySelector(".chart-still").hidden = true;
  box.dataset.drawn = "live";
}

const watcher = new IntersectionObserver((seen) => {
  for (const entry of seen) {
    if (!entry.isIntersecting) continue;
    watcher.unobserve(entry.target);
    draw(entry.target);
  }
}, { rootMargin: "300px" });
for (const box of document.querySelectorAll("[data-chart]")) watcher.observe(box);
