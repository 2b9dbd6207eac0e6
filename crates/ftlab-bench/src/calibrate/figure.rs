//! A captured and a generated workload in four panels.

use super::profile::SIZES;
use super::side::Side;
use crate::common::Failure;
use crate::legend;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::ops::Range;

const SIZE: (u32, u32) = (1000, 750);

const NAMES: [&str; 2] = ["captured", "generated"];

const COLOURS: [RGBColor; 2] = [RGBColor(0, 0, 0), RGBColor(213, 94, 0)];

type Points = Vec<(f64, f64)>;

struct Panel {
    caption: &'static str,
    x: (&'static str, Range<f64>),
    y: &'static str,
    lines: [Points; 2],
}

/// Skew, frozen pages, write intervals and request sizes.
pub(super) fn draw(sides: [&Side; 2]) -> Result<String, Failure> {
    let curve = |of: &dyn Fn(&Side, f64) -> (f64, f64)| {
        sides.map(|side| (1..=100).map(|percent| of(side, f64::from(percent) / 100.0)).collect())
    };
    let panels = [
        Panel {
            caption: "skew",
            x: ("share of the pages, the most-written first", 0.0..1.0),
            y: "share of the writes",
            lines: curve(&|side, share| (share, side.profile.skew(share))),
        },
        Panel {
            caption: "frozen pages",
            x: ("share of the writes", 0.0..1.0),
            y: "share of the pages written so far",
            lines: curve(&|side, share| (share, side.profile.frozen(share))),
        },
        Panel {
            caption: "write intervals",
            x: ("page writes, as powers of 10", 0.0..7.0),
            y: "share of the intervals up to this",
            lines: curve(&|side, share| (side.profile.interval(share).log10(), share)),
        },
        Panel {
            caption: "request sizes",
            x: ("bytes, as powers of 2", 11.0..20.0),
            y: "share of the bytes in requests up to this",
            lines: sides.map(sizes),
        },
    ];
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let panels_area = legend::above(&area, &NAMES, &COLOURS)?;
        for (area, panel) in panels_area.split_evenly((2, 2)).iter().zip(&panels) {
            draw_panel(area, panel)?;
        }
        area.present()?;
    }
    Ok(svg)
}

/// The last class has no upper end; it is drawn at twice that of the one before.
fn sizes(side: &Side) -> Points {
    let mut sum = 0.0;
    let classes = SIZES.iter().enumerate().map(|(class, (end, _))| {
        sum += side.profile.bytes_in(class);
        ((*end as f64).log2().min(20.0), sum)
    });
    classes.collect()
}

fn draw_panel(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &Panel) -> Result<(), Failure> {
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .caption(panel.caption, ("sans-serif", 16))
        .build_cartesian_2d(panel.x.1.clone(), 0.0..1.0)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(panel.x.0)
        .y_desc(panel.y)
        .label_style(("sans-serif", 13))
        .draw()?;
    for (points, colour) in panel.lines.iter().zip(COLOURS) {
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
    }
    Ok(())
}
