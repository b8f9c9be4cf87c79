"use strict";
// A figure in large: wheel, pinch, drag, or + - 0 and the arrow keys.
(() => {
  let dialog, image, scale, x, y;

  function draw() {
    image.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
  }

  function reset() {
    scale = 1; x = 0; y = 0;
    draw();
  }

  function zoom(factor, at) {
    const next = Math.min(40, Math.max(0.5, scale * factor));
    const real = next / scale;
    const box = image.parentElement.getBoundingClientRect();
    const px = (at ? at.clientX : box.left + box.width / 2) - image.getBoundingClientRect().left;
    const py = (at ? at.clientY : box.top + box.height / 2) - image.getBoundingClientRect().top;
    x -= px * (real - 1);
    y -= py * (real - 1);
    scale = next;
    draw();
  }

  function button(text, name, action) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", name);
    made.addEventListener("click", action);
    return made;
  }

  function build() {
    dialog = document.createElement("dialog");
    dialog.className = "viewer";
    const tools = document.createElement("div");
    const caption = document.createElement("span");
    const stage = document.createElement("div");
    tools.className = "viewer-tools";
    stage.className = "viewer-stage";
    image = document.createElement("img");
    image.draggable = false;
    tools.append(caption, button("+", "Larger", () => zoom(1.4)), button("−", "Smaller", () => zoom(1 / 1.4)),
      button("Fit", "Fit to the window", reset), button("Close", "Close", () => dialog.close()));
    stage.append(image);
    dialog.append(tools, stage);
    document.body.append(dialog);
    stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event);
    }, { passive: false });
    const fingers = new Map();
    stage.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, event);
      stage.setPointerCapture(event.pointerId);
    });
    stage.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      if (fingers.size === 1) {
        x += event.clientX - before.clientX;
        y += event.clientY - before.clientY;
        draw();
      } else {
        const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
        const length = (a) => Math.hypot(a.clientX - other.clientX, a.clientY - other.clientY);
        zoom(length(event) / Math.max(1, length(before)), other);
      }
      fingers.set(event.pointerId, event);
    });
    for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, (event) => fingers.delete(event.pointerId));
    dialog.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
      if (event.key === "+" || event.key === "=") zoom(1.4);
      else if (event.key === "-") zoom(1 / 1.4);
      else if (event.key === "0") reset();
      else if (moves[event.key]) { x += moves[event.key][0]; y += moves[event.key][1]; draw(); } else return;
      event.preventDefault();
    });
    return caption;
  }

  let caption;
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-zoom]");
    if (!opener) return;
    caption = caption ?? build();
    const source = opener.querySelector("img");
    image.src = source.src;
    image.alt = source.alt;
    caption.textContent = opener.closest("figure").querySelector("figcaption").textContent;
    reset();
    dialog.showModal();
  });
})();
