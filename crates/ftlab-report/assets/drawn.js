"use strict";
// Charts in SVG: the frame of small ones, bars that are divided, and what a line chart looks like in a file.

ftlab.small = { height: 200, left: 44, right: 16, top: 30, bottom: 40 };

/** An empty chart: its axes, and where shares and heights in 0..=1 lie. */
ftlab.smallChart = (label, { width, height = ftlab.small.height, left = ftlab.small.left, right = ftlab.small.right, xText, yText, xTicks, yTicks }) => {
  const { top, bottom } = ftlab.small;
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

/** Round numbers from `min` to `max`, about `count` of them; powers of ten on a logarithmic axis. */
ftlab.niceTicks = (min, max, count, isLogarithmic) => {
  if (isLogarithmic) {
    const [from, to] = [Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9)];
    return Array.from({ length: Math.max(to - from + 1, 0) }, (_, index) => 10 ** (from + index));
  }
  const rough = Math.max(max - min, 1e-12) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const first = Math.ceil(min / step - 1e-9);
  const ticks = Array.from({ length: Math.floor(max / step + 1e-9) - first + 1 }, (_, index) => (first + index) * step);
  return ticks.map((tick) => Number(tick.toPrecision(12)));
};

ftlab.textWidth = (text, font = "12px system-ui, sans-serif") => {
  ftlab.ruler ??= document.createElement("canvas").getContext("2d");
  ftlab.ruler.font = font;
  return ftlab.ruler.measureText(text).width;
};

/** A text, shortened to a width. */
ftlab.fitted = (text, width, font) => {
  if (ftlab.textWidth(text, font) <= width) return text;
  let end = text.length;
  while (end > 1 && ftlab.textWidth(`${text.slice(0, end)}…`, font) > width) end -= 1;
  return `${text.slice(0, end)}…`;
};

/** Names with their colours, in as many rows as they need, from `top` on; returns where they end. */
ftlab.legend = (svg, keys, width, top) => {
  let [left, line] = [0, top];
  for (const { name, colour, dash, opacity = 1 } of keys) {
    const wide = 30 + ftlab.textWidth(name) + 18;
    if (left > 0 && left + wide > width) [left, line] = [0, line + 18];
    const mark = dash
      ? ftlab.element("line", { x1: left, x2: left + 24, y1: line + 8, y2: line + 8, stroke: colour, "stroke-width": 2, "stroke-dasharray": dash.join(" ") || "none" })
      : ftlab.element("rect", { x: left + 6, y: line + 2, width: 12, height: 12, fill: colour, "fill-opacity": opacity });
    svg.append(mark, ftlab.element("text", { x: left + 30, y: line + 12 }, name));
    left += wide;
  }
  return line + 18;
};

/**
 * Lines `{name, colour, dash, xs, ys}` as a drawing. `x` and `y` have a label, the ends of the axis, a text for ticks, and
 * whether they are logarithmic.
 */
ftlab.linesSvg = (lines, { x, y }, width = 720) => {
  const space = (of) => (of.isLogarithmic ? Math.log10 : (number) => number);
  const place = (of) => (number) => (space(of)(number) - space(of)(of.min)) / (space(of)(of.max) - space(of)(of.min) || 1);
  const ticks = (of, count) => ftlab.niceTicks(of.min, of.max, count, of.isLogarithmic).map((tick) => [place(of)(tick), (of.tick ?? of.text)(tick)]);
  const yTicks = ticks(y, 6);
  const left = 16 + Math.max(...yTicks.map(([, text]) => ftlab.textWidth(text)));
  const chart = ftlab.smallChart("", { width, height: 360, left, xText: x.label, yText: y.label, xTicks: ticks(x, 7), yTicks });
  for (const { colour, dash, xs, ys } of lines) {
    const inside = xs.map((at, index) => [place(x)(at), place(y)(ys[index])]).filter(([at, high]) => at >= -1e-9 && at <= 1 + 1e-9 && Number.isFinite(high));
    const points = inside.map(([at, high]) => `${chart.x(at).toFixed(1)},${chart.y(Math.min(Math.max(high, 0), 1)).toFixed(1)}`);
    const line = { d: points.length ? `M${points.join("L")}` : "", fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash.join(" ") || "none" };
    chart.svg.append(ftlab.element("path", line));
  }
  const end = ftlab.legend(chart.svg, lines, width, 368);
  chart.svg.setAttribute("height", end);
  chart.svg.setAttribute("viewBox", `0 0 ${width} ${end}`);
  return chart.svg;
};

/** Where the rows of divided bars lie: names beside the bars, or above them where there is little room. */
ftlab.barLayout = (rows, width) => {
  const bold = "600 13px system-ui, sans-serif";
  const longest = Math.max(0, ...rows.map(({ name }) => ftlab.textWidth(name, bold)));
  const isNarrow = width < 560;
  const left = isNarrow ? 0 : Math.min(longest + 14, 0.3 * width);
  const ends = Math.max(0, ...rows.map(({ end }) => ftlab.textWidth(end ?? "") + 8));
  return { bold, left, room: width - left - ends, height: isNarrow ? 44 : 30, top: isNarrow ? 18 : 0, nameRoom: isNarrow ? width : left - 10 };
};

/**
 * Bars that are divided into parts: `keys` are `[name, colour]`, `rows` have a name, a value of each key, and a text for the
 * end. Bars of the greatest sum are as wide as there is room.
 */
ftlab.dividedBars = (label, keys, rows, { width, text }) => {
  const { bold, left, room, height, top, nameRoom } = ftlab.barLayout(rows, width);
  const sum = (row) => row.values.reduce((all, value) => all + value, 0);
  const most = Math.max(...rows.map(sum), 1e-9);
  const svg = ftlab.element("svg", { width, height: rows.length * height, viewBox: `0 0 ${width} ${rows.length * height}`, role: "img", "aria-label": label });
  rows.forEach((row, number) => {
    const y = number * height + top;
    const name = { class: "name", x: 0, y: top ? y - 4 : y + 16 };
    svg.append(ftlab.element("text", name, ftlab.fitted(row.name, nameRoom, bold), ftlab.element("title", {}, row.name)));
    let x = left;
    row.values.forEach((value, key) => {
      const wide = (room * value) / most;
      if (wide <= 0) return;
      const part = { class: "part", x: x.toFixed(2), y, width: wide.toFixed(2), height: 22, fill: keys[key][1] };
      svg.append(ftlab.element("rect", part, ftlab.element("title", {}, `${row.name}, ${keys[key][0]}: ${text(value)}`)));
      x += wide;
    });
    if (row.end !== undefined) svg.append(ftlab.element("text", { x: x + 6, y: y + 16 }, row.end));
  });
  return svg;
};

/** A chart of divided bars in the element `id`, drawn again when anything changes; `rows()` are those shown now. */
ftlab.barChart = (id, title, { keys, rows, text, label }) => {
  const place = document.getElementById(id);
  if (!place) return () => {};
  const colours = () => keys.map(([name, colour]) => [name, ftlab.css(colour)]);
  const items = keys.map(([name, colour]) => ftlab.element("li", {}, ftlab.swatch(colour), name));
  const drawn = ftlab.element("div");
  const svg = (width) => ftlab.dividedBars(label(rows()), colours(), rows(), { width, text });
  const withLegend = () => {
    const bars = svg(680);
    const tall = Number(bars.getAttribute("height"));
    const end = ftlab.legend(bars, colours().map(([name, colour]) => ({ name, colour })), 680, tall + 10);
    bars.setAttribute("height", end);
    bars.setAttribute("viewBox", `0 0 680 ${end}`);
    return bars;
  };
  const table = () => [["name", ...keys.map(([name]) => name)], ...rows().map((row) => [row.name, ...row.values])];
  const menu = ftlab.saveMenu(id, title, { svg: withLegend, rows: table });
  place.replaceChildren(ftlab.element("ul", { class: "keys", "aria-label": "Keys" }, ...items), drawn, menu);
  const draw = () => drawn.replaceChildren(svg(Math.max(drawn.clientWidth, 200)));
  let width = 0;
  new ResizeObserver(() => {
    if (drawn.clientWidth === width) return;
    width = drawn.clientWidth;
    draw();
  }).observe(drawn);
  ftlab.drawings.push(draw);
  return draw;
};
