//! A series and the drive that explains it, as a figure.

use super::chart::{Axis, Key, Line, chart, keys_height, lines, with_keys};
use super::{COLOURS, Drawn, FigureSize};
use crate::error::CliError;
use ftlab_experiments::fit::{Fit, Series};
use plotters::prelude::*;
use std::path::Path;

/// Of both charts together.
const SIZE: (u32, u32) = (960, 720);

/// Share of the height that the series takes.
const SERIES_SHARE: f64 = 0.6;

/// Draws media bytes per host byte of every series, measured and fitted, against host writes, and the profile of
/// over-provisioning.
pub(crate) fn write_fit(
    measured: &[Series],
    fit: &Fit,
    size: FigureSize,
    path: &Path,
) -> Result<(), CliError> {
    super::write(path, |svg| draw(measured, fit, size.or(SIZE), svg))
}

fn draw(measured: &[Series], fit: &Fit, size: (u32, u32), svg: &mut String) -> Drawn {
    let best = &fit.drives[0];
    let capacity = best.candidate.capacity as f64;
    let at = |points: &mut dyn Iterator<Item = (f64, f64)>| -> Vec<(f64, f64)> {
        points.map(|(host, waf)| (host / capacity, waf)).collect()
    };
    let line = |label: String, colour, is_dashed, points| Line {
        label,
        colour,
        is_dashed,
        points,
        extents: Vec::new(),
    };
    let drive = format!("{}, {:.1}%", best.candidate.ftl, 100.0 * best.op_ratio);
    let mut series = Vec::new();
    for (own, fitted) in measured.iter().zip(&best.series) {
        let number = fitted.index % COLOURS.len();
        let (label, told, colour) = match measured {
            [_] => ("measured".to_owned(), drive.clone(), BLACK),
            _ => (own.name.clone(), format!("{drive}: {}", own.name), COLOURS[number]),
        };
        let is_dashed = measured.len() > 1;
        series.push(line(label, colour, false, at(&mut own.measured.wafs())));
        series.push(line(told, COLOURS[number], is_dashed, at(&mut fitted.wafs.iter().copied())));
    }
    let points: Vec<_> = fit.profile.iter().map(|p| (p.op_ratio, 100.0 * p.rms)).collect();
    let limit = 100.0 * fit.bounds.rms_most;
    let ops = |least: f64, own: &(f64, f64)| least.min(own.0);
    let least = points.iter().fold(f64::INFINITY, ops);
    let most = points.iter().fold(0.0, |most: f64, own| most.max(own.0));
    let profile = vec![
        line("best with this over-provisioning".into(), COLOURS[0], false, points.clone()),
        line("not told apart below".into(), BLACK, true, vec![(least, limit), (most, limit)]),
    ];
    let keys: Vec<Key> = Key::of(&series).into_iter().chain(Key::of(&profile)).collect();
    let size = (size.0, size.1 + keys_height(size.0, &keys));
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    area.fill(&WHITE)?;
    let plots = with_keys(&area, &keys)?;
    let height = plots.dim_in_pixel().1;
    let (above, below) = plots.split_vertically((SERIES_SHARE * f64::from(height)) as i32);
    let top = series.iter().flat_map(|line| &line.points).fold(1.0, |top: f64, own| top.max(own.1));
    let end = measured.iter().map(|own| own.measured.host_bytes()).fold(0.0, f64::max) / capacity;
    let x = Axis::numbers("host writes, in sizes of the drive", 0.0..end);
    let y = Axis::numbers("media bytes per host byte", 1.0..1.0 + 1.05 * (top - 1.0));
    lines(&mut chart(&above, "", &x, &y)?, series)?;
    let top = points.iter().fold(limit, |top: f64, own| top.max(own.1));
    let percents: Vec<_> = points.iter().map(|(op, off)| (100.0 * op, *off)).collect();
    let x = Axis::numbers("over-provisioning, %", (100.0 * least).floor()..(100.0 * most).ceil());
    let y = Axis::numbers("off, % of WAF - 1", 0.0..1.05 * top);
    let profile = profile.into_iter().map(|line| {
        let points = line.points.iter().map(|(op, off)| (100.0 * op, *off)).collect();
        Line { points, ..line }
    });
    let mut plot = chart(&below, "", &x, &y)?;
    lines(&mut plot, profile.collect())?;
    let dots = percents.into_iter().filter(|(_, off)| *off <= limit);
    plot.draw_series(dots.map(|at| Circle::new(at, 4, COLOURS[0].filled())))?;
    drop(plot);
    area.present()?;
    Ok(())
}
