//! Legends, which are above their charts and never over the data.

use crate::common::Failure;
use ftlab_sim::colours::{PALETTE, styles};
use plotters::coord::Shift;
use plotters::prelude::*;

/// Pixels of a line of a legend, and between the beginnings of its keys.
const LINE: u32 = 30;
const KEY: i32 = 130;

/// The colours of FTLs, as everywhere.
pub(crate) fn colours_of<const N: usize>(ftls: [&str; N]) -> [RGBColor; N] {
    let styles = styles(&ftls);
    std::array::from_fn(|number| {
        let [red, green, blue] = PALETTE[styles[number].colour];
        RGBColor(red, green, blue)
    })
}

/// Draws what the lines are at the top of `area`; returns what is left.
pub(crate) fn above<'a>(
    area: &DrawingArea<SVGBackend<'a>, Shift>,
    names: &[&str],
    colours: &[RGBColor],
) -> Result<DrawingArea<SVGBackend<'a>, Shift>, Failure> {
    let (above, below) = area.split_vertically(LINE);
    let middle = LINE.cast_signed() / 2;
    for ((name, colour), left) in names.iter().zip(colours).zip((60..).step_by(KEY as usize)) {
        let line = [(left, middle), (left + 24, middle)];
        above.draw(&PathElement::new(line, colour.stroke_width(3)))?;
        above.draw(&Text::new(*name, (left + 32, middle - 7), ("sans-serif", 14)))?;
    }
    Ok(below)
}
