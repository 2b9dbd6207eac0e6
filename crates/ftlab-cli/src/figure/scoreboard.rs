//! The scoreboard as a figure: a row for every FTL, a dot for every cell.

use super::chart::{Area, Axis, Chart, chart_with_labels};
use super::{COLOURS, Drawn};
use crate::error::CliError;
use ftlab_experiments::compare::{RIVALS, Score, Scoreboard, short};
use ftlab_sim::format::{bytes, significant};
use plotters::prelude::*;
use std::path::Path;

const WIDTH: u32 = 1080;
/// Height of a row.
const ROW: u32 = 24;
/// Height of a line of the legend above the rows, and names in it.
const LEGEND_LINE: u32 = 20;
const LEGEND_NAMES: usize = 3;
/// Height of everything else above and below the rows.
const FRAME: u32 = 90;
/// Width of the names of FTLs, and of a letter of longer ones.
const LABELS: u32 = 170;
const LETTER: u32 = 8;
/// Width of the columns on the right.
const COLUMNS: u32 = 260;
/// Ratios that an axis marks if there is room.
const TICKS: [f64; 16] =
    [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 1.0, 1.5, 2.0, 5.0, 10.0, 20.0, 100.0, 1000.0];
/// Maximum number of marks.
const TICKS_MAX: f64 = 14.0;

/// Draws the scoreboard.
pub(crate) fn write_scoreboard(board: &Scoreboard, path: &Path) -> Result<(), CliError> {
    super::write(path, |svg| draw(board, svg))
}

fn draw(board: &Scoreboard, svg: &mut String) -> Drawn {
    let workloads = workloads(board);
    let legend = LEGEND_LINE * (1 + workloads.len().div_ceil(LEGEND_NAMES) as u32);
    let height = FRAME + legend + ROW * board.scores.len() as u32;
    let names_of = board.scores.iter().map(|score| LETTER * score.name().len() as u32);
    let labels = names_of.max().unwrap_or(0).max(LABELS);
    let width = WIDTH - LABELS + labels;
    let area = SVGBackend::with_string(svg, (width, height)).into_drawing_area();
    area.fill(&WHITE)?;
    let (above, below) = area.split_vertically(legend);
    let (plot, columns) = below.split_horizontally(width - COLUMNS);
    let mut rows = chart_with_labels(labels, &plot, "", &ratios(board), &names(board))?;
    let top = board.scores.len() as f64;
    rows.draw_series(LineSeries::new([(0.0, 0.0), (0.0, top)], BLACK.mix(0.4)))?;
    let mut lines = Vec::new();
    for (row, score) in board.scores.iter().enumerate() {
        let y = top - row as f64 - 0.5;
        draw_row(&mut rows, y, score, &workloads)?;
        lines.push(rows.plotting_area().map_coordinate(&(0.0, y)).1 - legend.cast_signed());
    }
    draw_columns(&columns, board, &lines)?;
    draw_legend(&above, &workloads)?;
    area.present()?;
    Ok(())
}

/// Logarithms of ratios, from the lowest cell to the highest.
fn ratios(board: &Scoreboard) -> Axis {
    let all = || board.scores.iter().flat_map(|score| score.relative_range);
    let low = all().fold(1.0, f64::min).ln() - 0.1;
    let high = all().fold(1.0, f64::max).ln() + 0.1;
    let far = (high - low) / TICKS_MAX;
    let mut ticks: Vec<(f64, String)> = Vec::new();
    for ratio in TICKS {
        let place = f64::ln(ratio);
        let is_free = ticks.last().is_none_or(|last| place - last.0 >= far);
        let is_one = place == 0.0;
        if (low..high).contains(&place) && (is_one || (is_free && place.abs() >= far)) {
            ticks.push((place, ratio.to_string()));
        }
    }
    let label =
        format!("(WAF - 1) relative to {}: cells (dots), geometric mean (bar)", reference(board));
    Axis::new(&label, low..high, ticks)
}

/// What FTLs are held against, in words.
fn reference(board: &Scoreboard) -> String {
    let of_rivals = board.baseline.iter().any(|ftl| ftl == RIVALS);
    let ftls = if of_rivals { "the best rival".into() } else { board.baseline.join(" or ") };
    if board.has_maps() { ftls + " with the same map" } else { ftls }
}

/// Names of FTLs, the best at the top.
fn names(board: &Scoreboard) -> Axis {
    let rows = board.scores.iter().rev().enumerate();
    let ticks = rows.map(|(row, score)| (row as f64 + 0.5, score.name())).collect();
    Axis::new("", 0.0..board.scores.len() as f64, ticks)
}

fn workloads(board: &Scoreboard) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for workload in board.scores.iter().flat_map(|score| &score.workloads) {
        if !names.contains(&workload.workload) {
            names.push(workload.workload.clone());
        }
    }
    names
}

/// The colour of a workload by its index.
fn colour(workload: &str, workloads: &[String]) -> RGBColor {
    let place = workloads.iter().position(|other| other == workload).unwrap_or(0);
    COLOURS[place % COLOURS.len()]
}

fn draw_row(chart: &mut Chart<'_, '_>, y: f64, score: &Score, workloads: &[String]) -> Drawn {
    let dots = score.by_cell.iter().map(|(cell, ratio)| {
        Circle::new((ratio.ln(), y), 3, colour(&cell.workload, workloads).mix(0.6).filled())
    });
    chart.draw_series(dots)?;
    let mean = score.relative.ln();
    let bar = PathElement::new([(mean, y - 0.4), (mean, y + 0.4)], BLACK.stroke_width(3));
    chart.draw_series([bar])?;
    Ok(())
}

/// Mean, metadata and time of every row, at these heights.
fn draw_columns(area: &Area<'_>, board: &Scoreboard, lines: &[i32]) -> Drawn {
    let text = ("sans-serif", 14).into_font();
    let row = |y: i32, columns: [String; 3]| {
        let places = [0, 60, 160].into_iter().zip(columns);
        places
            .into_iter()
            .try_for_each(|(x, column)| area.draw(&Text::new(column, (x, y - 7), text.clone())))
    };
    row(8, ["mean", "metadata", "ns per write"].map(str::to_owned))?;
    for (score, y) in board.scores.iter().zip(lines) {
        let time = significant(score.nanoseconds_per_host_write, 3);
        row(*y, [significant(score.relative, 3), bytes(score.metadata_bytes_max), time])?;
    }
    Ok(())
}

/// The colours of the workloads, three to a line.
fn draw_legend(area: &Area<'_>, workloads: &[String]) -> Drawn {
    let text = ("sans-serif", 14).into_font();
    for (y, names) in (0..).zip(workloads.chunks(LEGEND_NAMES)) {
        for (x, workload) in (0..).zip(names) {
            let (x, y) = (24 + 350 * x, 12 + LEGEND_LINE.cast_signed() * y);
            area.draw(&Circle::new((x, y + 6), 5, colour(workload, workloads).filled()))?;
            area.draw(&Text::new(short(workload), (x + 14, y), text.clone()))?;
        }
    }
    Ok(())
}
