"use strict";
// The flash as a picture: one cell for each erase block.

/** The order in which cells are drawn. */
ftlab.cellOrder = (run, frame) => {
  const cells = Array.from(frame.region, (_, index) => index);
  if (document.querySelector("input[name=order]:checked").value === "flash") return cells;
  const rank = (cell) => {
    const region = frame.region[cell];
    if (region >= ftlab.FREE) return 1000 + region;
    return run.streams[region].cold ? region : 500 + region;
  };
  return cells.sort((a, b) => rank(a) - rank(b) || frame.cold[b] - frame.cold[a] || frame.valid[b] - frame.valid[a]);
};

/** Columns and the size of a cell, for a number of cells and the width of a picture. */
ftlab.grid = (cells, width) => {
  const wanted = Math.sqrt((width * width * 0.42) / cells);
  const columns = Math.max(1, Math.floor(width / Math.max(3, Math.min(28, wanted))));
  const size = width / columns;
  // Rows are further apart than columns, so that a strip visibly belongs to the cell below it.
  return { columns, size, row: size >= 9 ? 1.16 * size : size, rows: Math.ceil(cells / columns) };
};

/** The content of a cell, in words. */
ftlab.cellText = (run, frame, cell) => {
  const per = run.flash.blocks_per_cell;
  const last = Math.min((cell + 1) * per, ftlab.data.blocks) - 1;
  const name = per > 1 && last > cell * per ? `Blocks ${ftlab.grouped(cell * per)} to ${ftlab.grouped(last)}` : `Block ${ftlab.grouped(cell * per)}`;
  const region = frame.region[cell];
  if (region === ftlab.FREE) return { name, region: "erased", lines: [] };
  if (region === ftlab.RETIRED) return { name, region: "retired", lines: [] };
  const share = (bytes) => ftlab.percent(bytes[cell] / 255);
  return {
    name,
    region: run.streams[region].name,
    lines: [
      { name: "valid", value: share(frame.valid) },
      { name: "cold", value: share(frame.cold), colour: ftlab.css("cold") },
    ],
  };
};

/** The distribution of cold pages over blocks, in words. */
ftlab.coldText = (frame) => {
  const blocks = frame.cold_percentiles;
  const share = (is) => ftlab.percent(blocks.filter(is).length / Math.max(blocks.length, 1));
  const [none, all] = [share((cold) => cold < 26), share((cold) => cold >= 230)];
  const between = share((cold) => cold >= 26 && cold < 230);
  return `${all} of the blocks in use are almost entirely cold (at least 90%), ${none} hardly (below 10%), and ${between} partly`;
};

/** The content of a frame, in words. */
ftlab.frameText = (run, frame) => {
  const inUse = Array.from(frame.region).filter((region) => region < ftlab.FREE).length;
  const valid = frame.valid.reduce((total, byte) => total + byte, 0) / 255 / Math.max(inUse, 1);
  const valids = `${ftlab.percent(valid)} of the pages in use are valid.`;
  return frame.cold_percentiles.length ? `${valids} ${ftlab.coldText(frame)}.` : valids;
};

/** Draws all cells onto a canvas; the one that is chosen has a border. */
ftlab.drawCells = (canvas, run, frame, order, chosen) => {
  const width = canvas.clientWidth;
  const grid = ftlab.grid(order.length, width);
  const height = Math.ceil(grid.rows * grid.row);
  const scale = devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  ftlab.penCells(pen, grid, run, frame, order, chosen);
  return grid;
};

/** All cells as a drawing of its own. */
ftlab.cellsSvg = (run, width) => {
  const frame = ftlab.frameAt(run, ftlab.moment);
  const order = ftlab.cellOrder(run, frame);
  const grid = ftlab.grid(order.length, width);
  const svg = ftlab.element("svg", { width, height: Math.ceil(grid.rows * grid.row) });
  ftlab.penCells(ftlab.svgPen(svg), grid, run, frame, order, null);
  return svg;
};

ftlab.setUpCells = () => {
  const rows = () => [
    ["FTL", "host writes", "first block", "region", "valid share", "cold share"],
    ...ftlab.watched().flatMap((run) => {
      const frame = ftlab.frameAt(run, ftlab.moment);
      const name = (region) => ({ [ftlab.FREE]: "erased", [ftlab.RETIRED]: "retired" })[region] ?? run.streams[region].name;
      const share = (byte) => (byte / 255).toFixed(4);
      return Array.from(frame.region, (region, cell) => [run.ftl, frame.host_writes, cell * run.flash.blocks_per_cell, name(region), share(frame.valid[cell]), share(frame.cold[cell])]);
    }),
  ];
  const kinds = () => ["cold", "young", "invalid"].map((kind) => ({ name: kind === "invalid" ? "invalid pages" : `${kind} pages`, colour: ftlab.css(kind) }));
  const keys = (run) => [...kinds(), ...ftlab.streamLegend(run).map(({ name, colour }) => ({ name: `region ${name}`, colour }))];
  ftlab.savePanels("flash", "the picture of the flash", (run) => ftlab.cellsSvg(run, 380), keys, rows);
};

/** Draws all cells with a pen that fills and outlines rectangles. */
ftlab.penCells = (pen, { columns, size, row }, run, frame, order, chosen) => {
  const colours = Object.fromEntries(["cold", "young", "invalid", "edge", "text"].map((name) => [name, ftlab.css(name)]));
  const streams = run.streams.map((_, stream) => ftlab.streamColour(run, stream));
  const gap = size >= 8 ? 2 : size >= 5 ? 1 : 0.5;
  const strip = size >= 9 ? Math.max(2, Math.round(size * 0.16)) : 0;
  order.forEach((cell, place) => {
    const [x, y] = [(place % columns) * size, Math.floor(place / columns) * row];
    const side = size - gap;
    const region = frame.region[cell];
    if (region >= ftlab.FREE) {
      pen.strokeStyle = colours.edge;
      pen.lineWidth = 1;
      pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
      if (region === ftlab.RETIRED) {
        pen.fillStyle = colours.edge;
        pen.fillRect(x + side / 4, y + side / 4, side / 2, side / 2);
      }
    } else {
      const tall = side - (strip ? strip + 1 : 0);
      const top = y + side - tall;
      const [valid, cold] = [frame.valid[cell] / 255, frame.cold[cell] / 255];
      pen.fillStyle = colours.invalid;
      pen.fillRect(x, top, side, tall);
      pen.fillStyle = colours.young;
      pen.fillRect(x, top + tall * (1 - valid), side, tall * valid);
      pen.fillStyle = colours.cold;
      pen.fillRect(x, top + tall * (1 - cold), side, tall * cold);
      if (strip) {
        pen.fillStyle = streams[region];
        pen.fillRect(x, y, side, strip);
      }
    }
    if (place === chosen) {
      pen.strokeStyle = colours.text;
      pen.lineWidth = 2;
      pen.strokeRect(x, y, side, side);
    }
  });
};

/** The panel of one run; returns the function that draws it. */
ftlab.blockPanel = (run) => {
  const canvas = ftlab.element("canvas", { role: "img", tabindex: "0" });
  const reading = ftlab.element("p", { class: "reading", "aria-live": "polite" });
  const panel = ftlab.element("div", { class: "panel" }, ftlab.element("h3", {}, run.ftl), ftlab.streamKeys(run), canvas, reading);
  document.getElementById("flash").append(panel);
  let [frame, order, grid, chosen] = [null, [], { columns: 1, size: 1, row: 1 }, null];

  const draw = () => {
    panel.hidden = !run.isShown;
    if (!run.isShown || ftlab.moment === undefined) return;
    frame = ftlab.frameAt(run, ftlab.moment);
    order = ftlab.cellOrder(run, frame);
    grid = ftlab.drawCells(canvas, run, frame, order, chosen);
    const text = ftlab.frameText(run, frame);
    canvas.setAttribute("aria-label", `Erase blocks of ${run.ftl}, ${ftlab.afterWrites(frame.host_writes)}: ${text} Arrow keys read single blocks.`);
    reading.textContent = chosen === null ? text : spoken();
  };
  const spoken = () => {
    const { name, region, lines } = ftlab.cellText(run, frame, order[chosen]);
    return `${name}: ${[region, ...lines.map((line) => `${line.value} ${line.name}`)].join(", ")}.`;
  };
  canvas.addEventListener("pointermove", (event) => {
    const [column, row] = [Math.floor(event.offsetX / grid.size), Math.floor(event.offsetY / grid.row)];
    const place = row * grid.columns + column;
    if (!frame || column < 0 || column >= grid.columns || row < 0 || place >= order.length) return ftlab.tooltip(null);
    const { name, region, lines } = ftlab.cellText(run, frame, order[place]);
    ftlab.tooltip({ x: event.clientX, y: event.clientY }, name, [{ name: "region", value: region }, ...lines]);
  });
  canvas.addEventListener("pointerleave", () => ftlab.tooltip(null));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: grid.columns, ArrowUp: -grid.columns }[event.key];
    if (!step) return;
    event.preventDefault();
    const place = chosen === null ? 0 : chosen + step;
    if (place >= 0 && place < order.length) chosen = place;
    draw();
  });
  canvas.addEventListener("blur", () => {
    chosen = null;
    draw();
  });
  let width = 0;
  new ResizeObserver(() => {
    if (canvas.clientWidth === width) return;
    width = canvas.clientWidth;
    draw();
  }).observe(canvas);
  return draw;
};
