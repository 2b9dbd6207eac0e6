//! The running write amplification as a figure.

use super::chart::{Axis, Line, line_figure};
use super::{Drawn, FigureSize, styles};
use crate::error::CliError;
use ftlab_sim::format::grouped;
use ftlab_sim::result::Config;
use ftlab_sim::{ExperimentResult, Prepared};
use std::path::Path;

const SIZE: (u32, u32) = (960, 440);

/// Checks before a run whether its figure can be drawn and written.
pub(crate) fn check_figure(prepared: &Prepared, path: &Path) -> Result<(), CliError> {
    let Config { writes_max, interval_writes, .. } = prepared.config();
    if let Some(writes) = writes_max.filter(|writes| writes < interval_writes) {
        return Err(CliError::usage(no_interval(writes, *interval_writes)));
    }
    super::check(path)
}

/// Draws the running write amplification of every FTL against host writes, in drive writes.
pub(crate) fn write_figure(
    result: &ExperimentResult,
    size: FigureSize,
    path: &Path,
) -> Result<(), CliError> {
    if result.runs.iter().all(|run| run.running_waf.is_empty()) {
        let writes = result.runs.iter().map(|run| run.host_writes).max().unwrap_or(0);
        return Err(CliError::failure(no_interval(writes, result.config.interval_writes)));
    }
    super::write(path, |svg| draw(result, size.or(SIZE), svg))
}

fn no_interval(writes: u64, interval_writes: u64) -> String {
    format!(
        "the figure has no points: {} counted writes do not fill an interval of {}; give a smaller \
         --interval",
        grouped(writes),
        grouped(interval_writes)
    )
}

fn draw(result: &ExperimentResult, size: (u32, u32), svg: &mut String) -> Drawn {
    let drive_writes = |writes: u64| writes as f64 / f64::from(result.config.drive.logical_pages);
    let longest = result.runs.iter().map(|run| run.host_writes).max().unwrap_or(0);
    let top = result.runs.iter().flat_map(|run| &run.running_waf).fold(1.0_f64, |a, &b| a.max(b));
    let x =
        Axis::numbers("host writes, in sizes of the drive", 0.0..drive_writes(longest).max(1e-9));
    let y = Axis::numbers("write amplification", 1.0..1.0 + (top - 1.0).max(0.1) * 1.05);
    let names: Vec<_> = result.runs.iter().map(|run| run.ftl.as_str()).collect();
    let runs = result.runs.iter().zip(styles(&names)).map(|(run, (colour, is_dashed))| {
        let points = (1..)
            .zip(&run.running_waf)
            .map(|(interval, waf)| (drive_writes(interval * result.config.interval_writes), *waf));
        Line {
            label: run.ftl.clone(),
            colour,
            is_dashed,
            points: points.collect(),
            extents: Vec::new(),
        }
    });
    line_figure(svg, size, &result.config.workload, (&x, &y), runs.collect(), |_| Ok(()))
}
