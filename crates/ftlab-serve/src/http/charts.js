'use strict';
// Charts on canvases: lines over time, a map of cells, bars.

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const color = (index) => css('--c' + index % 7);

/** A canvas of `height` CSS pixels, cleared, in CSS pixels, as sharp as the screen. */
function canvas(id, height) {
  const element = document.getElementById(id);
  const width = element.clientWidth;
  const ratio = window.devicePixelRatio || 1;
  if (height) element.style.height = height + 'px';
  const high = height || element.clientHeight;
  element.width = Math.round(width * ratio);
  element.height = Math.round(high * ratio);
  const context = element.getContext('2d');
  context.scale(ratio, ratio);
  context.font = '11px system-ui, sans-serif';
  return { context, width, height: high };
}

/** A number in a few characters. */
function short(value) {
  if (value === null || value === undefined || !isFinite(value)) return '-';
  const size = Math.abs(value);
  if (size >= 1e9) return (value / 1e9).toPrecision(3) + ' G';
  if (size >= 1e6) return (value / 1e6).toPrecision(3) + ' M';
  if (size >= 1e4) return (value / 1e3).toPrecision(3) + ' k';
  if (size >= 100 || value === Math.round(value)) return String(Math.round(value));
  return value.toPrecision(3);
}

/** A step of 1, 2 or 5 times a power of ten that divides `span` into at most `parts`. */
function step(span, parts) {
  const rough = span / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough) || 10);
}

/**
 * Lines over time. `times` are seconds; each of `lines` has a name and values, null where there are none.
 * With `stacked`, areas lie on top of the previous ones. `floor` is the lowest value shown, `styles` the colour and the
 * dashes of each line, and `text` writes a value.
 */
function lineChart(
  id, times, lines, { stacked = false, floor = 0, logarithmic = false, styles = [], text = short } = {},
) {
  const { context, width, height } = canvas(id);
  const styleOf = (index) => styles[index] || { colour: index, dash: Math.floor(index / 7) };
  const legend = document.getElementById(id.replace('-chart', '-legend'));
  legend.replaceChildren(...lines.flatMap((line, index) => {
    const swatch = document.createElement('i');
    const { colour, dash } = styleOf(index);
    swatch.style.background = dash
      ? `repeating-linear-gradient(90deg, ${color(colour)} 0 4px, transparent 4px 6px)` : color(colour);
    return [swatch, line.name];
  }));
  let shown = lines.map((line) => line.values);
  if (stacked) {
    shown = shown.map((_, last) => times.map((_, time) =>
      shown.slice(0, last + 1).reduce((sum, values) => sum + (values[time] || 0), 0)));
  }
  const all = shown.flat().filter((value) => value !== null && value !== undefined);
  const scale = logarithmic ? (value) => Math.log10(Math.max(value, 1)) : (value) => value;
  const low = scale(floor);
  const high = Math.max(scale(Math.max(...all, floor)), low + (logarithmic ? 1 : 0.1)) * 1.05;
  const left = 44, bottom = 18, end = times.at(-1) || 0, start = Math.min(times[0] ?? 0, end - 60);
  const x = (time) => left + (width - left - 4) * (time - start) / (end - start || 1);
  const y = (value) => 4 + (height - bottom - 4) * (1 - (scale(value) - low) / (high - low));
  axes(context, { x, y, low, high, start, end, left, width, height, logarithmic, text });
  if (stacked) {
    // The highest first: each area is covered by those below it.
    for (let index = shown.length - 1; index >= 0; index -= 1) {
      context.fillStyle = color(styleOf(index).colour);
      context.beginPath();
      context.moveTo(x(times[0] ?? 0), y(low));
      shown[index].forEach((value, time) => context.lineTo(x(times[time]), y(value)));
      context.lineTo(x(end), y(low));
      context.fill();
    }
    return;
  }
  shown.forEach((values, index) => {
    const { colour, dash } = styleOf(index);
    context.strokeStyle = context.fillStyle = color(colour);
    context.lineWidth = 1.6;
    context.setLineDash(dash ? [6, 3 * dash] : []);
    context.beginPath();
    let isDown = false;
    values.forEach((value, time) => {
      if (value === null || value === undefined) { isDown = false; return; }
      context[isDown ? 'lineTo' : 'moveTo'](x(times[time]), y(value));
      isDown = true;
    });
    context.stroke();
  });
}

function axes(context, { x, y, low, high, start, end, left, width, height, logarithmic, text }) {
  context.fillStyle = css('--faint');
  context.strokeStyle = css('--line');
  context.lineWidth = 1;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const jump = logarithmic ? 1 : step(high - low, 4);
  for (let mark = Math.ceil(low / jump - 1e-9) * jump; mark <= high; mark += jump) {
    const value = logarithmic ? 10 ** mark : mark;
    context.beginPath();
    context.moveTo(left, y(value));
    context.lineTo(width - 4, y(value));
    context.stroke();
    context.fillText(text(Number(value.toPrecision(6))), left - 5, y(value));
  }
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  const seconds = [10, 20, 30, 60, 120, 300, 600].find((size) => (end - start) / size <= 5) || 3600;
  for (let back = 0; end - back >= start; back += seconds) {
    const at = Math.min(x(end - back), width - 14);
    context.fillText(back ? '-' + (seconds % 60 ? back + ' s' : back / 60 + ' min') : 'now', at, height - 4);
  }
}

// Not Math.min(...values): a call takes at most about 100,000 arguments.
const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

/** Bars: how many blocks have been erased so often. */
function bars(id, counts) {
  const { context, width, height } = canvas(id);
  const low = least(counts), range = most(counts) - low;
  const size = Math.max(1, Math.ceil((range + 1) / 40));
  const bins = new Array(Math.floor(range / size) + 1).fill(0);
  for (const count of counts) bins[Math.floor((count - low) / size)] += 1;
  const left = 44, bottom = 18, high = Math.max(...bins);
  const wide = (width - left - 4) / bins.length;
  context.fillStyle = css('--faint');
  context.textAlign = 'right';
  context.fillText(short(high), left - 5, 12);
  context.fillText('0', left - 5, height - bottom);
  context.textAlign = 'center';
  const every = Math.ceil(bins.length / 8);
  bins.forEach((bin, index) => {
    const tall = (height - bottom - 4) * bin / high;
    context.fillStyle = color(0);
    context.fillRect(left + index * wide, height - bottom - tall, Math.max(1, wide - 1), tall);
    if (index % every) return;
    context.fillStyle = css('--faint');
    context.fillText(short(low + index * size), left + (index + 0.5) * wide, height - 4);
  });
}
