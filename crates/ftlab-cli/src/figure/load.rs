//! Load-latency curves, as a figure.

use super::chart::{Axis, Line, line_figure};
use super::{Drawn, FigureSize, styles};
use crate::error::CliError;
use ftlab_experiments::load::{LoadCurves, LoadPoint};
use std::path::Path;

const SIZE: (u32, u32) = (960, 440);

/// Draws the 99.9th percentile of reads, or of writes if nothing is read, against the load.
pub(crate) fn write_load(
    curves: &LoadCurves,
    size: FigureSize,
    path: &Path,
) -> Result<(), CliError> {
    super::write(path, |svg| draw(curves, size.or(SIZE), svg))
}

pub(crate) fn load_svg(curves: &LoadCurves) -> Result<String, CliError> {
    let mut svg = String::new();
    draw(curves, SIZE, &mut svg)
        .map_err(|error| CliError::failure(format!("cannot draw the curves: {error}")))?;
    Ok(svg)
}

fn draw(curves: &LoadCurves, size: (u32, u32), svg: &mut String) -> Drawn {
    let all = || curves.curves.iter().flat_map(|curve| &curve.points);
    let op =
        if all().any(|point| point.operations.contains_key("read")) { "read" } else { "write" };
    // Response times are in whole nanoseconds, and may be none.
    let power = |point: &LoadPoint| {
        let times = point.operations.get(op)?;
        Some((times.response_ns.p99_9.max(1) as f64 / 1e6).log10())
    };
    let powers: Vec<f64> = all().filter_map(power).collect();
    let low = powers.iter().copied().reduce(f64::min).unwrap_or(0.0).floor();
    let high = powers.iter().copied().reduce(f64::max).unwrap_or(0.0);
    let x = Axis::shares("load, as a share of what each FTL can do");
    let label = format!("99.9th percentile of {op}s, ms");
    let y = Axis::powers_of_ten(&label, low, 1.1 * 10_f64.powf(high));
    let names: Vec<_> = curves.curves.iter().map(|curve| curve.ftl.as_str()).collect();
    let drawn: Vec<Line> = curves
        .curves
        .iter()
        .zip(styles(&names))
        .map(|(curve, (colour, is_dashed))| Line {
            label: curve.ftl.clone(),
            colour,
            is_dashed,
            points: curve
                .points
                .iter()
                .filter_map(|point| Some((point.load, power(point)?)))
                .collect(),
            extents: Vec::new(),
        })
        .collect();
    line_figure(svg, size, "", (&x, &y), drawn, |_| Ok(()))
}
