"use strict";
// Assembles the page of an inspection.

{
  const { digits } = ftlab;
  const share = (of) => ({ text: (value) => `${digits(100 * value, 3)}%`, ...of });
  const line = (name) => (run) => (run[name].length ? { xs: run[name].map(([x]) => x), ys: run[name].map(([, y]) => y) } : null);

  ftlab.setUpChips();
  ftlab.heatMaps(ftlab.runs);
  ftlab.skewChart(ftlab.runs);
  ftlab.lineChart("intervals", "Write intervals", line("intervals"), {
    x: { label: "page writes since the last of that page", text: (x) => ftlab.grouped(x), title: (x) => `${ftlab.grouped(x)} page writes or fewer`, isLogarithmic: true },
    y: share({ label: "share of write intervals", range: () => [0, 1] }),
  });
  ftlab.lineChart("frozen", "Frozen pages over time", line("frozen"), {
    x: share({ label: "page writes so far", title: (x) => `after ${digits(100 * x, 3)}% of the page writes` }),
    y: share({ label: "frozen, of the pages written so far", range: () => [0, 1] }),
  });
  ftlab.lineChart("footprint", "Pages that hold data over time", line("footprint"), {
    x: { label: "page writes, in sizes of the drive", text: (x) => digits(x, 4), title: (x) => `after ${ftlab.drives(x)}` },
    y: share({ label: "share of the drive that holds data", range: ftlab.from(0) }),
  });
  ftlab.lineChart("updates", "Pages by number of writes", line("updates"), {
    x: { label: "writes of a page", text: (x) => ftlab.grouped(x), title: (x) => `written ${ftlab.grouped(x)} times`, isLogarithmic: true },
    y: { label: "pages", text: (y) => ftlab.grouped(y), isLogarithmic: true },
  });
  const rows = (name) => () => ftlab.runs.filter((run) => run.isShown).flatMap((run) => run[name].map(([of, ...values]) => ({ name: ftlab.runs.length > 1 ? `${run.ftl}, ${of}` : of, values })));
  const spoken = (keys) => (rows) => rows.map(({ name, values }) => `${name}: ${values.map((value, key) => `${keys[key][0]} ${ftlab.percent(value)}`).join(", ")}`).join("; ");
  for (const [id, title, keys] of [
    ["temperature", "hot, warm and cold pages", ftlab.data.temperatures],
    ["sizes", "sizes of write requests", ftlab.data.sizes],
  ]) {
    ftlab.barChart(id, title, { keys, rows: rows(id), text: ftlab.percent, label: spoken(keys) });
  }
  ftlab.setUpTheme();
  ftlab.setUpCopy();
  ftlab.setUpContents();
}
