//! The running write amplification as a figure.

use crate::error::CliError;
use ftlab_sim::format::grouped;
use ftlab_sim::result::Config;
use ftlab_sim::{ExperimentResult, Prepared};
use ftlab_trace::PartialFile;
use plotters::prelude::*;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

const SIZE: (u32, u32) = (960, 480);

/// Colours that stay apart for colour-blind readers and in print (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 7] = [
    RGBColor(213, 94, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// Finds out before a run whether its figure can be drawn and written.
pub(crate) fn check_figure(prepared: &Prepared, path: &Path) -> Result<(), CliError> {
    let Config { writes_max, interval_writes, .. } = prepared.config();
    if let Some(writes) = writes_max.filter(|writes| writes < interval_writes) {
        return Err(CliError::usage(no_interval(writes, *interval_writes)));
    }
    Ok(PartialFile::check(path)?)
}

/// Draws the running write amplification of every FTL against host writes, in drive writes, as SVG.
pub(crate) fn write_figure(result: &ExperimentResult, path: &Path) -> Result<(), CliError> {
    let cannot = |error: &dyn Display| {
        CliError::failure(format!("cannot write the figure {}: {error}", path.display()))
    };
    if result.runs.iter().all(|run| run.running_waf.is_empty()) {
        let writes = result.runs.iter().map(|run| run.host_writes).max().unwrap_or(0);
        return Err(CliError::failure(no_interval(writes, result.config.interval_writes)));
    }
    let mut svg = String::new();
    draw(result, &mut svg).map_err(|error| cannot(&error))?;
    let partial = PartialFile::create(path)?;
    let mut file = partial.handle().map_err(|error| cannot(&error))?;
    file.write_all(svg.as_bytes()).map_err(|error| cannot(&error))?;
    Ok(partial.complete()?)
}

fn no_interval(writes: u64, interval_writes: u64) -> String {
    format!(
        "the figure has no point: {} counted writes hold no whole interval of {}; give a smaller \
         --interval",
        grouped(writes),
        grouped(interval_writes)
    )
}

fn draw(result: &ExperimentResult, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let drive_writes = |writes: u64| writes as f64 / f64::from(result.config.drive.logical_pages);
    let longest = result.runs.iter().map(|run| run.host_writes).max().unwrap_or(0);
    let top = result.runs.iter().flat_map(|run| &run.running_waf).fold(1.0_f64, |a, &b| a.max(b));
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .caption(&result.config.workload, ("sans-serif", 18))
        .build_cartesian_2d(
            0.0..drive_writes(longest).max(1e-9),
            1.0..1.0 + (top - 1.0).max(0.1) * 1.05,
        )?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_desc("host writes, in sizes of the drive")
        .y_desc("write amplification")
        .label_style(("sans-serif", 14))
        .draw()?;
    for (run, colour) in result.runs.iter().zip(COLOURS.into_iter().cycle()) {
        let points = run.running_waf.iter().enumerate();
        let points = points.map(|(index, &waf)| {
            let end = (index as u64 + 1) * result.config.interval_writes;
            (drive_writes(end), waf)
        });
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(&run.ftl)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.2))
        .label_font(("sans-serif", 14))
        .draw()?;
    area.present()?;
    Ok(())
}
