//! A fleet as a figure: how write amplification is spread over volumes, as boxes and as shares of volumes.

use super::chart::{
    Area, Axis, Chart, Key, Line, chart, chart_with_labels, keys_height, lines, with_keys,
};
use super::{Drawn, styles};
use crate::error::CliError;
use ftlab_fleet::{FtlTotals, Row, Totals};
use ftlab_sim::format::percent;
use plotters::prelude::*;
use std::path::Path;

const WIDTH: u32 = 1080;
/// Height of a row of boxes, and of everything above and below the rows.
const ROW: u32 = 34;
const FRAME: u32 = 90;
/// Width of the names of FTLs.
const LABELS: u32 = 190;
/// Height of the charts of shares.
const SHARES: u32 = 380;

/// Draws how write amplification is spread.
pub(crate) fn write_fleet(totals: &Totals, rows: &[Row<'_>], path: &Path) -> Result<(), CliError> {
    super::write(path, |svg| draw(totals, rows, svg))
}

/// The drawing for a page; empty if there is nothing to draw.
pub(crate) fn fleet_svg(totals: &Totals, rows: &[Row<'_>]) -> Result<String, CliError> {
    let mut svg = String::new();
    if totals.ftls.iter().any(|of| of.waf.is_some()) {
        draw(totals, rows, &mut svg)
            .map_err(|error| CliError::failure(format!("cannot draw the fleet: {error}")))?;
    }
    Ok(svg)
}

/// The FTL of a row or line, with its over-provisioning if there are several.
fn name(of: &FtlTotals, has_ops: bool) -> String {
    let packed_by = of.packed_by.as_deref();
    let name = match packed_by {
        Some("alone") => format!("{}, alone", of.ftl),
        Some(order) => format!("{}, by {order}", of.ftl),
        None => of.ftl.clone(),
    };
    if has_ops { format!("{name}, {}", percent(of.op_ratio)) } else { name }
}

fn draw(totals: &Totals, rows: &[Row<'_>], svg: &mut String) -> Drawn {
    let has_ops =
        totals.ftls.iter().any(|of| of.op_ratio.total_cmp(&totals.ftls[0].op_ratio).is_ne());
    let known: Vec<_> = totals.ftls.iter().filter(|of| of.waf.is_some()).collect();
    let names: Vec<_> = known.iter().map(|of| name(of, has_ops)).collect();
    let wafs: Vec<_> = known.iter().map(|of| numbers(of, rows, |row| row.compared)).collect();
    let less: Vec<_> = known.iter().map(|of| numbers(of, rows, |row| row.reduction)).collect();
    let has_rivals = less.iter().any(|less| !less.is_empty());
    let style = styles(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let curves = |values: &[Vec<f64>]| {
        let all = values.iter().zip(&names).zip(&style);
        let lines = all.map(|((values, name), (colour, is_dashed))| Line {
            label: name.clone(),
            colour: *colour,
            is_dashed: *is_dashed,
            points: steps(values),
            extents: Vec::new(),
        });
        lines.filter(|line| !line.points.is_empty()).collect::<Vec<_>>()
    };
    let curves_of_wafs = curves(&wafs);
    let keys = Key::of(&curves_of_wafs);
    let boxes = FRAME + ROW * known.len() as u32;
    let height = boxes + SHARES + keys_height(WIDTH, &keys);
    let area = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    area.fill(&WHITE)?;
    let (above, below) = area.split_vertically(boxes);
    draw_boxes(&above, &known, &names)?;
    let below = with_keys(&below, &keys)?;
    let (left, right) = below.split_horizontally(if has_rivals { WIDTH / 2 } else { WIDTH });
    let top = wafs.iter().flatten().fold(1.1, |top: f64, waf| top.max(*waf));
    let x = Axis::numbers("write amplification of a volume", 1.0..1.0 + 1.03 * (top - 1.0));
    lines(&mut chart(&left, "", &x, &Axis::shares("volumes that have less"))?, curves_of_wafs)?;
    if has_rivals {
        let low = less.iter().flatten().fold(0.0, |low: f64, less| low.min(*less));
        let high = less.iter().flatten().fold(0.01, |high: f64, less| high.max(*less));
        let label = format!("less written than with {}", totals.baseline);
        let x = shares_between(&label, low, high);
        lines(&mut chart(&right, "", &x, &Axis::shares("volumes that save less"))?, curves(&less))?;
    }
    area.present()?;
    Ok(())
}

/// The values of the volumes that are compared, in ascending order.
fn numbers(of: &FtlTotals, rows: &[Row<'_>], value: impl Fn(&Row<'_>) -> Option<f64>) -> Vec<f64> {
    let is_own = |row: &&Row<'_>| {
        row.ftl == of.ftl
            && row.op_ratio.total_cmp(&of.op_ratio).is_eq()
            && row.order() == of.packed_by.as_deref()
    };
    let compared = rows.iter().filter(is_own).filter(|row| row.compared.is_some());
    let mut values: Vec<_> = compared.filter_map(value).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The share of the values that are smaller, at each of them.
fn steps(values: &[f64]) -> Vec<(f64, f64)> {
    let all = values.len() as f64;
    let ends = values.iter().enumerate();
    ends.flat_map(|(below, value)| {
        [(*value, below as f64 / all), (*value, (below + 1) as f64 / all)]
    })
    .collect()
}

/// Shares from below 0 to above it.
fn shares_between(label: &str, low: f64, high: f64) -> Axis {
    let step =
        [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].into_iter().find(|step| (high - low) / step <= 8.0);
    let step = step.unwrap_or(1.0);
    let (first, last) = ((low / step).floor() as i32, (high / step).ceil() as i32);
    let ticks =
        (first..=last).map(|tick| (f64::from(tick) * step, percent(f64::from(tick) * step)));
    Axis::new(label, f64::from(first) * step..f64::from(last) * step, ticks.collect())
}

/// A row for each FTL: from 5% to 95% of the volumes a line, from 25% to 75% a box, half a bar, all bytes a dot.
fn draw_boxes(area: &Area<'_>, known: &[&FtlTotals], names: &[String]) -> Drawn {
    let top = known.len() as f64;
    let rows = names.iter().rev().enumerate();
    let ticks = rows.map(|(row, name)| (row as f64 + 0.5, name.clone())).collect();
    let spreads = known.iter().filter_map(|of| of.waf);
    let all = known.iter().filter_map(|of| of.waf_of_all);
    let high = spreads.map(|waf| waf.quantiles[5]).chain(all).fold(1.1, f64::max);
    let label = "write amplification: 5% to 95% of the volumes (line), 25% to 75% (box), half (bar), all bytes (dot)";
    let x = Axis::numbers(label, 1.0..1.0 + 1.03 * (high - 1.0));
    let mut chart = chart_with_labels(LABELS, area, "", &x, &Axis::new("", 0.0..top, ticks))?;
    for (row, (of, (colour, _))) in
        known.iter().zip(styles(&names.iter().map(String::as_str).collect::<Vec<_>>())).enumerate()
    {
        draw_box(&mut chart, top - row as f64 - 0.5, of, colour)?;
    }
    Ok(())
}

fn draw_box(chart: &mut Chart<'_, '_>, y: f64, of: &FtlTotals, colour: RGBColor) -> Drawn {
    let Some(waf) = of.waf else { return Ok(()) };
    let [_, p5, p25, p50, p75, p95, _] = waf.quantiles;
    let line = colour.stroke_width(2);
    chart.draw_series([
        PathElement::new([(p5, y), (p25, y)], line),
        PathElement::new([(p75, y), (p95, y)], line),
    ])?;
    chart.draw_series([Rectangle::new(
        [(p25, y - 0.28), (p75, y + 0.28)],
        colour.mix(0.3).filled(),
    )])?;
    let bar = |x: f64| PathElement::new([(x, y - 0.28), (x, y + 0.28)], line);
    chart.draw_series([p5, p25, p75, p95].map(bar))?;
    let half = PathElement::new([(p50, y - 0.28), (p50, y + 0.28)], colour.stroke_width(4));
    chart.draw_series([half])?;
    chart.draw_series(of.waf_of_all.map(|all| Circle::new((all, y), 5, BLACK.filled())))?;
    Ok(())
}
