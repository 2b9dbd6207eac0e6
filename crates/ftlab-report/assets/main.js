"use strict";
// Assembles the page.

{
  const { digits } = ftlab;
  const drives = { label: "host writes, in sizes of the drive", text: (x) => digits(x, 4), title: (x) => `after ${ftlab.drives(x)}` };
  const series = (name) => (run) => {
    const ys = run.series[name];
    return ys?.length ? { xs: run.series.drive_writes, ys } : null;
  };

  ftlab.setUpTables();
  ftlab.setUpChips();
  ftlab.lineChart("waf", "Write amplification over host writes", series("waf"), {
    x: drives,
    y: { label: "write amplification", text: (y) => digits(y, 4), range: ftlab.from(1) },
  });
  ftlab.lineChart("region", "Share of blocks in the cold region over host writes", series("cold_region"), {
    x: drives,
    y: { label: "blocks in the cold region", text: (y) => `${(100 * y).toFixed(1)}%`, tick: (y) => `${digits(100 * y, 3)}%`, range: ftlab.from(0) },
  });
  for (const [kind, plural] of [["read", "reads"], ["write", "writes"], ["trim", "trims"], ["flush", "flushes"]]) {
    const tail = (run) => {
      // A logarithmic axis has no place for those that took no time.
      const points = (run.kinds[kind]?.tail ?? []).filter(([ms, longer]) => ms > 0 && longer > 0);
      return points.length ? { xs: points.map(([ms]) => ms), ys: points.map(([, longer]) => longer) } : null;
    };
    ftlab.lineChart(`tail-${kind}`, `Share of ${plural} that take longer`, tail, {
      x: { label: "response time, ms", text: (x) => digits(x, 3), title: (x) => `${digits(x, 3)} ms`, isLogarithmic: true },
      y: { label: `${plural} that take longer`, text: (y) => `${digits(100 * y, 3)}%`, isLogarithmic: true },
    });
    const overTime = (run) => {
      const points = (run.kinds[kind]?.p99_9 ?? []).map((ms, index) => [run.series.drive_writes[index], ms]).filter(([, ms]) => ms !== null);
      return points.length ? { xs: points.map(([at]) => at), ys: points.map(([, ms]) => ms) } : null;
    };
    ftlab.lineChart(`over-time-${kind}`, `99.9th percentile of ${plural} over host writes`, overTime, {
      x: drives,
      y: { label: `p99.9 of ${plural}, ms`, text: (y) => `${digits(y, 4)} ms`, tick: (y) => digits(y, 3), range: ftlab.from(0) },
    });
  }
  ftlab.lineChart("response", "Mean response time over host writes", series("response"), {
    x: drives,
    y: { label: "mean response time, ms", text: (y) => `${digits(y, 4)} ms`, tick: (y) => digits(y, 3), range: ftlab.from(0) },
  });
  const erases = (run) => (run.erases?.length ? { xs: run.erases.map((_, percent) => percent / 100), ys: run.erases } : null);
  ftlab.lineChart("erases", "Erases of blocks, in ascending order", erases, {
    x: { label: "erase blocks, in ascending order", text: (x) => `${digits(100 * x, 3)}%`, title: (x) => `${digits(100 * x, 3)}% of the blocks have no more erases than` },
    y: { label: "erases of a block", text: (y) => ftlab.grouped(y), range: ftlab.from(0) },
  });

  const panels = ftlab.runs.filter((run) => run.flash).map(ftlab.blockPanel);
  ftlab.setUpCells();
  ftlab.setUpSpread();
  ftlab.setUpHistograms();
  ftlab.setUpMoves();
  ftlab.showMoment = () => {
    panels.forEach((draw) => draw());
    ftlab.drawFullness();
    ftlab.drawHistograms();
  };
  ftlab.setUpMoments();
  document.querySelectorAll("input[name=order]").forEach((choice) => choice.addEventListener("change", ftlab.showMoment));
  const perCell = ftlab.runs.find((run) => run.flash)?.flash.blocks_per_cell ?? 1;
  if (perCell > 1) document.getElementById("per-cell").textContent = ` (here for each ${perCell} neighbours)`;

  const { workload } = ftlab.data;
  const workloads = workload ? [{ ...workload, colour: "accent", dash: [], isShown: true }] : [];
  ftlab.heatMaps(workloads);
  ftlab.skewChart(workloads);

  ftlab.drawings.push(ftlab.drawSpread);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    ftlab.drawSpread();
    ftlab.drawHistograms();
  });
  ftlab.setUpTheme();
  ftlab.setUpCopy();
  ftlab.setUpContents();
}
