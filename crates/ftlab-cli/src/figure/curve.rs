//! Write amplification over over-provisioning, as a figure.

use super::chart::{Axis, Line, line_figure};
use super::{Drawn, FigureSize, styles};
use crate::error::CliError;
use ftlab_experiments::curve::Curves;
use plotters::prelude::*;
use std::path::Path;

const SIZE: (u32, u32) = (960, 440);

/// Draws the curves, with intervals as bars.
pub(crate) fn write_curves(curves: &Curves, size: FigureSize, path: &Path) -> Result<(), CliError> {
    super::write(path, |svg| draw(curves, size.or(SIZE), svg))
}

fn draw(curves: &Curves, size: (u32, u32), svg: &mut String) -> Drawn {
    let all = || curves.curves.iter().flat_map(|curve| &curve.points);
    let op_max = all().map(|point| point.op_ratio).fold(0.0, f64::max);
    let top = all().map(|point| point.interval.map_or(point.waf, |ends| ends[1]));
    let top = top.fold(1.0, f64::max);
    let x = Axis::shares_of_another("over-provisioning, (physical - logical) / logical", op_max);
    let y = Axis::numbers("write amplification", 1.0..1.0 + 1.05 * (top - 1.0).max(0.01));
    let names: Vec<_> = curves.curves.iter().map(|curve| curve.ftl.as_str()).collect();
    let styled = curves.curves.iter().zip(styles(&names));
    let drawn = styled.clone().map(|(curve, (colour, is_dashed))| Line {
        label: curve.ftl.clone(),
        colour,
        is_dashed,
        points: curve.points.iter().map(|point| (point.op_ratio, point.waf)).collect(),
        extents: curve
            .points
            .iter()
            .filter_map(|point| point.interval.map(|[low, high]| (point.op_ratio, low, high)))
            .collect(),
    });
    line_figure(svg, size, &curves.workload, (&x, &y), drawn.collect(), |chart| {
        for (curve, (colour, _)) in styled {
            let points = curve.points.iter().map(|point| (point.op_ratio, point.waf));
            chart.draw_series(points.map(|at| Circle::new(at, 3, colour.filled())))?;
        }
        Ok(())
    })
}
