'use strict';
// Updates the page with the status of the drive, every second.

const query = new URLSearchParams(location.search).get('token');
const path = (name) => '/api/' + name + (query ? '?token=' + encodeURIComponent(query) : '');
const element = (id) => document.getElementById(id);
const say = (id, text) => { element(id).textContent = text; };

const HISTORY = 900;
let history = [], status = null, blocks = null, names = [];

/** A size in bytes. */
function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit += 1; }
  return (unit ? value.toPrecision(3) : value) + ' ' + units[unit];
}

const factor = (value) => (value === null || value === undefined ? '-' : value.toFixed(3));
const grouped = (value) => Math.round(value).toLocaleString('en');
const microseconds = (value) => (value >= 1e3 ? short(value / 1e3) + ' ms' : short(value) + ' µs');

function showNow() {
  const { drive, latest } = status;
  say('ftl', drive.ftl + (drive.map ? ' · ' + drive.map.name : ''));
  say('about', [
    bytes(drive.logical_pages * drive.page_bytes),
    grouped(drive.blocks) + ' blocks of ' + grouped(drive.pages_per_block) + ' pages',
    status.emulated_latency && 'latency of ' + status.emulated_latency,
    status.recording && !status.recording.failure
      && grouped(status.recording.operations) + ' operations recorded to ' + status.recording.path,
    'serving for ' + grouped(latest.seconds) + ' s',
    'written by the host ' + bytes(status.host_bytes) + ', '
      + factor(status.media_bytes_per_host_byte) + ' media bytes per host byte',
    'metadata ' + bytes(drive.flash.metadata_bytes),
    drive.map && 'map in ' + bytes(drive.map.memory_bytes) + ' of memory, ' + short(drive.map.hits) + ' hits of '
      + short(drive.map.lookups),
  ].filter(Boolean).join(' · '));
  say('waf', factor(status.waf));
  say('running-waf', factor(latest.running_waf));
  say('host-writes', short(latest.host_writes));
  say('flash-writes', short(latest.flash_writes));
  say('write-p99', microseconds(latest.write_p99_us));
  say('write-p50', microseconds(latest.write_p50_us));
  say('free-blocks', grouped(drive.free_blocks));
  const { read_only, media_errors } = drive.health;
  const failure = status.recording && status.recording.failure;
  alarm([
    read_only && 'The drive is read-only: ' + read_only,
    media_errors && grouped(media_errors) + ' pages could not be read back.',
    failure && 'Recording has ended: ' + failure,
  ].filter(Boolean).join(' · '));
}

function alarm(text) {
  element('alarm').hidden = !text;
  say('alarm', text);
}

function showTables() {
  const { reads, writes, trims, flushes } = status.host;
  rows('requests', [['reads', reads], ['writes', writes], ['trims', trims], ['flushes', flushes]]
    .map(([name, all]) => [
      name, grouped(all.requests), bytes(all.bytes), grouped(all.failed),
      ...['p50_us', 'p90_us', 'p99_us', 'p999_us', 'max_us'].map((key) => microseconds(all.latency[key])),
    ]));
  const waf = (flash) => (flash.host_pages
    ? factor((flash.host_pages + flash.relocated_pages + flash.map_pages) / flash.host_pages) : '-');
  const row = (ftl, flash, behind) => [
    ftl, waf(flash), grouped(flash.relocated_pages), grouped(flash.erased_blocks), behind,
  ];
  rows('shadows', [row(status.drive.ftl + ' (this drive)', status.serving, '0'),
    ...status.shadows.map((shadow) =>
      row(shadow.ftl, shadow.flash, shadow.failure || grouped(shadow.behind)))]);
}

/** What each placement handle wrote and moved, if the drive has any. */
function showPlacement() {
  const { placement } = status;
  element('placement').hidden = !placement;
  if (!placement) return;
  rows('handles', placement.handles.map((handle, number) => [
    number + (handle.is_persistent ? ' (persistently isolated)' : ''),
    bytes(handle.host_bytes), bytes(handle.moved_bytes),
    handle.host_bytes ? factor(handle.media_bytes / handle.host_bytes) : '-',
    bytes(handle.erased_bytes), grouped(handle.units), bytes(handle.left_bytes),
  ]));
  say('handles-text', [
    'Reclaim units of ' + bytes(placement.unit_bytes)
      + (placement.shared_units ? ', ' + grouped(placement.shared_units) + ' of them with moved pages of several handles' : ''),
    grouped(placement.events) + ' events',
    ...placement.latest_events.map((event) => event.what + ', handle ' + event.handle + ', '
      + grouped(event.pages) + ' pages, after ' + grouped(event.host_pages) + ' host writes'),
  ].join(' · '));
}

/** Fills the body of a table. */
function rows(id, table) {
  element(id).replaceChildren(...table.map((cells) => {
    const row = document.createElement('tr');
    row.append(...cells.map((text) => {
      const cell = document.createElement('td');
      cell.textContent = text;
      return cell;
    }));
    return row;
  }));
}

function showCharts() {
  const times = history.map((sample) => sample.seconds);
  const line = (name, of) => ({ name, values: history.map(of) });
  lineChart('waf-chart', times, [
    line(status.drive.ftl, (sample) => sample.running_waf),
    ...status.shadows.map((shadow, index) =>
      line(shadow.ftl + ' (shadow)', (sample) => sample.shadow_wafs[index])),
  ], { floor: 1, styles: status.styles });
  lineChart('writes-chart', times, [
    line('host', (sample) => sample.host_writes),
    line('flash', (sample) => sample.flash_writes),
  ]);
  const some = (value) => value || null;
  lineChart('latency-chart', times, [
    line('write p50', (sample) => some(sample.write_p50_us)),
    line('write p99', (sample) => some(sample.write_p99_us)),
    line('read p99', (sample) => some(sample.read_p99_us)),
  ], { floor: 1, logarithmic: true, text: microseconds });
  lineChart('regions-chart', times, names.map((name, index) =>
    line(name, (sample) => sample.region_blocks[index] ?? 0)), { stacked: true });
}

/** Every block is a cell: its colour the region, filled as far as its pages are valid. */
function showMap() {
  const count = blocks.valid_pages.length;
  const width = element('map').clientWidth;
  const cell = Math.max(3, Math.min(16, Math.floor(Math.sqrt(width * 260 / count))));
  const columns = Math.max(1, Math.floor(width / cell));
  const { context } = canvas('map', Math.ceil(count / columns) * cell);
  const gap = cell > 4 ? 1 : 0;
  const colors = names.map((_, index) => color(index)), free = css('--free'), retired = css('--retired');
  const invalid = css('--invalid');
  for (let block = 0; block < count; block += 1) {
    const x = block % columns * cell, y = Math.floor(block / columns) * cell;
    const phase = blocks.phases[block];
    context.globalAlpha = 1;
    context.fillStyle = phase === 'r' ? retired : free;
    context.fillRect(x, y, cell - gap, cell - gap);
    if (phase === 'f' || phase === 'r') continue;
    // Filled from below by valid pages; what is above is invalid, or not written yet.
    const valid = (cell - gap) * blocks.valid_pages[block] / status.drive.pages_per_block;
    context.fillStyle = invalid;
    context.fillRect(x, y, cell - gap, cell - gap);
    context.fillStyle = colors[blocks.regions[block]] || colors[0];
    context.fillRect(x, y + cell - gap - valid, cell - gap, valid);
  }
  element('map-legend').replaceChildren(
    ...[...names.map((name, index) => [name, color(index)]), ['invalid', invalid], ['free', free], ['retired', retired]]
      .flatMap(([name, fill]) => {
        const swatch = document.createElement('i');
        swatch.style.background = fill;
        return [swatch, name];
      }));
  const erases = blocks.erases, sum = erases.reduce((all, one) => all + one, 0);
  say('map-text', 'Each block is filled with its colour as far as its pages are valid.');
  say('erases-text', 'Erased ' + short(sum / count) + ' times on average, minimum '
    + least(erases) + ', maximum ' + most(erases) + '.');
  bars('erases', erases);
}

function show() {
  if (!status) return;
  names = status.drive.regions.map((region) => region.name);
  showNow();
  showTables();
  showPlacement();
  showCharts();
  if (blocks && blocks.valid_pages.length) showMap();
}

async function ask(name) {
  const answer = await fetch(path(name));
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

function listen() {
  const events = new EventSource(path('events'));
  events.onmessage = async (event) => {
    status = JSON.parse(event.data);
    if (status.latest.seconds !== history.at(-1)?.seconds) history.push(status.latest);
    if (history.length > HISTORY) history.shift();
    if (document.hidden) return;
    // The map is as large as the drive: large ones are not updated every second.
    const every = Math.ceil(status.drive.blocks / 16384);
    if (!blocks || Math.round(status.latest.seconds) % every === 0) {
      blocks = await ask('blocks').catch(() => blocks);
    }
    show();
  };
  events.onerror = () => alarm('The drive is no longer served, or cannot be reached.');
}

window.addEventListener('resize', show);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
ask('history').then((samples) => { history = samples; listen(); })
  .catch((error) => alarm(error.message));
