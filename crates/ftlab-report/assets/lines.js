"use strict";
// Line charts: uPlot, and what it lacks: the colours of the page, a tooltip, keys, and a text for screen readers.

/** Zooms to `[from, to]` of the x axis, kept within its ends. */
ftlab.zoom = (plot, from, to) => {
  const [first, last] = plot.ends;
  const span = Math.min(to - from, last - first);
  const start = Math.min(Math.max(from, first), last - span);
  plot.setScale("x", { min: start, max: start + span });
};

/** Arrows move the cursor or, with shift, the visible part; + and - zoom; 0 and Escape show all. */
ftlab.onKey = (plot, event, say) => {
  const { min, max } = plot.scales.x;
  const middle = (min + max) / 2;
  const xs = plot.data[0];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step && event.shiftKey) {
    ftlab.zoom(plot, min + (step * (max - min)) / 8, max + (step * (max - min)) / 8);
  } else if (step) {
    const index = Math.min(Math.max((plot.cursor.idx ?? (step > 0 ? -1 : xs.length)) + step, 0), xs.length - 1);
    if (xs[index] < min || xs[index] > max) ftlab.zoom(plot, xs[index] - (max - min) / 2, xs[index] + (max - min) / 2);
    plot.setCursor({ left: plot.valToPos(xs[index], "x"), top: plot.over.clientHeight / 3 });
    say(index);
  } else if (event.key === "+" || event.key === "=") {
    ftlab.zoom(plot, middle - (max - min) / 4, middle + (max - min) / 4);
  } else if (event.key === "-") {
    ftlab.zoom(plot, middle - (max - min), middle + (max - min));
  } else if (event.key === "0" || event.key === "Escape") {
    ftlab.zoom(plot, ...plot.ends);
  } else {
    return;
  }
  event.preventDefault();
};

/** The ends of an axis that begins at `low`. */
ftlab.from = (low) => (_, __, max) => [low, max > low ? low + 1.05 * (max - low) : low + 1];

/** Points of several lines, each with its own x values, as uPlot expects them: at all x values, null where a line has none. */
ftlab.join = (lines) => {
  const xs = [...new Set(lines.flatMap((line) => line.xs))].sort((a, b) => a - b);
  const place = new Map(xs.map((x, index) => [x, index]));
  const columns = lines.map((line) => {
    const column = new Array(xs.length).fill(null);
    line.xs.forEach((x, index) => (column[place.get(x)] = line.ys[index]));
    return column;
  });
  return [xs, ...columns];
};

/**
 * Draws `lines(run) -> {xs, ys}` of every FTL shown into the element `id`.
 * `axes` has labels, texts of values, and scales: `{x: {label, text, title}, y: {label, text, isLogarithmic, range}}`; and
 * other `runs` than those of the page, if they are others.
 */
ftlab.lineChart = (id, name, line, { x, y, runs: all = ftlab.runs }) => {
  const place = document.getElementById(id);
  if (!place) return;
  const runs = all.filter((run) => line(run));
  if (runs.length === 0) {
    place.append(ftlab.nothing());
    return;
  }
  const drawn = ftlab.element("div", { class: "plot", tabindex: "0", role: "group" });
  const spoken = ftlab.element("span", { "aria-live": "polite" });
  const whole = ftlab.element("button", { type: "button" }, "Show all");
  const help = ftlab.element("div", { class: "help" }, whole, "Drag or +/− to zoom, arrows to read.", spoken);
  const joined = ftlab.join(runs.map(line));
  let plot = null;
  const shown = () => runs.filter((run) => run.isShown);
  const svg = () => {
    const lines = shown().map((run) => ({ name: run.ftl, colour: ftlab.css(run.colour), dash: run.dash, ...line(run) }));
    const ends = (of, scale) => ({ ...of, min: scale.min, max: scale.max });
    return ftlab.linesSvg(lines, { x: ends(x, plot.scales.x), y: ends(y, plot.scales.y) });
  };
  const rows = () => [["name", x.label, y.label], ...shown().flatMap((run) => line(run).xs.map((at, index) => [run.ftl, at, line(run).ys[index]]))];
  help.append(ftlab.saveMenu(id, name, { svg, rows }));
  place.append(drawn, help);

  // Between two of its points, a line is read at the one before.
  const read = joined.slice(1).map((column) => {
    const end = column.findLastIndex((value) => value !== null);
    let last = null;
    return column.map((value, index) => (index > end ? null : (last = value ?? last)));
  });
  const values = (index) =>
    runs
      .map((run, number) => ({ run, value: read[number][index] }))
      .filter(({ run, value }) => run.isShown && value !== null && value !== undefined);
  const say = (index) => {
    const texts = values(index).map(({ run, value }) => `${run.ftl} ${y.text(value)}`);
    spoken.textContent = `${x.title(joined[0][index])}: ${texts.join(", ")}`;
  };
  const point = (plot) => {
    const { idx, left, top } = plot.cursor;
    if (idx === null || idx === undefined || left < 0) return ftlab.tooltip(null);
    const { x: offsetX, y: offsetY } = plot.over.getBoundingClientRect();
    const lines = values(idx)
      .sort((a, b) => b.value - a.value)
      .map(({ run, value }) => ({ run, name: run.ftl, value: y.text(value) }));
    ftlab.tooltip({ x: offsetX + left, y: offsetY + top }, x.title(joined[0][idx]), lines);
  };
  // On a logarithmic axis, only powers of ten have lines and labels.
  const isPower = (number) => Math.abs(Math.log10(number) - Math.round(Math.log10(number))) < 1e-9;
  const filter = (of) => (_, ticks) => ticks.map((tick) => (!of.isLogarithmic || isPower(tick) ? tick : null));
  // Labels keep clear of the widest tick.
  const sizeOf = (_, texts) => 22 + Math.max(14, ...(texts ?? []).map((text) => ftlab.textWidth(text)));
  const axis = (of, size) => ({
    label: of.label,
    labelSize: 22,
    labelFont: "13px system-ui, sans-serif",
    font: "12px system-ui, sans-serif",
    size,
    stroke: ftlab.css("quiet"),
    grid: { stroke: ftlab.css("line"), width: 1, filter: filter(of) },
    ticks: { stroke: ftlab.css("line"), width: 1, filter: filter(of) },
    filter: filter(of),
    values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : (of.tick ?? of.text)(tick))),
  });
  const draw = () => {
    const seen = plot ? { ...plot.scales.x } : null;
    plot?.destroy();
    plot = new uPlot(
      {
        width: Math.max(drawn.clientWidth, 200),
        height: Math.max(220, Math.min(340, drawn.clientWidth * 0.45)),
        // Half of the last label lies beyond the end of the axis.
        padding: [null, 32, null, null],
        legend: { show: false },
        cursor: { drag: { x: true, y: false }, points: { size: 7 } },
        scales: {
          x: { time: false, distr: x.isLogarithmic ? 3 : 1 },
          y: { distr: y.isLogarithmic ? 3 : 1, range: y.range },
        },
        axes: [axis(x, 38), axis(y, sizeOf)],
        series: [
          {},
          ...runs.map((run) => ({
            label: run.ftl,
            show: run.isShown,
            stroke: ftlab.css(run.colour),
            dash: run.dash,
            width: 2,
            spanGaps: true,
            points: { show: joined[0].length < 3 },
          })),
        ],
        hooks: { setCursor: [point] },
      },
      joined,
      drawn,
    );
    plot.ends = [joined[0][0], joined[0][joined[0].length - 1]];
    if (seen?.min !== undefined && seen.max > seen.min) plot.setScale("x", seen);
    drawn.setAttribute("aria-label", `${name}: ${shown().map((run) => `${run.ftl} ends at ${y.text(line(run).ys.at(-1))}`).join(", ")}`);
  };
  drawn.addEventListener("keydown", (event) => ftlab.onKey(plot, event, say));
  drawn.addEventListener("blur", () => ftlab.tooltip(null));
  whole.addEventListener("click", () => ftlab.zoom(plot, ...plot.ends));
  let width = drawn.clientWidth;
  new ResizeObserver(() => {
    if (drawn.clientWidth === width) return;
    width = drawn.clientWidth;
    draw();
  }).observe(drawn);
  ftlab.drawings.push(draw);
};
