"use strict";
// The sample browser by keys: j and k go from row to row, x chooses one, the pane follows. Every
// address stays one that can be opened again; without this script the links do the same.
(() => {
  const root = document.querySelector("[data-samples]");
  if (!root) return;
  const pane = root.querySelector("[data-pane]");
  const rows = [...root.querySelectorAll("[data-rows] [data-row]")];
  const memory = `fireassay:chosen:${root.dataset.run}`;
  const chosen = new Set(JSON.parse(sessionStorage.getItem(memory) ?? "[]"));
  let asked = 0;

  const fold = root.querySelector("[data-fold]");
  if (window.matchMedia("(max-width: 60rem)").matches) fold.open = false;

  function place() {
    return rows.findIndex((row) => row.hasAttribute("aria-current"));
  }

  async function near() {
    const box = pane.querySelector("[data-near]");
    if (!box) return;
    const mine = asked;
    const answer = await fetch(box.dataset.near);
    if (answer.ok && mine === asked) box.replaceChildren(...parsed(await answer.text()));
  }

  function parsed(text) {
    return new DOMParser().parseFromString(text, "text/html").body.childNodes;
  }

  async function look(number, focus) {
    asked += 1;
    const mine = asked;
    for (const row of rows) row.toggleAttribute("aria-current", false);
    const row = rows.find((one) => one.dataset.row === String(number));
    row?.setAttribute("aria-current", "true");
    row?.scrollIntoView({ block: "nearest" });
    if (focus) row?.querySelector("[data-row-link]").focus({ preventScroll: true });
    const address = new URL(window.location.href);
    address.searchParams.set("row", number);
    window.history.replaceState(null, "", address);
    const answer = await fetch(`${root.dataset.samples}/${number}`);
    if (!answer.ok || mine !== asked) return;
    pane.replaceChildren(...parsed(await answer.text()));
    pane.dataset.row = number;
    mark();
    near();
  }

  function close() {
    asked += 1;
    for (const row of rows) row.toggleAttribute("aria-current", false);
    pane.replaceChildren();
    delete pane.dataset.row;
    const address = new URL(window.location.href);
    address.searchParams.delete("row");
    window.history.replaceState(null, "", address);
  }

  function choose(number, yes) {
    if (yes) chosen.add(number);
    else chosen.delete(number);
    sessionStorage.setItem(memory, JSON.stringify([...chosen]));
    mark();
  }

  function mark() {
    for (const box of root.querySelectorAll("[data-choose]")) box.checked = chosen.has(box.dataset.choose);
    for (const row of rows) row.classList.toggle("chosen", chosen.has(row.dataset.row));
    for (const count of root.querySelectorAll("[data-chosen-count]")) count.textContent = chosen.size;
    for (const field of root.querySelectorAll("[data-chosen-rows]")) field.value = [...chosen].join(",");
    const some = root.querySelector("[data-which-chosen]");
    if (some) {
      some.disabled = !chosen.size;
      if (chosen.size) some.checked = true;
    }
  }

  root.addEventListener("change", (event) => {
    if (event.target.matches("[data-choose]")) choose(event.target.dataset.choose, event.target.checked);
  });
  root.addEventListener("submit", (event) => {
    if (event.target.closest("[data-queue-form]")) sessionStorage.removeItem(memory);
  });
  root.addEventListener("click", (event) => {
    const link = event.target.closest("[data-row-link]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    look(link.dataset.rowLink, false);
    if (window.matchMedia("(max-width: 60rem)").matches) pane.scrollIntoView();
  });
  root.addEventListener("toggle", async (event) => {
    const box = event.target;
    if (!box.matches?.("[data-facet]") || !box.open || box.dataset.read) return;
    box.dataset.read = "yes";
    const answer = await fetch(box.dataset.facet);
    if (answer.ok) box.querySelector("[data-facet-body]").replaceChildren(...parsed(await answer.text()));
  }, true);

  function turn(which) {
    root.querySelector(`.pages [rel=${which}]`)?.click();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input:not([type=checkbox], [type=radio]), select, textarea")) return;
    const at = place();
    if (event.key === "j" && at + 1 < rows.length) look(rows[at + 1].dataset.row, true);
    else if (event.key === "j") turn("next");
    else if (event.key === "k" && at > 0) look(rows[at - 1].dataset.row, true);
    else if (event.key === "k") turn("prev");
    else if (event.key === "x" && at >= 0) choose(rows[at].dataset.row, !chosen.has(rows[at].dataset.row));
    else if (event.key === "]") turn("next");
    else if (event.key === "[") turn("prev");
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });

  mark();
  near();
})();
