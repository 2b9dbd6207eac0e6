"use strict";
// Small charts in SVG: blocks by valid share, cold pages of sorted blocks, and bars of what is moved.

ftlab.small = { height: 200, left: 44, right: 16, top: 30, bottom: 40 };

/** A panel for each run that is shown, filled by `draw(run, width)` with elements once it has a width. */
ftlab.fillPanels = (id, draw) => {
  const place = document.getElementById(id);
  if (!place) return;
  const shown = ftlab.runs.filter((run) => run.flash && run.isShown);
  const panels = shown.map((run) => ftlab.element("div", { class: "panel" }, ftlab.element("h3", {}, run.ftl)));
  place.replaceChildren(...panels);
  panels.forEach((panel, index) => {
    const { paddingLeft, paddingRight } = getComputedStyle(panel);
    const width = panel.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    panel.append(...draw(shown[index], Math.max(width, 200)));
  });
};

/** An empty small chart: its axes, and where shares and heights in 0..=1 lie. */
ftlab.smallChart = (label, { width, xText, yText, xTicks, yTicks }) => {
  const { height, left, right, top, bottom } = ftlab.small;
  const x = (share) => left + share * (width - left - right);
  const y = (share) => height - bottom - share * (height - top - bottom);
  const text = (at, anchor, content, more = {}) => ftlab.element("text", { x: at[0], y: at[1], "text-anchor": anchor, ...more }, content);
  const svg = ftlab.element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const [share, tick] of yTicks) {
    svg.append(ftlab.element("line", { class: "grid", x1: x(0), x2: x(1), y1: y(share), y2: y(share) }));
    svg.append(text([left - 6, y(share) + 4], "end", tick));
  }
  for (const [share, tick] of xTicks) svg.append(text([x(share), height - bottom + 16], "middle", tick));
  svg.append(ftlab.element("line", { class: "axis", x1: x(0), x2: x(1), y1: y(0), y2: y(0) }));
  svg.append(text([x(0.5), height - 4], "middle", xText));
  svg.append(text([0, 12], "start", yText));
  return { svg, x, y };
};

ftlab.shareTicks = [0, 0.25, 0.5, 0.75, 1].map((share) => [share, ftlab.percent(share)]);

/** Blocks by valid share, a bar for each region in each bin; the scale of heights is logarithmic. */
ftlab.histogram = (run, frame, most, width) => {
  const bins = frame.blocks_by_valid_share;
  const inUse = bins.map((_, stream) => stream).filter((stream) => bins[stream].some((blocks) => blocks > 0));
  const half = bins.flatMap((blocks) => blocks.slice(5, 15)).reduce((sum, blocks) => sum + blocks, 0);
  const all = bins.flat().reduce((sum, blocks) => sum + blocks, 0);
  const label = `${ftlab.percent(half / Math.max(all, 1))} of ${ftlab.grouped(all)} blocks in use are between a quarter and three quarters valid`;
  // A single block has a height too.
  const top = Math.log10(2 * Math.max(most, 5));
  const height = (blocks) => Math.log10(2 * blocks) / top;
  const powers = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000].filter((blocks) => height(blocks) <= 1);
  const yTicks = powers.map((blocks) => [height(blocks), ftlab.grouped(blocks)]);
  const { svg, x, y } = ftlab.smallChart(label, { width, xText: "valid pages of the block", yText: "blocks", xTicks: ftlab.shareTicks, yTicks });
  inUse.forEach((stream, place) => {
    bins[stream].forEach((blocks, bin) => {
      if (blocks === 0) return;
      const wide = (x(1 / 20) - x(0) - 2) / inUse.length;
      const bar = { x: x(bin / 20) + 1 + place * wide, y: y(height(blocks)), width: wide, height: y(0) - y(height(blocks)), fill: ftlab.streamColour(run, stream) };
      const title = `${run.streams[stream].name}, ${5 * bin}% to ${5 * bin + 5}% valid: ${ftlab.grouped(blocks)} blocks`;
      svg.append(ftlab.element("rect", bar, ftlab.element("title", {}, title)));
    });
  });
  return { svg, label };
};

ftlab.drawHistograms = () => {
  const bins = ftlab.runs.filter((run) => run.flash).flatMap((run) => run.flash.frames.flatMap((frame) => frame.blocks_by_valid_share.flat()));
  const most = bins.reduce((a, b) => Math.max(a, b), 0);
  ftlab.fillPanels("utilisation", (run, width) => {
    const { svg, label } = ftlab.histogram(run, ftlab.frameAt(run, ftlab.moment), most, width);
    return [ftlab.streamKeys(run), svg, ftlab.element("p", { class: "reading" }, `${label}.`)];
  });
};

/** Cold pages of blocks in ascending order, at five points in time, later ones darker. */
ftlab.spreadChart = (run, width) => {
  const { frames } = run.flash;
  const chosen = [...new Set([0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * (frames.length - 1))))];
  const moments = chosen.map((index) => frames[index]).filter((frame) => frame.cold_percentiles.length);
  const last = moments.at(-1);
  const label = last ? `At the end ${ftlab.coldText(last)}` : "No block held pages";
  const { svg, x, y } = ftlab.smallChart(label, { width, xText: "blocks, in ascending order", yText: "cold pages of the block", xTicks: ftlab.shareTicks, yTicks: ftlab.shareTicks });
  moments.forEach((frame, number) => {
    const points = Array.from(frame.cold_percentiles, (byte, percent) => `${x(percent / 100).toFixed(1)},${y(byte / 255).toFixed(1)}`);
    const strength = moments.length > 1 ? 0.3 + (0.7 * number) / (moments.length - 1) : 1;
    const line = { d: `M${points.join("L")}`, fill: "none", stroke: "var(--cold)", "stroke-width": number === moments.length - 1 ? 3 : 1.75, "stroke-opacity": strength };
    svg.append(ftlab.element("path", line, ftlab.element("title", {}, ftlab.afterWrites(frame.host_writes))));
  });
  const keys = moments.map((frame, number) => {
    const strength = Math.round(100 * (moments.length > 1 ? 0.3 + (0.7 * number) / (moments.length - 1) : 1));
    const text = frame.host_writes === 0 ? "beginning" : ftlab.drives(frame.host_writes / ftlab.data.logical_pages);
    return ftlab.element("li", {}, ftlab.swatch(`color-mix(in srgb, var(--cold) ${strength}%, var(--card))`), text);
  });
  return { svg, label, keys: ftlab.element("ul", { class: "keys", "aria-label": "Moments" }, ...keys) };
};

ftlab.drawSpread = () =>
  ftlab.fillPanels("spread", (run, width) => {
    const { svg, label, keys } = ftlab.spreadChart(run, width);
    return [keys, svg, ftlab.element("p", { class: "reading" }, `${label}.`)];
  });

/** Classes of pages moved, with their colours. */
ftlab.classes = [
  ["hot", "#d55e00"],
  ["warm", "#e69f00"],
  ["cold", "#56b4e9"],
  ["frozen", "#0072b2"],
  ["undecided", "#8c8c8c"],
];

ftlab.drawMoves = () => {
  const place = document.getElementById("moves-chart");
  if (!place) return;
  const shown = ftlab.runs.filter((run) => run.moves && run.isShown);
  const perWrite = (run, name) => run.moves[name] / run.host_writes;
  const total = (run) => ftlab.classes.reduce((sum, [name]) => sum + perWrite(run, name), 0);
  const most = Math.max(...shown.map(total), 1e-9);
  const keys = ftlab.classes.map(([name, colour]) => ftlab.element("li", {}, ftlab.swatch(colour), name));
  const rows = shown.map((run) => {
    const parts = ftlab.classes.map(([name, colour]) => {
      const width = `${((78 * perWrite(run, name)) / most).toFixed(3)}%`;
      const title = `${name}: ${ftlab.digits(perWrite(run, name), 3)} per host page`;
      return ftlab.element("span", { style: `width:${width};background:${colour}`, title });
    });
    const spoken = ftlab.classes.map(([name]) => `${name} ${ftlab.digits(perWrite(run, name), 3)}`).join(", ");
    const bar = ftlab.element("div", { class: "bar", role: "img", "aria-label": `${run.ftl}, pages moved per host page: ${spoken}` }, ...parts);
    bar.append(ftlab.element("span", { class: "total", "aria-hidden": "true" }, ftlab.digits(total(run), 4)));
    return ftlab.element("div", { class: "bar-row" }, ftlab.element("div", { class: "name" }, run.ftl), bar);
  });
  place.replaceChildren(ftlab.element("ul", { class: "keys", "aria-label": "Classes of pages" }, ...keys), ...rows);
};
