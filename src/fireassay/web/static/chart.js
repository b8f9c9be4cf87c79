"use strict";
// Small charts drawn from data-chart: lines with bands, points, intervals. Point at them, drag to
// zoom, or use the arrow keys, + - and 0. The same numbers are in the tables of the page.
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const MARGIN = { left: 52, right: 14, top: 10, bottom: 40 };

  function make(name, attributes, parent, text) {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent?.append(element);
    return element;
  }

  const short = (number) => (number === null || number === undefined ? "∞" : Number(number.toPrecision(4)).toString());

  function ticks(low, high, count) {
    const rough = (high - low) / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
    const found = [];
    for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) found.push(Number(t.toPrecision(12)));
    return found;
  }

  function range(values, zero) {
    let low = Infinity, high = -Infinity;
    for (const v of values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
    if (low > high) return [0, 1];
    if (zero) low = Math.min(0, low);
    const pad = (high - low || Math.abs(high) || 1) * 0.06;
    return [zero && low === 0 ? 0 : low - pad, high + pad];
  }

  // Everything becomes points {x, y, text} to point at, plus lines, bands and ranges to look at.
  function prepare(data, choice) {
    const scene = { points: [], lines: [], ranges: [], reference: data.reference, xLabel: data.x_label ?? "", yLabel: data.y_label ?? "", zero: data.y_zero };
    if (data.type === "intervals") {
      data.rows.forEach((row, i) => {
        scene.points.push({ x: row.value, y: i, text: `${row.name}\n${row.text}` });
        scene.ranges.push({ low: row.low, high: row.high, y: i });
      });
      scene.names = data.rows.map((row) => row.name);
      scene.x = range([0, 1, ...data.rows.flatMap((r) => [r.low, r.high])]);
      scene.x = [Math.max(-0.02, scene.x[0]), Math.min(1.02, scene.x[1])];
      scene.y = [data.rows.length - 0.5, -0.5];
      return scene;
    }
    if (data.type === "points") {
      const [cx, cy] = choice;
      data.values.forEach((row, i) => {
        if (row[cx] !== null && row[cy] !== null) scene.points.push({ x: row[cx], y: row[cy], text: data.texts[i] });
      });
      scene.dots = true;
      scene.xLabel = data.columns[cx];
      scene.yLabel = data.columns[cy];
    } else {
      for (const line of data.lines ?? []) {
        const one = [];
        line.x.forEach((x, i) => {
          const y = line.y[i];
          if (y === null) return;
          const band = line.low ? ` [${short(line.low[i])}, ${short(line.high[i])}]` : "";
          const point = { x, y, low: line.low?.[i], high: line.high?.[i], text: `${line.name}: ${short(y)}${band}\n${scene.xLabel}: ${short(x)}` };
          one.push(point);
          scene.points.push(point);
        });
        scene.lines.push({ points: one, band: Boolean(line.low) });
      }
    }
    scene.x = range(scene.points.map((p) => p.x));
    if (!scene.dots && scene.points.length > 1) {
      const xs = scene.points.map((p) => p.x);
      const least = xs.reduce((a, b) => Math.min(a, b)), most = xs.reduce((a, b) => Math.max(a, b));
      scene.x = [least - (most - least) * 0.02, most + (most - least) * 0.02];
    }
    const ys = scene.points.map((p) => p.y);
    const top = ys.reduce((a, b) => Math.max(a, b), scene.reference ? scene.reference.y * 1.5 : -Infinity);
    const highs = scene.points.map((p) => p.high).filter((h) => Number.isFinite(h) && h <= top * 4);
    scene.y = range([...ys, ...highs, ...(scene.reference ? [scene.reference.y] : [])], scene.zero);
    return scene;
  }

  function draw(figure) {
    const state = figure.fireassay;
    const { svg, tip } = state;
    const scene = state.scene;
    svg.replaceChildren();
    tip.hidden = true;
    const width = Math.max(220, svg.clientWidth || figure.clientWidth || 400);
    const named = scene.names ? Math.min(width * 0.42, Math.max(...scene.names.map((n) => n.length), 4) * 7 + 12) : 0;
    const height = scene.names ? scene.names.length * 26 + MARGIN.top + MARGIN.bottom : svg.clientHeight || 240;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("preserveAspectRatio", "none");
    if (scene.names) svg.style.height = `${height}px`;
    const left = scene.names ? named : MARGIN.left;
    const [x0, x1] = state.view?.x ?? scene.x;
    const [y0, y1] = state.view?.y ?? scene.y;
    const px = (x) => left + ((x - x0) / (x1 - x0 || 1)) * (width - left - MARGIN.right);
    const py = (y) => height - MARGIN.bottom - ((y - y0) / (y1 - y0 || 1)) * (height - MARGIN.top - MARGIN.bottom);
    Object.assign(state, { px, py, width, height, left, x0, x1, y0, y1 });
    const clip = `clip-${state.number}`;
    make("rect", { x: left, y: MARGIN.top, width: Math.max(1, width - left - MARGIN.right), height: Math.max(1, height - MARGIN.top - MARGIN.bottom) }, make("clipPath", { id: clip }, make("defs", {}, svg)));
    if (!scene.points.length) {
      make("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, svg, "Nothing to draw yet");
      return;
    }
    for (const t of ticks(x0, x1, (width - left) / 80)) {
      make("line", { class: "grid", x1: px(t), x2: px(t), y1: MARGIN.top, y2: height - MARGIN.bottom }, svg);
      make("text", { x: px(t), y: height - MARGIN.bottom + 16, "text-anchor": "middle" }, svg, short(t));
    }
    make("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, svg, scene.xLabel);
    if (scene.names) {
      scene.names.forEach((name, i) => {
        const most = Math.floor((named - 8) / 6.6);
        const label = make("text", { class: "name", x: named - 8, y: py(i) + 4, "text-anchor": "end" }, svg, name.length > most ? `${name.slice(0, most - 1)}…` : name);
        make("title", {}, label, name);
      });
    } else {
      for (const t of ticks(y0, y1, height / 60)) {
        make("line", { class: "grid", x1: left, x2: width - MARGIN.right, y1: py(t), y2: py(t) }, svg);
        make("text", { x: left - 6, y: py(t) + 4, "text-anchor": "end" }, svg, short(t));
      }
      const label = make("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(12 ${(height - MARGIN.bottom) / 2}) rotate(-90)` }, svg, scene.yLabel);
      label.setAttribute("class", "axis-label");
    }
    make("line", { class: "axis", x1: left, x2: width - MARGIN.right, y1: height - MARGIN.bottom, y2: height - MARGIN.bottom }, svg);
    const inside = make("g", { "clip-path": `url(#${clip})` }, svg);
    if (scene.reference) make("line", { class: "reference", x1: left, x2: width, y1: py(scene.reference.y), y2: py(scene.reference.y) }, inside);
    scene.lines.forEach((line, i) => {
      if (line.band && line.points.length > 1) {
        const upper = line.points.map((p) => `${px(p.x)},${p.high === null ? -10 : py(p.high)}`);
        const lower = line.points.map((p) => `${px(p.x)},${py(p.low ?? y0)}`).reverse();
        make("polygon", { class: "band", points: [...upper, ...lower].join(" ") }, inside);
      }
      make("polyline", { class: `line line${i % 4}`, points: line.points.map((p) => `${px(p.x)},${py(p.y)}`).join(" ") }, inside);
      if (line.points.length < 80) for (const p of line.points) make("circle", { class: "dot", cx: px(p.x), cy: py(p.y), r: 3 }, inside);
    });
    for (const r of scene.ranges) make("line", { class: "range", x1: px(r.low), x2: px(r.high), y1: py(r.y), y2: py(r.y) }, inside);
    if (scene.dots || scene.names) for (const p of scene.points) make("circle", { class: "dot", cx: px(p.x), cy: py(p.y), r: scene.names ? 5 : 4 }, inside);
    state.mark = make("circle", { class: "mark", r: 8, cx: -50, cy: -50 }, inside);
    state.brush = make("rect", { class: "brush", x: 0, y: MARGIN.top, width: 0, height: height - MARGIN.top - MARGIN.bottom }, inside);
  }

  function point(figure, index, speak) {
    const state = figure.fireassay;
    const p = state.scene.points[index];
    if (!p) return;
    state.index = index;
    const x = state.px(p.x), y = state.py(p.y);
    state.mark.setAttribute("cx", x);
    state.mark.setAttribute("cy", y);
    state.tip.textContent = p.text;
    state.tip.hidden = false;
    const drawn = state.svg.getBoundingClientRect();
    const top = drawn.top - figure.getBoundingClientRect().top;
    const right = (x / state.width) * drawn.width + 12;
    const above = (y / state.height) * drawn.height - state.tip.offsetHeight - 12;
    state.tip.style.left = `${Math.max(0, Math.min(right, figure.clientWidth - state.tip.offsetWidth - 4))}px`;
    state.tip.style.top = `${top + Math.max(0, above)}px`;
    if (speak) state.voice.textContent = p.text;
  }

  function nearest(figure, event) {
    const state = figure.fireassay;
    const box = state.svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * state.width;
    const y = ((event.clientY - box.top) / box.height) * state.height;
    let best = -1, least = Infinity;
    state.scene.points.forEach((p, i) => {
      const dx = state.px(p.x) - x, dy = state.py(p.y) - y;
      const distance = state.scene.lines.length ? dx * dx + 0.05 * dy * dy : state.scene.names ? 0.02 * dx * dx + dy * dy : dx * dx + dy * dy;
      if (distance < least) { least = distance; best = i; }
    });
    return { best, x };
  }

  function zoom(figure, factor, middle) {
    const state = figure.fireassay;
    const at = middle ?? (state.x0 + state.x1) / 2;
    state.view = { x: [at - (at - state.x0) * factor, at + (state.x1 - at) * factor] };
    draw(figure);
  }

  function reset(figure) {
    figure.fireassay.view = null;
    draw(figure);
  }

  let number = 0;
  function build(figure) {
    const state = { number: (number += 1), choice: [0, 1] };
    figure.fireassay = state;
    const caption = figure.querySelector("figcaption");
    const tools = document.createElement("div");
    tools.className = "chart-tools";
    const button = (text, label, action) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.setAttribute("aria-label", label);
      made.addEventListener("click", action);
      tools.append(made);
    };
    state.svg = make("svg", { role: "application", tabindex: "0", "aria-label": `${caption?.textContent ?? "Chart"}. Arrow keys go from point to point, plus and minus zoom, 0 shows all.` });
    state.tip = document.createElement("div");
    state.tip.className = "tip";
    state.tip.hidden = true;
    state.voice = document.createElement("p");
    state.voice.className = "skip-link";
    state.voice.setAttribute("aria-live", "polite");
    figure.prepend(state.svg);
    figure.append(tools, state.tip, state.voice);
    button("+", "Zoom in", () => zoom(figure, 0.6));
    button("−", "Zoom out", () => zoom(figure, 1 / 0.6));
    button("All", "Show all", () => reset(figure));
    let start = null;
    state.svg.addEventListener("pointerdown", (event) => { start = nearest(figure, event).x; });
    state.svg.addEventListener("pointermove", (event) => {
      if (!state.mark) return;
      const { best, x } = nearest(figure, event);
      point(figure, best);
      if (start !== null && state.brush && event.buttons) {
        state.brush.setAttribute("x", Math.min(start, x));
        state.brush.setAttribute("width", Math.abs(x - start));
      }
    });
    state.svg.addEventListener("pointerup", (event) => {
      const end = state.mark ? nearest(figure, event).x : null;
      if (start !== null && end !== null && Math.abs(end - start) > 12 && event.pointerType !== "touch") {
        const back = (x) => state.x0 + ((x - state.left) / (state.width - state.left - MARGIN.right)) * (state.x1 - state.x0);
        state.view = { x: [back(Math.min(start, end)), back(Math.max(start, end))] };
        draw(figure);
      }
      start = null;
    });
    state.svg.addEventListener("dblclick", () => reset(figure));
    state.svg.addEventListener("pointerleave", () => { state.tip.hidden = true; state.mark?.setAttribute("cx", -50); });
    state.svg.addEventListener("keydown", (event) => {
      const last = state.scene.points.length - 1;
      const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      if (event.key in moves) point(figure, Math.min(last, Math.max(0, (state.index ?? -1) + moves[event.key])), true);
      else if (event.key === "+" || event.key === "=") zoom(figure, 0.6);
      else if (event.key === "-") zoom(figure, 1 / 0.6);
      else if (event.key === "0") reset(figure);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    new ResizeObserver(() => {
      if (Math.abs((state.drawn ?? 0) - figure.clientWidth) > 2) {
        state.drawn = figure.clientWidth;
        if (state.scene) draw(figure);
      }
    }).observe(figure);
    return { state, tools };
  }

  function chooser(figure, data, tools) {
    const state = figure.fireassay;
    ["across", "up"].forEach((name, axis) => {
      const label = document.createElement("label");
      const select = document.createElement("select");
      data.columns.forEach((column, i) => select.append(new Option(column, i, false, i === state.choice[axis])));
      select.addEventListener("change", () => {
        state.choice[axis] = Number(select.value);
        state.scene = prepare(data, state.choice);
        reset(figure);
      });
      label.append(`${name} `, select);
      tools.append(label);
    });
  }

  window.fireassayChart = (figure, given) => {
    const data = given ?? JSON.parse(figure.dataset.chart);
    let state = figure.fireassay;
    if (!state) {
      const built = build(figure);
      state = built.state;
      if (data.type === "points") chooser(figure, data, built.tools);
    }
    state.scene = prepare(data, state.choice);
    draw(figure);
  };

  for (const figure of document.querySelectorAll("[data-chart]")) window.fireassayChart(figure);
})();
