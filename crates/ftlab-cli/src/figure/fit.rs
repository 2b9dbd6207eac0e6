//! A series and the drive that explains it, as a figure.

use super::chart::{Area, Axis, Key, Line, chart, keys_height, lines, with_keys};
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
    let profile = profile(fit);
    let keys = Key::of(&series).into_iter().chain(Key::of(&profile));
    let keys: Vec<Key> = keys.collect();
    let size = (size.0, size.1 + keys_height(size.0, &keys));
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    area.fill(&WHITE)?;
    let plots = with_keys(&area, &keys)?;
    let share = if profile.is_empty() { 1.0 } else { SERIES_SHARE };
    let height = share * f64::from(plots.dim_in_pixel().1);
    let (above, below) = plots.split_vertically(height as i32);
    let top = series.iter().flat_map(|line| &line.points).fold(1.0, |top: f64, own| top.max(own.1));
    let end = measured.iter().map(|own| own.measured.host_bytes()).fold(0.0, f64::max) / capacity;
    let x = Axis::numbers("host writes, in sizes of the drive", 0.0..end);
    let y = Axis::numbers("media bytes per host byte", 1.0..1.0 + 1.05 * (top - 1.0));
    lines(&mut chart(&above, "", &x, &y)?, series)?;
    if !profile.is_empty() {
        draw_profile(&below, profile)?;
    }
    area.present()?;
    Ok(())
}

/// How far off each over-provisioning is, and up to where they are not told apart, both in percent; nothing if nothing
/// explains what was measured.
fn profile(fit: &Fit) -> Vec<Line> {
    let Some(bounds) = &fit.bounds else { return Vec::new() };
    let percents = fit.profile.iter().map(|own| (100.0 * own.op_ratio, 100.0 * own.rms));
    let points: Vec<(f64, f64)> = percents.collect();
    let limit = 100.0 * bounds.rms_most;
    let ends = points.first().into_iter().chain(points.last()).map(|(op, _)| (*op, limit));
    let limit = line("not told apart below".into(), BLACK, true, ends.collect());
    vec![line("best with this over-provisioning".into(), COLOURS[0], false, points), limit]
}

fn draw_profile(area: &Area<'_>, profile: Vec<Line>) -> Drawn {
    let points = || profile.iter().flat_map(|line| &line.points);
    let least = points().fold(f64::INFINITY, |least, own| least.min(own.0));
    let (most, top) =
        points().fold((0.0_f64, 0.0_f64), |most, own| (most.0.max(own.0), most.1.max(own.1)));
    let limit = profile[1].points.first().map_or(0.0, |own| own.1);
    let dots: Vec<_> = profile[0].points.iter().copied().filter(|(_, off)| *off <= limit).collect();
    let x = Axis::numbers("over-provisioning, %", least.floor()..most.ceil());
    let y = Axis::numbers("off, % of WAF - 1", 0.0..1.05 * top);
    let mut plot = chart(area, "", &x, &y)?;
    lines(&mut plot, profile)?;
    plot.draw_series(dots.into_iter().map(|at| Circle::new(at, 4, COLOURS[0].filled())))?;
    Ok(())
}

fn line(label: String, colour: RGBColor, is_dashed: bool, points: Vec<(f64, f64)>) -> Line {
    Line { label, colour, is_dashed, points, extents: Vec::new() }
}
