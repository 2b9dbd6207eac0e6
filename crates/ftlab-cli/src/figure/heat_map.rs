//! Where writes go over time, as a map of colours.

use super::Drawn;
use super::chart::{Area, Axis, Chart, chart, count_text};
use super::named::Named;
use ftlab_analysis::HeatMap;
use plotters::prelude::*;
use plotters::style::colors::colormaps::ViridisRGB;

/// Number of colours, not counting that of no writes; few, so that neighbours often share one.
const LEVELS: u64 = 12;

/// Share of the width that the legend takes, and the pixels that its texts need.
const LEGEND: f64 = 0.12;
const LEGEND_MIN: f64 = 100.0;

/// Lines of its texts, and the height of a colour where there is room.
const LINE: i32 = 16;
const COLOUR_MAX: i32 = 22;

/// Draws one map: addresses upwards, time to the right, the logarithm of the writes as colour.
pub(super) fn heat_map(area: &Area<'_>, workload: &Named<'_>) -> Drawn {
    let map = &workload.found.heat_map;
    let page_bytes = f64::from(workload.found.page_bytes);
    let width = f64::from(area.dim_in_pixel().0);
    let (left, right) = area.split_horizontally(width - (LEGEND * width).max(LEGEND_MIN));
    let writes = workload.found.page_writes as f64;
    let drive = workload.found.drive_pages.max(u64::from(map.rows)) as f64 * page_bytes;
    let used = (f64::from(map.rows) * map.row_pages as f64 * page_bytes).min(drive);
    let x = Axis::counts("page writes so far", writes / 1.02);
    let y = Axis::bytes("address", used);
    let mut chart = chart(&left, &workload.name, &x, &y)?;
    let most = map.columns.iter().flatten().copied().max().unwrap_or(0);
    let row_bytes = map.row_pages as f64 * page_bytes;
    for (number, column) in map.columns.iter().enumerate() {
        let from = number as f64 * map.column_writes as f64;
        let until = (from + map.column_writes as f64).min(writes);
        draw_column(&mut chart, column, most, from..until, (row_bytes, used))?;
    }
    legend(&right, map, most)
}

fn draw_column(
    chart: &mut Chart<'_, '_>,
    column: &[u64],
    most: u64,
    time: std::ops::Range<f64>,
    (row_bytes, end): (f64, f64),
) -> Drawn {
    let mut row = 0;
    // Neighbours of the same colour form one rectangle.
    for cells in column.chunk_by(|a, b| level(*a, most) == level(*b, most)) {
        let (from, until) = (row as f64 * row_bytes, (row + cells.len()) as f64 * row_bytes);
        row += cells.len();
        let level = level(cells[0], most);
        if level > 0 {
            let corners = [(time.start, from), (time.end, until.min(end))];
            chart.draw_series([Rectangle::new(corners, colour(level).filled())])?;
        }
    }
    Ok(())
}

/// 0 for no writes, 1 for one, and evenly on a logarithmic scale up to [`LEVELS`] for the most.
fn level(writes: u64, most: u64) -> u64 {
    match writes {
        0 => 0,
        _ if most <= 1 => LEVELS,
        _ => {
            let share = (writes as f64).ln() / (most as f64).ln();
            1 + ((LEVELS - 1) as f64 * share).round() as u64
        }
    }
}

/// The number of writes in the middle of a level.
fn writes_of(level: u64, most: u64) -> f64 {
    (most as f64).powf((level - 1) as f64 / (LEVELS - 1) as f64)
}

/// Light for few writes, dark for many.
fn colour(level: u64) -> RGBColor {
    ViridisRGB.get_color(1.0 - level as f32 / LEVELS as f32)
}

fn legend(area: &Area<'_>, map: &HeatMap, most: u64) -> Drawn {
    if most == 0 {
        return Ok(());
    }
    let text = ("sans-serif", 14).into_font();
    for (line, label) in (0..).zip(["page writes", "to a cell"]) {
        area.draw(&Text::new(label, (0, 24 + LINE * line), text.clone()))?;
    }
    let (mut above, mut free) = (String::new(), 0);
    let room = area.dim_in_pixel().1.cast_signed() - 64 - 4 * LINE - 24;
    let high = (room / LEVELS as i32).clamp(2, COLOUR_MAX);
    for (place, level) in (0..).zip((1..=LEVELS).rev()) {
        let top = 64 + high * place;
        area.draw(&Rectangle::new([(0, top), (20, top + high)], colour(level).filled()))?;
        let label = count_text(writes_of(level, most).round());
        let is_named = level % 2 == 1 || level == LEVELS;
        if is_named && label != above && top >= free {
            area.draw(&Text::new(label.clone(), (28, top + high / 2 - 7), text.clone()))?;
            (above, free) = (label, top + LINE);
        }
    }
    let cells = [
        format!("cells: {}", count_text(map.row_pages as f64)),
        "pages by".to_owned(),
        format!("{} writes", count_text(map.column_writes as f64)),
    ];
    for (line, label) in (0..).zip(cells) {
        let top = 64 + high * LEVELS as i32 + 22 + LINE * line;
        area.draw(&Text::new(label, (0, top), text.clone()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_logarithmic_and_complete() {
        assert_eq!([0, 1, 10, 1000].map(|writes| level(writes, 1000)), [0, 1, 5, LEVELS]);
        assert_eq!((level(1, 1), level(0, 0)), (LEVELS, 0));
        for number in 1..=LEVELS {
            assert_eq!(level(writes_of(number, 1_000_000).round() as u64, 1_000_000), number);
        }
    }
}
