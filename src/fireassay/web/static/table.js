"use strict";
// Tables that sort by a click on a column and filter by a word.
(() => {
  const MANY = 8;

  function value(cell) {
    const text = cell.dataset.value ?? cell.textContent.trim();
    const number = Number(text.replace("∞", "Infinity").replace("−", "-").replace(/ %$/, ""));
    return text !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
  }

  function compare(a, b) {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  }

  function sort(table, column, header) {
    const descending = header.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [value(row.cells[column]), row]);
    keyed.sort((x, y) => compare(x[0], y[0]) * (descending ? -1 : 1));
    body.append(...keyed.map((pair) => pair[1]));
  }

  function addFilter(table) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < MANY) return;
    const tools = document.createElement("div");
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("span");
    tools.className = "table-tools";
    input.type = "search";
    label.append("Show rows with ", input);
    count.setAttribute("role", "status");
    const apply = () => {
      const wanted = input.value.toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        if (!row.hidden) shown += 1;
      }
      count.textContent = `${shown} of ${rows.length} rows`;
    };
    input.addEventListener("input", apply);
    tools.append(label, count);
    apply();
    table.parentElement.before(tools);
  }

  for (const table of document.querySelectorAll("table[data-table]")) {
    if (!table.tHead) continue;
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement("button");
      const first = table.tBodies[0].rows[0];
      if (first?.cells[column]?.classList.contains("n")) header.classList.add("n");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sort(table, column, header));
    });
    addFilter(table);
  }
})();
