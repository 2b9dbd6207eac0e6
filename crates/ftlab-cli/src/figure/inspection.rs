//! The figures of `ftlab inspect`.

use super::chart::{Area, Axis, Key, Line, bars, chart, count_text, lines, mark, with_keys};
use super::heat_map::heat_map;
use super::named::Named;
use super::{COLOURS, Drawn, FigureSize};
use crate::error::CliError;
use ftlab_analysis::{FootprintPoint, Inspection, SizeBucket, TemperatureBin};
use ftlab_sim::format::{bytes, percent_tenths};
use plotters::prelude::*;

/// Size of a figure that shows all workloads together, and of each workload in the others.
const SIZE: (u32, u32) = (960, 480);

pub(crate) struct Figure {
    /// The name to type.
    pub(crate) name: &'static str,
    draw: Draw,
}

enum Draw {
    /// All workloads in one chart.
    Together(fn(&Area<'_>, &[Named<'_>]) -> Drawn),
    /// A chart for each.
    Apart(fn(&Area<'_>, &Named<'_>) -> Drawn),
}

/// Every figure, in order of the documentation.
pub(crate) static FIGURES: [Figure; 8] = [
    Figure { name: "skew", draw: Draw::Together(skew) },
    Figure { name: "intervals", draw: Draw::Together(intervals) },
    Figure { name: "temperature", draw: Draw::Apart(temperature) },
    Figure { name: "frozen", draw: Draw::Together(frozen) },
    Figure { name: "footprint", draw: Draw::Together(footprint) },
    Figure { name: "sizes", draw: Draw::Apart(sizes) },
    Figure { name: "updates", draw: Draw::Apart(updates) },
    Figure { name: "heat-map", draw: Draw::Apart(heat_map) },
];

pub(crate) fn find(name: &str) -> Result<&'static Figure, CliError> {
    FIGURES.iter().find(|figure| figure.name == name).ok_or_else(|| {
        let names = FIGURES.each_ref().map(|figure| figure.name).join(", ");
        CliError::usage(format!("there is no figure {name:?}; the figures are {names}"))
    })
}

impl Figure {
    /// Draws it as SVG.
    pub(crate) fn draw(
        &self,
        workloads: &[Inspection],
        size: FigureSize,
        svg: &mut String,
    ) -> Drawn {
        let named: Vec<_> =
            workloads.iter().map(|found| Named { name: short_name(found), found }).collect();
        let charts = match self.draw {
            Draw::Together(_) => 1,
            Draw::Apart(_) => named.len(),
        };
        let (width, height) = size.or(SIZE);
        let size = (width, height * charts as u32);
        let area = SVGBackend::with_string(svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        match self.draw {
            Draw::Together(draw) => draw(&area, &named)?,
            Draw::Apart(draw) => {
                for (area, workload) in area.split_evenly((charts, 1)).iter().zip(&named) {
                    draw(area, workload)?;
                }
            }
        }
        area.present()?;
        Ok(())
    }
}

/// The name of a file without its folder and ending, or the generator.
fn short_name(found: &Inspection) -> String {
    let name = std::path::Path::new(&found.workload);
    let is_file = found.workload != found.format;
    let stem = name.file_stem().filter(|_| is_file);
    stem.map_or_else(|| found.workload.clone(), |stem| stem.to_string_lossy().into_owned())
}

/// The name of the only workload, which needs no legend.
fn caption<'a>(workloads: &'a [Named<'_>]) -> &'a str {
    if let [only] = workloads { &only.name } else { "" }
}

fn colours() -> impl Iterator<Item = RGBColor> {
    COLOURS.into_iter().cycle()
}

fn series(workloads: &[Named<'_>], points: impl Fn(&Inspection) -> Vec<(f64, f64)>) -> Vec<Line> {
    let label = |name: &str| if workloads.len() > 1 { name.to_owned() } else { String::new() };
    let line = |(workload, colour): (&Named<'_>, RGBColor)| Line {
        label: label(&workload.name),
        colour,
        is_dashed: false,
        points: points(workload.found),
        extents: Vec::new(),
    };
    workloads.iter().zip(colours()).map(line).collect()
}

fn skew(area: &Area<'_>, workloads: &[Named<'_>]) -> Drawn {
    let x = Axis::shares("pages written, the most-written first");
    let curves = series(workloads, |found| {
        let curve = found.skew.curve.iter().map(|point| (point.pages, point.writes));
        std::iter::once((0.0, 0.0)).chain(curve).collect()
    });
    let area = with_keys(area, &Key::of(&curves))?;
    let mut chart = chart(&area, caption(workloads), &x, &Axis::shares("page writes"))?;
    lines(&mut chart, curves)
}

fn intervals(area: &Area<'_>, workloads: &[Named<'_>]) -> Drawn {
    let longest = workloads.iter().filter_map(|workload| workload.found.intervals.percentile(100));
    let longest = longest.max().unwrap_or(1) as f64;
    let x = Axis::powers_of_ten(
        "write interval: page writes since the last of that page",
        0.0,
        longest,
    );
    let curves = series(workloads, |found| {
        let quantiles = found.intervals.quantiles.iter();
        quantiles.map(|point| ((point.page_writes as f64).log10(), point.share)).collect()
    });
    let area = with_keys(area, &Key::of(&curves))?;
    let mut chart = chart(&area, caption(workloads), &x, &Axis::shares("write intervals"))?;
    let mut windows: Vec<_> =
        workloads.iter().map(|workload| workload.found.temperature.window_pages).collect();
    windows.sort_unstable();
    windows.dedup();
    windows.retain(|window| (1.0..longest).contains(&(*window as f64)));
    for (line, window) in (0..).zip(windows) {
        let label = format!("log window {}", count_text(window as f64));
        mark(&mut chart, (window as f64).log10(), line, &label)?;
    }
    lines(&mut chart, curves)
}

/// The colour of a mean write interval: hot, warm or cold.
fn temperature_colour(bin: &TemperatureBin, window: f64) -> usize {
    let middle = bin.from as f64 * std::f64::consts::SQRT_2;
    if middle < window {
        0
    } else if middle < 2.0 * window {
        1
    } else {
        2
    }
}

fn temperature(area: &Area<'_>, workload: &Named<'_>) -> Drawn {
    let found = workload.found;
    let heat = &found.temperature;
    let pages = found.distinct_pages.max(1) as f64;
    let writes = found.page_writes.max(1) as f64;
    let classes =
        [("hot", heat.hot), ("warm", heat.warm), ("cold", heat.cold)].map(|(name, class)| {
            let [pages, writes] =
                [class.pages as f64 / pages, class.writes as f64 / writes].map(percent_tenths);
            format!("{name}: {pages} of pages, {writes} of writes")
        });
    let mut slots: Vec<_> = heat
        .bins
        .iter()
        .map(|bin| {
            let kind = temperature_colour(bin, heat.window_pages as f64);
            (kind, bin.pages as f64 / pages, bin.writes as f64 / writes)
        })
        .collect();
    let once = found.updates.once_pages as f64;
    slots.push((2, once / pages, once / writes));
    let top = slots.iter().map(|slot| slot.1.max(slot.2)).fold(0.0, f64::max);
    let mut ticks: Vec<_> = (0..)
        .zip(&heat.bins)
        .map(|(slot, bin)| (f64::from(slot), count_text(bin.from as f64)))
        .collect();
    let every = ticks.len().div_ceil(12).max(1);
    ticks = ticks.into_iter().step_by(every).collect();
    ticks.push((slots.len() as f64 - 0.5, "once".into()));
    let x = Axis::new("mean write interval of a page, from", 0.0..slots.len() as f64, ticks);
    let y = Axis::shares_up_to("pages (dark), page writes (light)", top);
    let keys = classes.iter().zip(colours());
    let keys: Vec<_> = keys.map(|(text, colour)| Key::bar(text, colour.mix(1.0))).collect();
    let area = with_keys(area, &keys)?;
    let mut chart = chart(&area, &workload.name, &x, &y)?;
    for (class, colour) in COLOURS.into_iter().take(classes.len()).enumerate() {
        let of = |value: fn(&(usize, f64, f64)) -> f64| -> Vec<f64> {
            let own = |slot| if slot_class(slot) == class { value(slot) } else { 0.0 };
            slots.iter().map(own).collect()
        };
        let kinds = [(colour.mix(1.0), of(|slot| slot.1)), (colour.mix(0.4), of(|slot| slot.2))];
        bars(&mut chart, &kinds)?;
    }
    Ok(())
}

fn slot_class(slot: &(usize, f64, f64)) -> usize {
    slot.0
}

fn frozen(area: &Area<'_>, workloads: &[Named<'_>]) -> Drawn {
    let x = Axis::shares("page writes so far");
    let y = Axis::shares("frozen, of the pages written so far");
    let curves =
        series(workloads, |found| found.frozen.iter().map(|at| (at.time, at.share)).collect());
    let area = with_keys(area, &Key::of(&curves))?;
    let mut chart = chart(&area, caption(workloads), &x, &y)?;
    lines(&mut chart, curves)
}

fn footprint(area: &Area<'_>, workloads: &[Named<'_>]) -> Drawn {
    let longest =
        workloads.iter().map(|workload| workload.found.drive_writes()).fold(0.0, f64::max);
    let x = Axis::numbers("page writes, in sizes of the drive", 0.0..longest.max(1e-9));
    let points = |value: fn(&FootprintPoint) -> u64| {
        move |found: &Inspection| -> Vec<(f64, f64)> {
            let share = |pages: u64| pages as f64 / found.drive_pages.max(1) as f64;
            let points = found.footprint.iter();
            points.map(|point| (share(point.page_writes), share(value(point)))).collect()
        }
    };
    let mut curves = series(workloads, points(|point| point.holding_pages));
    let mut written = series(workloads, points(|point| point.written_pages));
    for line in &mut written {
        line.is_dashed = true;
        line.label.clear();
    }
    if let ([holding], [written]) = (curves.as_mut_slice(), written.as_mut_slice()) {
        holding.label = "holding data".into();
        written.label = "written in this part".into();
    }
    curves.extend(written);
    let heights = curves.iter().flat_map(|line| line.points.iter().map(|point| point.1));
    let y = Axis::shares_up_to(
        "pages of the drive that hold data (dashed: written)",
        heights.fold(0.0, f64::max),
    );
    let area = with_keys(area, &Key::of(&curves))?;
    let mut chart = chart(&area, caption(workloads), &x, &y)?;
    lines(&mut chart, curves)
}

/// Two slots for each power of two: itself, and what lies between it and the next.
fn size_slot(bucket: &SizeBucket) -> usize {
    let from = bucket.from_bytes.max(1);
    2 * from.ilog2() as usize + usize::from(bucket.from_bytes != bucket.to_bytes)
}

fn sizes(area: &Area<'_>, workload: &Named<'_>) -> Drawn {
    let found = workload.found;
    let buckets = &found.write_sizes.buckets;
    let slots = || buckets.iter().map(size_slot);
    // Some room on both sides, in case there is only one size.
    let first = (slots().min().unwrap_or(24) / 2 * 2).saturating_sub(4);
    let count = slots().max().unwrap_or(24) + 5 - first;
    let shares = |of: fn(&SizeBucket) -> u64, all: u64| {
        let mut heights = vec![0.0; count];
        for bucket in buckets {
            heights[size_slot(bucket) - first] = of(bucket) as f64 / all.max(1) as f64;
        }
        heights
    };
    let requests = shares(|bucket| bucket.requests, found.requests.write);
    let data = shares(|bucket| bucket.bytes, found.bytes.write);
    let top = requests.iter().chain(&data).copied().fold(0.0, f64::max);
    let tick = |slot: usize| (slot as f64 + 0.5, bytes(1 << (slot / 2 + first / 2)));
    let x = Axis::new(
        "size of a write request, and sizes in between",
        0.0..count as f64,
        (0..count).step_by(2).map(tick).collect(),
    );
    let y = Axis::shares_up_to("share", top);
    let (own, other) = (COLOURS[2].mix(1.0), COLOURS[1].mix(1.0));
    let area = with_keys(area, &[Key::bar("requests", own), Key::bar("bytes", other)])?;
    let mut chart = chart(&area, &workload.name, &x, &y)?;
    bars(&mut chart, &[(own, requests), (other, data)])
}

/// Where the logarithms of page counts begin: at half a page.
const HALF: f64 = -std::f64::consts::LOG10_2;

fn updates(area: &Area<'_>, workload: &Named<'_>) -> Drawn {
    let updates = &workload.found.updates;
    let width = f64::from(updates.bin_writes.max(1));
    let top = updates.bins.iter().copied().max().unwrap_or(0) as f64;
    let x = Axis::whole_numbers(
        "writes of a page",
        0.0..(updates.bins.len().max(1) as f64 * width + 1.0),
    );
    let y = Axis::powers_of_ten("pages", HALF, top);
    let caption = match updates.beyond_pages {
        0 => workload.name.clone(),
        pages => format!("{} ({} pages beyond)", workload.name, count_text(pages as f64)),
    };
    let mut chart = chart(area, &caption, &x, &y)?;
    let bar = |(bin, pages): (i32, &u64)| {
        let left = f64::from(bin) * width + 0.5;
        let top = (*pages as f64).log10();
        Rectangle::new([(left, HALF), (left + width, top)], COLOURS[2].filled())
    };
    let some = (0..).zip(&updates.bins).filter(|(_, pages)| **pages > 0);
    chart.draw_series(some.map(bar))?;
    Ok(())
}
