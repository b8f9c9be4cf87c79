"use strict";
// What changes while one looks: progress of a run, numbers of a queue, labels from a file.
(() => {
  const csrf = () => document.querySelector("meta[name=csrf]").content;
  const short = (number) => (number === null ? "∞" : Number(number.toPrecision(3)).toString());
  const percent = (number) => `${Number((100 * number).toPrecision(3))} %`;

  // A hidden page lets go of its connection: browsers have only a few for each site.
  function listen(address, hear) {
    let source = null;
    const follow = () => {
      if (document.hidden) {
        source?.close();
        source = null;
      } else if (!source) {
        source = new EventSource(address);
        source.onmessage = hear;
      }
    };
    document.addEventListener("visibilitychange", follow);
    follow();
  }

  function setText(root, selector, text) {
    for (const element of root.querySelectorAll(selector)) element.textContent = text;
  }

  async function refresh(root) {
    const answer = await fetch(root.dataset.live, { headers: { accept: "application/json" } });
    if (!answer.ok) return;
    const now = await answer.json();
    for (const name of ["answered", "budget_left", "cannot_tell", "conflicts"]) setText(root, `[data-fact=${name}]`, now[name]);
    if (now.sdr) {
      for (const name of ["value", "low", "high", "expected"]) setText(root, `[data-sdr=${name}]`, short(now.sdr[name]));
      for (const name of ["errors", "n"]) setText(root, `[data-sdr=${name}]`, now.sdr[name]);
      for (const element of root.querySelectorAll("[data-exact]")) element.dataset.exact = now.sdr.value ?? "";
      setText(root, "[data-sdr=valid_as_text]", now.sdr.valid_as === "fixed" ? "The budget is spent: exact Poisson interval." : "The 95 % interval holds at every look.");
      const chart = root.querySelector("[data-chart]");
      if (chart) {
        chart.querySelector("script").textContent = now.sdr.chart;
        window.fireassayChart?.(chart); // the charts' script draws it itself if it comes later
      }
    }
    if (now.precision) {
      for (const name of ["value", "low", "high"]) setText(root, `[data-precision=${name}]`, percent(now.precision[name]));
      setText(root, "[data-precision=n]", now.precision.n);
    }
    root.dataset.answered = now.answered;
  }

  for (const root of document.querySelectorAll("[data-live]")) {
    let waiting = null;
    const soon = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => refresh(root).catch(() => soonAgain()), 60);
    };
    const soonAgain = () => { waiting = setTimeout(() => refresh(root).catch(() => {}), 3000); };
    soon();
    document.addEventListener("fireassay:answered", soon);
    listen(root.dataset.events, soon);
  }

  function line(task) {
    const row = document.createElement("div");
    const name = document.createElement("span");
    const meter = document.createElement("div");
    const bar = document.createElement("progress");
    const count = document.createElement("span");
    row.className = "task-line";
    meter.className = "meter";
    name.textContent = task.name;
    bar.max = task.total || 1;
    bar.value = task.done;
    bar.setAttribute("aria-label", task.name);
    count.textContent = `${task.done} / ${task.total}`;
    meter.append(bar, count);
    row.append(name, meter);
    if (task.failed) {
      const failed = document.createElement("span");
      failed.className = "tag bad";
      failed.textContent = `${task.failed} failed`;
      row.append(failed);
    }
    return row;
  }

  // New answers and queues appear by themselves; what a person has open stays as it is.
  async function renew() {
    const answer = await fetch(window.location.href);
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of ["screen", "queues"]) {
      const [old, now] = [document, fresh].map((page) => page.getElementById(part));
      if (old && now && old.innerHTML !== now.innerHTML) old.replaceWith(now);
    }
  }

  for (const root of document.querySelectorAll("[data-run-events]")) {
    listen(root.dataset.runEvents, (event) => {
      const now = JSON.parse(event.data);
      const state = root.querySelector("[data-running] .tag");
      state.textContent = now.state;
      root.querySelector("[data-now]").hidden = !now.running;
      root.querySelector("[data-stop]").hidden = !now.can_stop;
      root.querySelector("[data-goes-on]").hidden = now.state !== "stopping";
      for (const name of ["part", "step", "left"]) setText(root, `[data-${name}]`, now[name]);
      for (const log of root.querySelectorAll("[data-log]")) {
        const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
        log.textContent = now.log.join("\n");
        if (atEnd) log.scrollTop = log.scrollHeight;
      }
      state.className = `tag ${now.running ? "warn" : "plain"}`;
      if (now.tasks.length) root.querySelector("[data-tasks]").replaceChildren(...now.tasks.map(line));
      if (now.result !== root.dataset.result) {
        root.dataset.result = now.result;
        renew();
      }
    });
  }

  for (const form of document.querySelectorAll("[data-import]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const message = form.querySelector("[data-import-message]");
      try {
        const answer = await fetch(form.dataset.import, {
          method: "POST",
          headers: { "content-type": "text/csv", "x-csrf-token": csrf() },
          body: form.querySelector("input[type=file]").files[0],
        });
        const kind = answer.headers.get("content-type") ?? "";
        message.textContent = kind.includes("json") ? (await answer.json()).message : await answer.text();
        if (answer.ok) document.dispatchEvent(new Event("fireassay:answered"));
      } catch {
        message.textContent = "The server does not answer. Nothing was kept.";
      }
    });
  }
})();
