//! The page of an inspection: what is in one workload or several.

use crate::text::{script_json, short};
use crate::workload::Picture;
use crate::{BYTES_MAX, CHART_STYLE, Link, ReportError, check};
use askama::Template;
use ftlab_analysis::{Inspection, SizeBucket, TemperatureClass};
use ftlab_sim::colours::styles;
use ftlab_sim::format::{bytes, percent_tenths, significant};
use serde::Serialize;
use std::collections::BTreeMap;

/// What the page shows besides the inspections: text.
#[derive(Debug, Clone, Default)]
pub struct InspectionPage {
    /// A short name for each workload.
    pub names: Vec<String>,
    /// What was read of each, as names and values.
    pub facts: Vec<Vec<(String, String)>>,
    /// Names of the statistics, and their values for each workload; those that belong to the one above
    /// begin with a space.
    pub statistics: Vec<Vec<String>>,
    /// The command that was typed.
    pub command: String,
}

/// The page that shows `found`, one inspection for each name of `texts`.
pub fn inspection_page(
    found: &[Inspection],
    texts: &InspectionPage,
) -> Result<String, ReportError> {
    check(found.len())?;
    let text = Page::new(found, texts)?.render()?;
    if text.len() > BYTES_MAX {
        return Err(ReportError::TooLarge { bytes: text.len() });
    }
    Ok(text)
}

#[derive(Template)]
#[template(path = "inspection.html")]
struct Page<'a> {
    question: String,
    answer: String,
    contents: Vec<Link>,
    texts: &'a InspectionPage,
    data: String,
}

impl<'a> Page<'a> {
    fn new(found: &'a [Inspection], texts: &'a InspectionPage) -> Result<Self, ReportError> {
        let contents = [
            ("statistics-title", "Statistics"),
            ("map-title", "Heat map"),
            ("skew-title", "Skew"),
            ("intervals-title", "Intervals"),
            ("temperature-title", "Hot and cold"),
            ("frozen-title", "Frozen"),
            ("footprint-title", "Footprint"),
            ("sizes-title", "Sizes"),
            ("updates-title", "Updates"),
            ("repeat-title", "Run it again"),
        ];
        let names = match texts.names.as_slice() {
            [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            names => names.concat(),
        };
        Ok(Self {
            question: format!("What do the writes of {names} look like?"),
            answer: texts.names.iter().zip(found).map(sentence).collect::<Vec<_>>().join(" "),
            contents: contents.map(|(id, text)| Link { id, text }).into(),
            texts,
            data: script_json(&Data::new(found, texts))?,
        })
    }

    const STYLE: &'static str = CHART_STYLE;

    const SCRIPTS: [&'static str; 7] = [
        include_str!("../assets/vendor/uPlot.iife.min.js"),
        include_str!("../assets/page.js"),
        include_str!("../assets/export.js"),
        include_str!("../assets/drawn.js"),
        include_str!("../assets/lines.js"),
        include_str!("../assets/workload.js"),
        include_str!("../assets/inspection.js"),
    ];
}

/// What is most worth knowing of a workload.
fn sentence((name, found): (&String, &Inspection)) -> String {
    if found.page_writes == 0 {
        return format!("{name} writes nothing.");
    }
    format!(
        "{name} writes its drive {} times: {} of its page writes go to 20% of the pages written, and {} of \
         these pages are written once.",
        significant(found.drive_writes(), 3),
        percent_tenths(found.skew.top_20_percent),
        percent_tenths(found.updates.once_pages as f64 / found.distinct_pages.max(1) as f64),
    )
}

/// What the scripts show.
#[derive(Serialize)]
struct Data<'a> {
    runs: Vec<Run<'a>>,
    /// Names and colours of the parts of bars.
    temperatures: [(&'static str, &'static str); 3],
    sizes: Vec<(String, &'static str)>,
}

#[derive(Serialize)]
struct Run<'a> {
    #[serde(flatten)]
    picture: Picture<'a>,
    colour: usize,
    dash: usize,
    intervals: Vec<(f64, f64)>,
    frozen: Vec<(f64, f64)>,
    footprint: Vec<(f64, f64)>,
    updates: Vec<(f64, f64)>,
    temperature: [(&'static str, f64, f64, f64); 2],
    sizes: Vec<Vec<Part>>,
}

/// A name or a share of a divided bar.
#[derive(Serialize)]
#[serde(untagged)]
enum Part {
    Name(&'static str),
    Share(f64),
}

impl<'a> Data<'a> {
    fn new(found: &'a [Inspection], texts: &'a InspectionPage) -> Self {
        let names: Vec<_> = texts.names.iter().map(String::as_str).collect();
        let sizes = Sizes::of(found);
        let runs = found.iter().zip(&names).zip(styles(&names)).map(|((found, name), style)| Run {
            picture: Picture::new(name, &found.heat_map, &found.skew, found.page_bytes),
            colour: style.colour,
            dash: style.dash,
            intervals: intervals(found),
            frozen: found.frozen.iter().map(|at| (short(at.time), short(at.share))).collect(),
            footprint: footprint(found),
            updates: updates(found),
            temperature: temperature(found),
            sizes: sizes.shares(found),
        });
        let runs = runs.collect();
        let temperatures = [("hot", "#d55e00"), ("warm", "#e69f00"), ("cold", "#56b4e9")];
        Self { runs, temperatures, sizes: sizes.keys() }
    }
}

fn intervals(found: &Inspection) -> Vec<(f64, f64)> {
    let quantiles = found.intervals.quantiles.iter();
    quantiles.map(|point| (point.page_writes.max(1) as f64, short(point.share))).collect()
}

fn footprint(found: &Inspection) -> Vec<(f64, f64)> {
    let share = |pages: u64| short(pages as f64 / found.drive_pages.max(1) as f64);
    let points = found.footprint.iter();
    points.map(|point| (share(point.page_writes), share(point.holding_pages))).collect()
}

/// The middles of bins, and the pages in them; empty bins have no place on a logarithmic axis.
fn updates(found: &Inspection) -> Vec<(f64, f64)> {
    let width = found.updates.bin_writes;
    let bins = (0_u32..).zip(&found.updates.bins).filter(|(_, pages)| **pages > 0);
    bins.map(|(bin, pages)| (f64::from(bin * width) + f64::from(width + 1) / 2.0, *pages as f64))
        .collect()
}

fn temperature(found: &Inspection) -> [(&'static str, f64, f64, f64); 2] {
    let classes = [found.temperature.hot, found.temperature.warm, found.temperature.cold];
    let shares = |of: fn(&TemperatureClass) -> u64, all: u64| {
        classes.each_ref().map(|class| short(of(class) as f64 / all.max(1) as f64))
    };
    let [hot, warm, cold] = shares(|class| class.pages, found.distinct_pages);
    let [hot_writes, warm_writes, cold_writes] = shares(|class| class.writes, found.page_writes);
    [("pages", hot, warm, cold), ("page writes", hot_writes, warm_writes, cold_writes)]
}

/// Classes of sizes of requests: powers of two, few enough to tell them apart.
struct Sizes {
    /// Upper bounds in bytes; the last class has everything above.
    bounds: Vec<u64>,
}

impl Sizes {
    const COLOURS: [&'static str; 6] =
        ["#cfe1f2", "#93c0e4", "#4f94cd", "#2768a8", "#123f70", "#7b3f86"];

    /// Classes in which the requests of `found` differ: a factor of four apart, or more.
    fn of(found: &[Inspection]) -> Self {
        let buckets = || found.iter().flat_map(|found| &found.write_sizes.buckets);
        let smallest = buckets().map(|bucket| bucket.to_bytes).min().unwrap_or(4096);
        let largest = buckets().map(|bucket| bucket.to_bytes).max().unwrap_or(4096);
        let first = smallest.max(1).next_power_of_two();
        let steps = largest.max(1).next_power_of_two().ilog2().saturating_sub(first.ilog2());
        let step = steps.div_ceil(Self::COLOURS.len() as u32 - 1).max(2);
        let count = (steps.div_ceil(step) as usize + 1).min(Self::COLOURS.len());
        Self { bounds: (0..count as u32 - 1).map(|class| first << (class * step)).collect() }
    }

    fn class(&self, bucket: &SizeBucket) -> usize {
        self.bounds.partition_point(|bound| *bound < bucket.to_bytes)
    }

    fn keys(&self) -> Vec<(String, &'static str)> {
        let up_to = self.bounds.iter().map(|bound| format!("up to {}", bytes(*bound)));
        let above =
            self.bounds.last().map_or("any".into(), |bound| format!("above {}", bytes(*bound)));
        up_to.chain([above]).zip(Self::COLOURS).collect()
    }

    fn shares(&self, found: &Inspection) -> Vec<Vec<Part>> {
        let shares = |name, of: fn(&SizeBucket) -> u64| {
            let mut sums: BTreeMap<usize, u64> = (0..=self.bounds.len()).map(|c| (c, 0)).collect();
            for bucket in &found.write_sizes.buckets {
                *sums.entry(self.class(bucket)).or_default() += of(bucket);
            }
            let all = sums.values().sum::<u64>().max(1);
            let parts = sums.values().map(|sum| Part::Share(short(*sum as f64 / all as f64)));
            std::iter::once(Part::Name(name)).chain(parts).collect()
        };
        vec![shares("requests", |bucket| bucket.requests), shares("bytes", |bucket| bucket.bytes)]
    }
}
