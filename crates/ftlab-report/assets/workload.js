"use strict";
// Pictures of workloads: where they write over time, and how unequally.

/** Numbers of 7 bits a byte, the lowest first; the upper bit says that more follow. */
ftlab.numbers = (bytes) => {
  const numbers = [];
  let [number, factor] = [0, 1];
  for (const byte of bytes) {
    number += (byte & 127) * factor;
    factor *= 128;
    if (byte < 128) {
      numbers.push(number);
      [number, factor] = [0, 1];
    }
  }
  return numbers;
};

// Colours of few writes to many (viridis, Smith and van der Walt, 2015).
ftlab.heat = ["#fde725", "#aadc32", "#5ec962", "#27ad81", "#21918c", "#2c728e", "#3b528b", "#472d7b", "#440154"];

/** The colour of `share` in 0..=1 of the scale; what is most stands out from the background. */
ftlab.heatColour = (share) => {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
  const place = (isDark ? 1 - share : share) * (ftlab.heat.length - 1);
  const [from, to] = [Math.floor(place), Math.ceil(place)].map((index) => ftlab.heat[index].match(/[0-9a-f]{2}/g).map((part) => parseInt(part, 16)));
  return from.map((part, index) => Math.round(part + (to[index] - part) * (place - Math.floor(place))));
};

/** Where a number of writes lies on the scale up to `most`, which is logarithmic. */
ftlab.heatShare = (writes, most) => (most <= 1 ? 1 : Math.log(writes) / Math.log(most));

/** The cells of a map as a picture of one pixel each, which its place stretches. */
ftlab.heatPixels = ({ cells, rows, columns, most }) => {
  const canvas = ftlab.element("canvas", { width: columns, height: rows });
  const pen = canvas.getContext("2d");
  const pixels = pen.createImageData(columns, rows);
  cells.forEach((writes, index) => {
    if (writes === 0) return;
    const [column, row] = [Math.floor(index / rows), index % rows];
    pixels.data.set([...ftlab.heatColour(ftlab.heatShare(writes, most)), 255], 4 * ((rows - 1 - row) * columns + column));
  });
  pen.putImageData(pixels, 0, 0);
  return canvas.toDataURL();
};

ftlab.bytesText = (bytes) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const unit = bytes > 0 ? Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1) : 0;
  return `${ftlab.digits(bytes / 1024 ** unit, 3)} ${units[unit]}`;
};

/** A map with its axes and the scale of its colours. */
ftlab.heatChart = (map, width) => {
  const bytes = map.rows * map.row_bytes;
  // Steps of powers of two suit addresses.
  const step = 2 ** Math.ceil(Math.log2(bytes / 5));
  const yTicks = Array.from({ length: Math.floor(bytes / step) + 1 }, (_, index) => [(index * step) / bytes, ftlab.bytesText(index * step)]);
  const xTicks = ftlab.niceTicks(0, map.writes, width < 500 ? 3 : 6).map((writes) => [writes / map.span, ftlab.grouped(writes)]);
  const left = 16 + Math.max(...yTicks.map(([, text]) => ftlab.textWidth(text)));
  const most = ftlab.grouped(map.most);
  const right = 8 + ftlab.textWidth(ftlab.grouped(map.writes)) / 2;
  const height = Math.max(240, Math.min(420, 0.4 * width));
  const label = `Writes by address and time: up to ${ftlab.grouped(map.most)} page writes in a cell of ${ftlab.bytesText(map.row_bytes)} and ${ftlab.grouped(map.column_writes)} page writes`;
  const { svg, x, y } = ftlab.smallChart(label, { width, height: height + 26, left, right, xText: "page writes so far", yText: "address", xTicks, yTicks });
  const [top, bottom] = [y(1), y(0)];
  const picture = { x: x(0), y: top, width: x(1) - x(0), height: bottom - top, href: map.pixels(), preserveAspectRatio: "none", "image-rendering": "pixelated" };
  svg.append(ftlab.element("image", picture));
  const scale = { steps: 24, width: 120, x: width - 142 - ftlab.textWidth(most) };
  for (let step = 0; step < scale.steps; step += 1) {
    const fill = `rgb(${ftlab.heatColour(step / (scale.steps - 1)).join(" ")})`;
    svg.append(ftlab.element("rect", { x: scale.x + 16 + (step * scale.width) / scale.steps, y: 4, width: scale.width / scale.steps + 0.5, height: 10, fill }));
  }
  svg.append(ftlab.element("text", { x: scale.x + 10, y: 13, "text-anchor": "end" }, width < 420 ? "1" : "page writes to a cell: 1"));
  svg.append(ftlab.element("text", { x: scale.x + 22 + scale.width, y: 13 }, most));
  return { svg, label, place: { left: x(0), top, width: x(1) - x(0), height: bottom - top } };
};

/** The numbers of a map, as the page's data have them, and its picture. */
ftlab.decodeMap = (run) => {
  const cells = ftlab.numbers(ftlab.bytes(run.map.cells));
  const map = { ...run.map, cells, columns: cells.length / run.map.rows, most: cells.reduce((a, b) => Math.max(a, b), 0) };
  map.writes = cells.reduce((sum, writes) => sum + writes, 0);
  map.span = map.columns * map.column_writes;
  map.pixels = () => ftlab.heatPixels(map);
  return map;
};

/** What a point of a map shows, next to the pointer. */
ftlab.readMap = (svg, map, place) => {
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left - place.left) / place.width) * map.columns);
    const row = Math.floor((1 - (event.clientY - box.top - place.top) / place.height) * map.rows);
    if (column < 0 || row < 0 || column >= map.columns || row >= map.rows) return ftlab.tooltip(null);
    const from = ftlab.bytesText(row * map.row_bytes);
    const lines = [
      { name: "page writes", value: ftlab.grouped(map.cells[column * map.rows + row]) },
      { name: "from page write", value: ftlab.grouped(column * map.column_writes) },
    ];
    ftlab.tooltip({ x: event.clientX, y: event.clientY }, `${ftlab.bytesText(map.row_bytes)} from ${from}`, lines);
  });
  svg.addEventListener("pointerleave", () => ftlab.tooltip(null));
};

/** Maps of workloads, one below the other. */
ftlab.heatMaps = (workloads) => {
  const place = document.getElementById("heat-map");
  const mapped = workloads.filter((run) => run.map?.rows).map((run) => ({ run, map: ftlab.decodeMap(run) }));
  if (!place) return;
  if (mapped.length === 0) return place.append(ftlab.nothing());
  const shown = () => mapped.filter(({ run }) => run.isShown);
  const drawn = ftlab.element("div");
  const svg = () => ftlab.sheet(shown().map(({ run, map }) => ({ title: run.ftl, svg: ftlab.heatChart(map, 720).svg })));
  const rows = () => [
    ["name", "from address, bytes", "from page write", "page writes"],
    ...shown().flatMap(({ run, map }) => map.cells.flatMap((writes, index) => (writes ? [[run.ftl, (index % map.rows) * map.row_bytes, Math.floor(index / map.rows) * map.column_writes, writes]] : []))),
  ];
  place.append(drawn, ftlab.saveMenu("heat-map", "the heat map", { svg, rows }));
  let width = 0;
  const draw = () => {
    const charts = shown().map(({ run, map }) => {
      const chart = ftlab.heatChart(map, Math.max(drawn.clientWidth, 200));
      ftlab.readMap(chart.svg, map, chart.place);
      return ftlab.element("div", { class: "map" }, ...(mapped.length > 1 ? [ftlab.element("h3", {}, run.ftl)] : []), chart.svg);
    });
    drawn.replaceChildren(...charts);
  };
  new ResizeObserver(() => {
    if (drawn.clientWidth === width) return;
    width = drawn.clientWidth;
    draw();
  }).observe(drawn);
  ftlab.drawings.push(draw);
};

/** The share of the writes that the most-written pages take. */
ftlab.skewChart = (workloads) => {
  const even = { ftl: "all pages alike", colour: "quiet", dash: [2, 4], isShown: true };
  even.skew = (workloads.find((run) => run.skew?.length)?.skew ?? []).map(([pages]) => [pages, pages]);
  const line = (run) => (run.skew?.length ? { xs: run.skew.map(([pages]) => pages), ys: run.skew.map(([, writes]) => writes) } : null);
  const share = (of) => ({ text: (value) => `${ftlab.digits(100 * value, 3)}%`, ...of });
  ftlab.lineChart("skew", "Share of the page writes that go to the most-written pages", line, {
    x: share({ label: "pages written, the most-written first", title: (x) => `${ftlab.digits(100 * x, 3)}% of the pages written` }),
    y: share({ label: "share of page writes", range: () => [0, 1] }),
    runs: workloads.some(line) ? [...workloads, even] : [],
  });
};
