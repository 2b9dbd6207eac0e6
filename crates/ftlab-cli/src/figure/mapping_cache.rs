//! How much memory a map needs, as a figure.

use super::chart::{Axis, Key, Line, chart, keys_height, lines, with_keys};
use super::{Drawn, FigureSize, styles};
use crate::error::CliError;
use ftlab_experiments::mapping_cache::MapAdvice;
use ftlab_spec::ByteSize;
use plotters::prelude::*;
use std::path::Path;

/// Of both charts together.
const SIZE: (u32, u32) = (960, 640);

/// Share of the height that hits take.
const HITS_SHARE: f64 = 0.4;

/// Draws the hits of plain LRU, and below them write amplification, against memory.
pub(crate) fn write_mapping_cache(
    advice: &MapAdvice,
    size: FigureSize,
    path: &Path,
) -> Result<(), CliError> {
    super::write(path, |svg| draw(advice, size.or(SIZE), svg))
}

fn draw(advice: &MapAdvice, size: (u32, u32), svg: &mut String) -> Drawn {
    let place = |bytes: u64| (bytes.max(1) as f64).log2();
    let first = advice.hits.first().map_or(0.0, |point| place(point.cache_bytes));
    let most = advice.curves.iter().flat_map(|curve| &curve.points).map(|point| point.cache_bytes);
    let last = place(most.max().unwrap_or(1).max(advice.all_bytes)).max(first + 1.0);
    let ticks = (first.ceil() as u32..=last as u32)
        .map(|power| (f64::from(power), ByteSize(1_u64 << power.min(63)).to_string()));
    let ticks: Vec<_> = ticks.collect();
    let x = || Axis::new("memory for entries of the map", first..last, ticks.clone());
    let names: Vec<_> =
        advice.curves.iter().map(|curve| format!("{}, {}", curve.ftl, curve.map)).collect();
    let styles = styles(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut curves = Vec::new();
    for ((curve, label), (colour, is_dashed)) in advice.curves.iter().zip(names).zip(styles) {
        let points = curve.points.iter().map(|point| (place(point.cache_bytes), point.waf));
        let points = points.collect();
        curves.push(Line { label, colour, is_dashed, points, extents: Vec::new() });
    }
    let hits = advice.hits.iter().map(|point| (place(point.cache_bytes), point.share));
    let hits = Line {
        label: "found by plain LRU".into(),
        colour: BLACK,
        is_dashed: false,
        points: hits.collect(),
        extents: Vec::new(),
    };
    let top = curves.iter().flat_map(|line| &line.points).fold(1.0, |top: f64, at| top.max(at.1));
    let keys: Vec<Key> =
        Key::of(std::slice::from_ref(&hits)).into_iter().chain(Key::of(&curves)).collect();
    let size = (size.0, size.1 + keys_height(size.0, &keys));
    let area = SVGBackend::with_string(svg, size).into_drawing_area();
    area.fill(&WHITE)?;
    let plots = with_keys(&area, &keys)?;
    let height = plots.dim_in_pixel().1;
    let (above, below) = plots.split_vertically((HITS_SHARE * f64::from(height)) as i32);
    lines(&mut chart(&above, "", &x(), &Axis::shares("look-ups found"))?, vec![hits])?;
    let y = Axis::numbers("write amplification", 1.0..1.0 + 1.05 * (top - 1.0).max(0.01));
    lines(&mut chart(&below, "", &x(), &y)?, curves)?;
    area.present()?;
    Ok(())
}
