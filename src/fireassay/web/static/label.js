"use strict";
// Labelling by keys. An answer is shown as saved only when the server says so; if the server is
// gone, the same answer is sent again (it counts once, whatever happens).
(() => {
  const task = document.querySelector("[data-task]");
  if (!task) return;
  const QUIET_MS = 120;
  let busy = false;

  function message(text, bad) {
    const element = task.querySelector("[data-message]");
    element.textContent = text;
    element.classList.toggle("bad", Boolean(bad));
  }

  async function send(form, fields) {
    const answer = await fetch(form.action, {
      method: "POST",
      headers: { "x-fragment": "task", "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields),
    });
    const text = await answer.text();
    if (answer.ok) return text;
    const page = new DOMParser().parseFromString(text, "text/html");
    const reason = page.querySelector("[data-error]")?.textContent ?? text;
    throw Object.assign(new Error(reason.trim()), { final: true });
  }

  async function submit(form, button) {
    if (busy) return;
    busy = true;
    const fields = new FormData(form);
    if (button?.name) fields.append(button.name, button.value);
    for (const one of task.querySelectorAll("button")) one.setAttribute("aria-disabled", "true");
    message("Saving …");
    for (let trial = 0; ; trial += 1) {
      try {
        show(await send(form, fields));
        break;
      } catch (error) {
        if (error.final) {
          message(`Not saved. ${error.message}`, true);
          for (const one of task.querySelectorAll("button")) one.removeAttribute("aria-disabled");
          break;
        }
        message("Not saved yet: the server does not answer. Trying again …", true);
        await new Promise((resolve) => setTimeout(resolve, Math.min(5000, 400 * 1.5 ** trial)));
      }
    }
    busy = false;
  }

  // Keys count once the item has been on the screen for a moment.
  function arm(delay) {
    delete task.dataset.ready;
    setTimeout(() => { task.dataset.ready = "yes"; }, delay);
  }

  // Whoever goes from button to button stays at the same one, instead of at the top of the page.
  function focus(key) {
    const same = [...task.querySelectorAll("button[data-key]")].find((one) => one.dataset.key === key);
    const place = same ?? task.querySelector("button");
    place?.focus({ preventScroll: true });
  }

  function show(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const focused = task.contains(document.activeElement) ? document.activeElement.dataset.key ?? "" : null;
    task.replaceChildren(...page.body.childNodes);
    if (focused !== null) focus(focused);
    const guidelines = task.querySelector("[data-guidelines]");
    if (guidelines) guidelines.open = guidelinesOpen;
    dress();
    for (const chart of task.querySelectorAll("[data-chart]")) window.fireassayChart?.(chart);
    arm(QUIET_MS);
    document.dispatchEvent(new Event("fireassay:answered"));
  }

  // Zoom and brightness stay from item to item; they change how a picture looks, never what is kept.
  const LOOKS = { "+": ["[data-zoom]", 1], "-": ["[data-zoom]", -1], ">": ["[data-brightness]", 4], "<": ["[data-brightness]", -4], "=": ["[data-zoom]", 0] };
  const look = { zoom: "1", brightness: "1" };

  function dress() {
    const stage = task.querySelector("[data-stage]");
    const picture = stage?.querySelector("img.item");
    if (!picture) return;
    for (const name of ["zoom", "brightness"]) {
      const slider = task.querySelector(`[data-${name}]`);
      if (slider) slider.value = look[name];
    }
    picture.style.filter = look.brightness === "1" ? "" : `brightness(${look.brightness})`;
    stage.style.setProperty("--zoom", look.zoom);
    stage.classList.toggle("zoomed", look.zoom !== "1");
  }

  function nudge(selector, steps) {
    if (!steps) Object.assign(look, { zoom: "1", brightness: "1" });
    else {
      const slider = task.querySelector(selector);
      slider.stepUp(steps);
      look[selector === "[data-zoom]" ? "zoom" : "brightness"] = slider.value;
    }
    dress();
  }

  task.addEventListener("input", (event) => {
    if (event.target.matches("[data-zoom]")) look.zoom = event.target.value;
    else if (event.target.matches("[data-brightness]")) look.brightness = event.target.value;
    else return;
    dress();
  });
  task.addEventListener("click", (event) => {
    if (event.target.closest("[data-look-reset]")) nudge("", 0);
  });
  let guidelinesOpen = true;
  task.addEventListener("toggle", (event) => {
    if (event.target.matches("[data-guidelines]")) guidelinesOpen = event.target.open;
  }, true);

  task.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(event.target, event.submitter);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.matches("input:not([type=range]), select, textarea")) {
      if (event.key === "Escape" || (event.key === "Enter" && event.target.matches("[data-comment]"))) {
        event.preventDefault();
        event.target.blur();
      }
      return;
    }
    if (event.target.closest("svg, dialog")) return;
    const key = event.key.toLowerCase();
    if (key === "p") {
      const sharp = task.querySelector("img.item")?.classList.contains("sharp");
      document.body.classList.toggle(sharp ? "smooth" : "pixels");
      return;
    }
    const step = LOOKS[event.key];
    if (step && task.querySelector(step[0])) {
      event.preventDefault();
      nudge(...step);
      return;
    }
    if (key === "m") {
      event.preventDefault();
      task.querySelector("[data-comment]")?.focus();
      return;
    }
    // A key pressed twice by mistake must not answer an item that nobody has seen.
    if (task.dataset.ready !== "yes") return;
    const button = [...task.querySelectorAll("button[data-key]")].find((one) => one.dataset.key === key);
    if (button) {
      event.preventDefault();
      submit(button.form, button);
    }
  });

  arm(0);
})();
