//! The flash at a few points in time: a cell per erase block, or per group of neighbours on large
//! drives.

use super::chart::Area;
use super::{COLOURS, Drawn};
use crate::error::CliError;
use ftlab_sim::ExperimentResult;
use ftlab_sim::format::significant;
use ftlab_sim::result::{FREE, Frame, Observed, RunResult};
use plotters::prelude::*;
use std::path::Path;

/// Points in time that are drawn for a run, evenly spaced from the beginning to the end.
const MOMENTS: i32 = 4;
const WIDTH: i32 = 960;
const MARGIN: i32 = 16;
/// Space between the pictures of a run, and above them for its name and their times.
const GAP: i32 = 16;
const TITLE: i32 = 50;
/// Space below all pictures, for the legend.
const KEY: i32 = 36;

const COLD: RGBColor = COLOURS[2];
const YOUNG: RGBColor = COLOURS[1];
const INVALID: RGBColor = RGBColor(222, 219, 211);
const EDGE: RGBColor = RGBColor(170, 166, 155);

/// Draws the flash of every FTL that was observed; an error if none was.
pub(crate) fn write_flash(result: &ExperimentResult, path: &Path) -> Result<(), CliError> {
    let watched = result.runs.iter().filter_map(|run| Some((run, run.observed.as_ref()?)));
    let watched: Vec<_> = watched.filter(|(_, observed)| !observed.frames.is_empty()).collect();
    if watched.is_empty() {
        return Err(CliError::failure(
            "the results have no pictures of the flash; make them with `ftlab run --out`",
        ));
    }
    let logical_pages = f64::from(result.config.drive.logical_pages);
    super::write(path, |svg| draw(&watched, logical_pages, svg))
}

fn draw(watched: &[(&RunResult, &Observed)], logical_pages: f64, svg: &mut String) -> Drawn {
    let most = watched.iter().map(|(_, seen)| seen.frames[0].region.0.len()).max().unwrap_or(1);
    let grid = Grid::new(most);
    let row = TITLE + grid.height + GAP;
    let below = MARGIN + row * i32::try_from(watched.len())?;
    let size = (WIDTH as u32, (below + KEY) as u32);
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    area.fill(&WHITE)?;
    for (number, (run, observed)) in (0..).zip(watched) {
        let top = MARGIN + number * row;
        area.draw(&Text::new(run.ftl.clone(), (MARGIN, top), ("sans-serif", 18)))?;
        for (place, frame) in (0..).zip(moments(&observed.frames)) {
            let corner = (MARGIN + place * (grid.width + GAP), top + TITLE);
            let after = significant(frame.host_writes as f64 / logical_pages, 3);
            let moment = format!("after {after} drive writes");
            let above = (corner.0, corner.1 - 20);
            area.draw(&Text::new(moment, above, ("sans-serif", 14)))?;
            draw_frame(&area, run, frame, corner, &grid)?;
        }
    }
    draw_key(&area, below)?;
    area.present()?;
    Ok(())
}

/// Frames at evenly spaced places, the first and the last among them.
fn moments(frames: &[Frame]) -> impl Iterator<Item = &Frame> {
    let drawn = frames.len().min(MOMENTS as usize);
    (0..drawn).map(move |number| &frames[number * (frames.len() - 1) / (drawn - 1).max(1)])
}

/// How cells lie in a picture, in pixels.
struct Grid {
    columns: i32,
    cell: f64,
    width: i32,
    height: i32,
}

impl Grid {
    /// A grid of this many cells, about as high as wide.
    fn new(cells: usize) -> Self {
        let width = (WIDTH - 2 * MARGIN - (MOMENTS - 1) * GAP) / MOMENTS;
        let columns = (cells as f64).sqrt().ceil().max(1.0) as i32;
        let cell = f64::from(width) / f64::from(columns);
        let rows = (cells as f64 / f64::from(columns)).ceil();
        Self { columns, cell, width, height: (rows * cell).ceil() as i32 }
    }

    /// The corners of the cell at a place, without the gap to its neighbours.
    fn corners(&self, place: i32, corner: (i32, i32)) -> [(i32, i32); 2] {
        let at = |line: i32| (f64::from(line) * self.cell).round() as i32;
        let gap = i32::from(self.cell >= 4.0);
        let (column, row) = (place % self.columns, place / self.columns);
        let from = (corner.0 + at(column), corner.1 + at(row));
        [from, (corner.0 + at(column + 1) - gap, corner.1 + at(row + 1) - gap)]
    }
}

/// Cells with their cold pages below, younger ones on them, and invalid ones on top. Blocks of cold
/// streams come first, then those with the most cold pages, as in the report.
fn draw_frame(
    area: &Area<'_>,
    run: &RunResult,
    frame: &Frame,
    corner: (i32, i32),
    grid: &Grid,
) -> Drawn {
    for (place, cell) in (0..).zip(cell_order(run, frame)) {
        let [from, to] = grid.corners(place, corner);
        if frame.region.0[cell] >= FREE {
            area.draw(&Rectangle::new([from, to], EDGE))?;
            continue;
        }
        let height = |share: u8| (f64::from(to.1 - from.1) * f64::from(share) / 255.0).round();
        let top = |share: u8| to.1 - height(share) as i32;
        let (valid, cold) = (top(frame.valid.0[cell]), top(frame.cold.0[cell]));
        for (above, below, colour) in
            [(from.1, valid, INVALID), (valid, cold, YOUNG), (cold, to.1, COLD)]
        {
            if above < below {
                let corners = [(from.0, above), (to.0, below)];
                area.draw(&Rectangle::new(corners, colour.filled()))?;
            }
        }
    }
    Ok(())
}

fn cell_order(run: &RunResult, frame: &Frame) -> Vec<usize> {
    let is_cold = |region: u8| run.streams.get(usize::from(region)).is_some_and(|s| s.cold);
    let mut cells: Vec<_> = (0..frame.region.0.len()).collect();
    cells.sort_by_key(|cell| {
        let region = frame.region.0[*cell];
        let (cold, valid) = (frame.cold.0[*cell], frame.valid.0[*cell]);
        (region >= FREE, !is_cold(region), region, 255 - cold, 255 - valid)
    });
    cells
}

fn draw_key(area: &Area<'_>, top: i32) -> Drawn {
    let keys = [
        (COLD.filled(), "cold pages"),
        (YOUNG.filled(), "younger valid pages"),
        (INVALID.filled(), "invalid or not programmed"),
        (EDGE.into(), "erased blocks"),
    ];
    for (place, (style, text)) in (0..).zip(keys) {
        let left = MARGIN + 200 * place;
        area.draw(&Rectangle::new([(left, top), (left + 14, top + 14)], style))?;
        area.draw(&Text::new(text, (left + 20, top), ("sans-serif", 14)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_sim::result::Bytes;

    #[test]
    fn cells_fill_a_picture_and_keep_apart() {
        for cells in [1, 2, 282, 4096] {
            let grid = Grid::new(cells as usize);
            let last = grid.corners(cells - 1, (0, 0));
            assert!(last[1].0 <= grid.width && last[1].1 <= grid.height, "{cells}");
            assert!(grid.height <= grid.width + 1, "{cells}");
            let [first, second] = [0, 1].map(|place| grid.corners(place, (0, 0)));
            assert!(first[0].0 < first[1].0 && first[0].1 < first[1].1, "{cells}");
            assert!(grid.columns == 1 || first[1].0 <= second[0].0, "{cells}");
        }
    }

    #[test]
    fn the_first_and_the_last_moment_are_drawn() {
        let frame = |host_writes| Frame {
            host_writes,
            region: Bytes::default(),
            valid: Bytes::default(),
            cold: Bytes::default(),
            blocks_by_valid_share: Vec::new(),
            cold_percentiles: Bytes::default(),
        };
        for (frames, drawn) in [(1, vec![0]), (2, vec![0, 1]), (65, vec![0, 21, 42, 64])] {
            let frames: Vec<_> = (0..frames).map(frame).collect();
            let found: Vec<_> = moments(&frames).map(|frame| frame.host_writes).collect();
            assert_eq!(found, drawn);
        }
    }
}
