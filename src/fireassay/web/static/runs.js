"use strict";
// Runs that are at work, and what a run will cost before it is started.
(() => {
  const csrf = () => document.querySelector("meta[name=csrf]").content;

  for (const table of document.querySelectorAll("[data-home-events]")) {
    const source = new EventSource(table.dataset.homeEvents);
    source.onmessage = (event) => {
      const now = JSON.parse(event.data);
      for (const row of table.querySelectorAll("[data-run]")) {
        const run = now[row.dataset.run];
        if (!run) continue;
        const live = row.querySelector("[data-live-row]");
        const was = !live.hidden;
        live.hidden = !run.running;
        live.querySelector(".tag").textContent = run.state;
        live.querySelector("[data-live-text]").textContent = [run.part, run.step, run.left].filter(Boolean).join(" · ");
        // A verdict is read again when the run is over, not after each part.
        if (was && !run.running && run.result !== row.dataset.result) window.location.reload();
      }
    };
    window.addEventListener("pagehide", () => source.close());
  }

  async function plan(box) {
    const words = box.querySelector("[role=status]");
    if (words) words.textContent = "Asking the model about a few rows …";
    box.setAttribute("aria-busy", "true");
    const answer = await fetch(box.dataset.plan, { method: "POST", headers: { "x-fragment": "plan", "x-csrf-token": csrf() } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    box.replaceChildren(...page.body.childNodes);
    box.removeAttribute("aria-busy");
  }

  for (const box of document.querySelectorAll("[data-plan]")) {
    box.addEventListener("submit", (event) => {
      if (!event.target.action.endsWith("/plan")) return;
      event.preventDefault();
      plan(box);
    });
  }
})();
