//! The effect of more flash, as a figure.

use super::chart::{Axis, Line, line_figure};
use super::{Drawn, FigureSize, styles};
use crate::error::CliError;
use ftlab_experiments::advise::{Advice, Point, Target};
use ftlab_sim::format::percent;
use plotters::prelude::*;
use std::path::Path;

const SIZE: (u32, u32) = (960, 440);

/// Draws write amplification, or terabytes written, against over-provisioning.
pub(crate) fn write_trade_off(
    advice: &Advice,
    size: FigureSize,
    path: &Path,
) -> Result<(), CliError> {
    super::write(path, |svg| draw(advice, size.or(SIZE), svg))
}

pub(crate) fn trade_off_svg(advice: &Advice) -> Result<String, CliError> {
    let mut svg = String::new();
    draw(advice, SIZE, &mut svg)
        .map_err(|error| CliError::failure(format!("cannot draw the curves: {error}")))?;
    Ok(svg)
}

fn draw(advice: &Advice, size: (u32, u32), svg: &mut String) -> Drawn {
    let value = Point::value;
    let all = || advice.curves.iter().flat_map(|curve| &curve.points);
    let op_max = all().map(|point| point.op_ratio).fold(0.0, f64::max);
    let wanted = advice.target.map(|target| match target {
        Target::Waf(waf) => waf,
        Target::Endurance { tbw, .. } => tbw,
        Target::Response(slo) => slo.limit_ns / 1e6,
    });
    let top = all().map(value).chain(wanted).fold(0.0, f64::max);
    let is_waf = all().all(|point| point.tbw.is_none() && point.response_ns.is_none());
    let bottom = if is_waf { 1.0 } else { 0.0 };
    let label = match advice.target {
        Some(Target::Response(slo)) => format!("{}, in ms", slo.what()),
        _ if is_waf => "write amplification".to_owned(),
        _ => "terabytes written".to_owned(),
    };
    let x = Axis::shares_of_another("over-provisioning, (physical - logical) / logical", op_max);
    let y = Axis::numbers(&label, bottom..bottom + 1.05 * (top - bottom).max(1e-9));
    let names: Vec<_> = advice.curves.iter().map(|curve| curve.ftl.as_str()).collect();
    let curves = advice.curves.iter().zip(styles(&names));
    let mut drawn: Vec<Line> = curves
        .clone()
        .map(|(curve, (colour, is_dashed))| Line {
            label: match curve.needs {
                Some(point) => format!("{} ({})", curve.ftl, percent(point.op_ratio)),
                None => curve.ftl.clone(),
            },
            colour,
            is_dashed,
            points: curve.points.iter().map(|point| (point.op_ratio, value(point))).collect(),
            extents: Vec::new(),
        })
        .collect();
    drawn.extend(wanted.map(|wanted| Line {
        label: "target".into(),
        colour: BLACK,
        is_dashed: true,
        points: vec![(0.0, wanted), (op_max, wanted)],
        extents: Vec::new(),
    }));
    line_figure(svg, size, "", (&x, &y), drawn, |chart| {
        for (curve, (colour, _)) in curves {
            let needs = curve.needs.iter().map(|point| (point.op_ratio, value(point)));
            chart.draw_series(needs.map(|at| Circle::new(at, 5, colour.filled())))?;
        }
        Ok(())
    })
}
