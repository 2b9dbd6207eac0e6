//! Complementary distributions of response times, both axes logarithmic.

use super::line::{FTLS, Line};
use crate::common::Failure;
use crate::legend;
use plotters::coord::Shift;
use plotters::prelude::*;

const SIZE: (u32, u32) = (1100, 550);

/// The shortest response time that is drawn, in milliseconds.
const SHORTEST: f64 = 0.1;

/// Panels side by side; dashed lines for foreground collection, dotted ones for that in the
/// background, solid ones for that in steps.
pub(super) fn draw(panels: &[(String, Vec<Line>)]) -> Result<String, Failure> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let panels_area = legend::above(&area, &FTLS, &legend::colours_of(FTLS))?;
        for (area, (caption, lines)) in
            panels_area.split_evenly((1, panels.len())).iter().zip(panels)
        {
            panel(area, caption, lines)?;
        }
        area.present()?;
    }
    Ok(svg)
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    caption: &str,
    lines: &[Line],
) -> Result<(), Failure> {
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .caption(caption, ("sans-serif", 16))
        .build_cartesian_2d((SHORTEST..3000.0).log_scale(), (2e-8..1.0).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("response time, ms")
        .y_desc("share of host writes that take longer")
        .x_label_formatter(&|ms| format!("{ms}"))
        .y_label_formatter(&|share| format!("{share:.0e}"))
        .label_style(("sans-serif", 14))
        .draw()?;
    let colours = legend::colours_of(FTLS);
    for line in lines {
        let place = FTLS.iter().position(|ftl| *ftl == line.ftl).unwrap_or(0);
        let colour = colours[place];
        let tail = line.tail(SHORTEST);
        // Length and distance of dashes.
        let dashes = match line.schedule {
            "foreground" => Some((7, 4)),
            "background" => Some((2, 3)),
            _ => None,
        };
        let style = colour.stroke_width(2);
        if let Some((length, distance)) = dashes {
            chart.draw_series(DashedLineSeries::new(tail, length, distance, style))?;
        } else {
            chart.draw_series(LineSeries::new(tail, style))?;
        }
    }
    Ok(())
}
