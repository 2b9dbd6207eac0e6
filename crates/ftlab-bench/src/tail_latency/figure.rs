//! Complementary distributions of response times, both axes logarithmic.

use super::line::{FTLS, Line};
use crate::common::Failure;
use plotters::coord::Shift;
use plotters::prelude::*;

const SIZE: (u32, u32) = (1100, 520);

/// Colours that colour-blind readers can distinguish, also in print (Okabe and Ito, 2008), one per
/// FTL.
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 0, 0), RGBColor(213, 94, 0), RGBColor(0, 114, 178), RGBColor(0, 158, 115)];

/// The shortest response time that is drawn, in milliseconds.
const SHORTEST: f64 = 0.1;

/// Panels side by side; dashed lines for foreground collection, dotted ones for that in the
/// background, solid ones for that in steps.
pub(super) fn draw(panels: &[(String, Vec<Line>)]) -> Result<String, Failure> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        for (area, (caption, lines)) in area.split_evenly((1, panels.len())).iter().zip(panels) {
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
    for line in lines {
        let place = FTLS.iter().position(|ftl| *ftl == line.ftl).unwrap_or(0);
        let colour = COLOURS[place];
        let tail = line.tail(SHORTEST);
        // Length and distance of dashes.
        let dashes = match line.schedule {
            "foreground" => Some((7, 4)),
            "background" => Some((2, 3)),
            _ => None,
        };
        if let Some((length, distance)) = dashes {
            let style = colour.stroke_width(2);
            chart.draw_series(DashedLineSeries::new(tail, length, distance, style))?;
        } else {
            chart
                .draw_series(LineSeries::new(tail, colour.stroke_width(2)))?
                .label(line.ftl)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2))
                });
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.2))
        .label_font(("sans-serif", 14))
        .draw()?;
    Ok(())
}
