"use strict";
// What the blocks hold, and what is moved: blocks by valid share, cold pages of sorted blocks, pages moved.

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

/** How valid blocks are, in classes of a fifth, from light to dark. */
ftlab.fullness = [
  ["0 to 20% valid", "#cfe1f2"],
  ["20 to 40%", "#93c0e4"],
  ["40 to 60%", "#4f94cd"],
  ["60 to 80%", "#2768a8"],
  ["80 to 100%", "#123f70"],
];

/** Runs that are shown and whose flash was watched. */
ftlab.watched = () => ftlab.runs.filter((run) => run.flash && run.isShown);

/** Blocks in use, and those of each bin of 5%, of all streams together. */
ftlab.blocksByValid = (frame) => {
  const bins = Array.from({ length: 20 }, (_, bin) => frame.blocks_by_valid_share.reduce((sum, stream) => sum + stream[bin], 0));
  return { bins, all: bins.reduce((sum, blocks) => sum + blocks, 0) };
};

/** The rows of the overview: of each FTL, the share of its blocks in each class. */
ftlab.fullnessRows = () =>
  ftlab.watched().map((run) => {
    const { bins, all } = ftlab.blocksByValid(ftlab.frameAt(run, ftlab.moment));
    const values = ftlab.fullness.map((_, fifth) => bins.slice(4 * fifth, 4 * fifth + 4).reduce((sum, blocks) => sum + blocks, 0) / Math.max(all, 1));
    return { name: run.ftl, values };
  });

/**
 * Blocks by valid share, divided by region: the shares of all blocks in use, on a scale up to `most`. A bar that is higher
 * says how high.
 */
ftlab.histogram = (run, frame, most, width) => {
  const streams = frame.blocks_by_valid_share;
  const { bins, all } = ftlab.blocksByValid(frame);
  const half = bins.slice(5, 15).reduce((sum, blocks) => sum + blocks, 0);
  const label = `${ftlab.percent(half / Math.max(all, 1))} of ${ftlab.grouped(all)} blocks in use are between a quarter and three quarters valid`;
  const yTicks = ftlab.niceTicks(0, most, 5).map((share) => [share / most, `${ftlab.digits(100 * share, 3)}%`]);
  const { svg, x, y } = ftlab.smallChart(label, { width, xText: "valid pages of the block", yText: "blocks in use", xTicks: ftlab.shareTicks, yTicks });
  bins.forEach((inBin, bin) => {
    const share = inBin / Math.max(all, 1);
    const scale = Math.min(1, most / share) / all / most;
    if (share > most) svg.append(ftlab.element("text", { x: x((bin + 1) / 20), y: y(1) - 5, "text-anchor": "end" }, `${ftlab.percent(share)} ↑`));
    let below = 0;
    streams.forEach((blocks, stream) => {
      if (blocks[bin] === 0) return;
      const [from, to] = [below, below + blocks[bin]].map((sum) => y(sum * scale));
      below += blocks[bin];
      const bar = { x: x(bin / 20) + 1, y: to, width: x(1 / 20) - x(0) - 2, height: from - to, fill: ftlab.streamColour(run, stream) };
      const title = `${run.streams[stream].name}, ${5 * bin}% to ${5 * bin + 5}% valid: ${ftlab.grouped(blocks[bin])} blocks`;
      svg.append(ftlab.element("rect", bar, ftlab.element("title", {}, title)));
    });
  });
  return { svg, label };
};

/** The greatest share of blocks in one bin, of the FTLs shown now; full blocks, which are often most, do not count. */
ftlab.mostInBin = () => {
  const shares = ftlab.watched().flatMap((run) => {
    const { bins, all } = ftlab.blocksByValid(ftlab.frameAt(run, ftlab.moment));
    return bins.slice(0, -1).map((blocks) => blocks / Math.max(all, 1));
  });
  return 1.1 * Math.max(0.01, ...shares);
};

ftlab.drawHistograms = () => {
  const most = ftlab.mostInBin();
  ftlab.fillPanels("utilisation", (run, width) => {
    const { svg, label } = ftlab.histogram(run, ftlab.frameAt(run, ftlab.moment), most, width);
    return [ftlab.streamKeys(run), svg, ftlab.element("p", { class: "reading" }, `${label}.`)];
  });
};

ftlab.setUpHistograms = () => {
  const rows = () => [
    ["FTL", "host writes", "region", "valid from", "valid to", "blocks"],
    ...ftlab.watched().flatMap((run) => {
      const frame = ftlab.frameAt(run, ftlab.moment);
      return frame.blocks_by_valid_share.flatMap((blocks, stream) =>
        blocks.map((count, bin) => [run.ftl, frame.host_writes, run.streams[stream].name, bin / 20, (bin + 1) / 20, count]),
      );
    }),
  ];
  ftlab.savePanels("utilisation", "blocks by valid share", (run) => ftlab.histogram(run, ftlab.frameAt(run, ftlab.moment), ftlab.mostInBin(), 380).svg, ftlab.streamLegend, rows);
  ftlab.drawFullness = ftlab.barChart("fullness", "how full blocks are", {
    keys: ftlab.fullness,
    rows: ftlab.fullnessRows,
    text: ftlab.percent,
    label: (rows) => rows.map(({ name, values }) => `${name}: ${values.map((share, fifth) => `${ftlab.percent(share)} ${ftlab.fullness[fifth][0]}`).join(", ")}`).join("; "),
  });
};

/** The menu above panels: they are saved side by side, with the legend `keys` of each. */
ftlab.savePanels = (id, title, draw, keys, rows) => {
  const place = document.getElementById(id);
  if (!place) return;
  const svg = () => ftlab.sheet(ftlab.watched().map((run) => ({ title: run.ftl, svg: ftlab.withLegend(draw(run), keys(run)) })));
  place.before(ftlab.saveMenu(id, title, { svg, rows }));
};

/** The names of a run's streams, for a legend. */
ftlab.streamLegend = (run) => run.streams.map((stream, index) => ({ name: stream.name, colour: ftlab.streamColour(run, index) }));

/** A drawing with a legend below it. */
ftlab.withLegend = (svg, keys) => {
  const [width, height] = ["width", "height"].map((of) => Number(svg.getAttribute(of)));
  const end = ftlab.legend(svg, keys, width, height + 8);
  svg.setAttribute("height", end);
  svg.setAttribute("viewBox", `0 0 ${width} ${end}`);
  return svg;
};

/** Five points in time at which blocks hold pages, later ones darker. */
ftlab.spreadMoments = (run) => {
  const { frames } = run.flash;
  const chosen = [...new Set([0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * (frames.length - 1))))];
  const moments = chosen.map((index) => frames[index]).filter((frame) => frame.cold_percentiles.length);
  return moments.map((frame, number) => ({
    frame,
    name: frame.host_writes === 0 ? "beginning" : ftlab.drives(frame.host_writes / ftlab.data.logical_pages),
    opacity: moments.length > 1 ? 0.3 + (0.7 * number) / (moments.length - 1) : 1,
  }));
};

/** Cold pages of blocks in ascending order. */
ftlab.spreadChart = (run, width) => {
  const moments = ftlab.spreadMoments(run);
  const last = moments.at(-1)?.frame;
  const label = last ? `At the end ${ftlab.coldText(last)}` : "No block held pages";
  const { svg, x, y } = ftlab.smallChart(label, { width, xText: "blocks, in ascending order", yText: "cold pages of the block", xTicks: ftlab.shareTicks, yTicks: ftlab.shareTicks });
  moments.forEach(({ frame, opacity }, number) => {
    const points = Array.from(frame.cold_percentiles, (byte, percent) => `${x(percent / 100).toFixed(1)},${y(byte / 255).toFixed(1)}`);
    const line = { d: `M${points.join("L")}`, fill: "none", stroke: "var(--cold)", "stroke-width": number === moments.length - 1 ? 3 : 1.75, "stroke-opacity": opacity };
    svg.append(ftlab.element("path", line, ftlab.element("title", {}, ftlab.afterWrites(frame.host_writes))));
  });
  const keys = moments.map(({ name, opacity }) =>
    ftlab.element("li", {}, ftlab.swatch(`color-mix(in srgb, var(--cold) ${Math.round(100 * opacity)}%, var(--card))`), name),
  );
  return { svg, label, keys: ftlab.element("ul", { class: "keys", "aria-label": "Moments" }, ...keys) };
};

ftlab.drawSpread = () =>
  ftlab.fillPanels("spread", (run, width) => {
    const { svg, label, keys } = ftlab.spreadChart(run, width);
    return [keys, svg, ftlab.element("p", { class: "reading" }, `${label}.`)];
  });

ftlab.setUpSpread = () => {
  const keys = (run) => ftlab.spreadMoments(run).map(({ name, opacity }) => ({ name, opacity, colour: ftlab.css("cold") }));
  const rows = () => [
    ["FTL", "host writes", "percentile of blocks", "cold share"],
    ...ftlab.watched().flatMap((run) => run.flash.frames.flatMap((frame) => Array.from(frame.cold_percentiles, (byte, percent) => [run.ftl, frame.host_writes, percent, (byte / 255).toFixed(4)]))),
  ];
  ftlab.savePanels("spread", "cold pages of blocks", (run) => ftlab.spreadChart(run, 380).svg, keys, rows);
};

/** Classes of pages moved, with their colours. */
ftlab.classes = [
  ["hot", "#d55e00"],
  ["warm", "#e69f00"],
  ["cold", "#56b4e9"],
  ["frozen", "#0072b2"],
  ["undecided", "#8c8c8c"],
];

ftlab.setUpMoves = () => {
  const rows = () =>
    ftlab.runs
      .filter((run) => run.moves && run.isShown)
      .map((run) => {
        const values = ftlab.classes.map(([name]) => run.moves[name] / run.host_writes);
        return { name: run.ftl, values, end: ftlab.digits(values.reduce((sum, value) => sum + value, 0), 4) };
      });
  const text = (value) => `${ftlab.digits(value, 3)} per host page`;
  const spoken = ({ name, values }) => `${name}, pages moved per host page: ${ftlab.classes.map(([of], index) => `${of} ${ftlab.digits(values[index], 3)}`).join(", ")}`;
  ftlab.barChart("moves-chart", "pages moved", { keys: ftlab.classes, rows, text, label: (rows) => rows.map(spoken).join("; ") });
};
