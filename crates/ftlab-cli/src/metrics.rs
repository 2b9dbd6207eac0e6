//! `ftlab list metrics`: what is told of a run, and where.

#[cfg(feature = "lab")]
use ftlab_experiments::sweep::METRICS;
use ftlab_sim::fact::Shown;
use ftlab_sim::result::FACTS;
use serde::Serialize;
use std::fmt::Write;

/// Something that is told of a run.
#[derive(Debug, Serialize)]
pub(crate) struct MetricItem {
    /// Its place in the results of a run, or the name of a number that only sweeps have.
    name: String,
    kind: &'static str,
    unit: &'static str,
    scope: &'static str,
    doc: String,
    source: &'static str,
    /// Its name in experiment files and `results.csv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep: Option<&'static str>,
    /// Its column of `series.parquet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<&'static str>,
}

/// The facts of a run, and the numbers of sweeps that follow from them.
pub(crate) fn metrics() -> Vec<MetricItem> {
    let facts = FACTS.iter().map(|fact| MetricItem {
        name: fact.path.clone(),
        kind: fact.kind.name(),
        unit: fact.unit,
        scope: fact.scope.name(),
        doc: fact.doc.clone(),
        source: fact.source,
        sweep: fact.shown.iter().find_map(|shown| match *shown {
            Shown::Sweep { name, .. } => Some(name),
            _ => None,
        }),
        series: fact.shown.iter().find_map(|shown| match *shown {
            Shown::Running { name, .. } => Some(name),
            _ => None,
        }),
    });
    facts.chain(derived()).collect()
}

/// The numbers of sweeps that follow from facts; a program without sweeps has none.
#[cfg(feature = "lab")]
fn derived() -> impl Iterator<Item = MetricItem> {
    METRICS.iter().filter(|metric| metric.is_derived()).map(|metric| MetricItem {
        name: metric.name.to_owned(),
        kind: "ratio",
        unit: "",
        scope: "run",
        doc: metric.doc.to_owned(),
        source: "sweeps",
        sweep: Some(metric.name),
        series: None,
    })
}

/// The numbers of sweeps that follow from facts; a program without sweeps has none.
#[cfg(not(feature = "lab"))]
fn derived() -> impl Iterator<Item = MetricItem> {
    std::iter::empty()
}

/// They as text.
pub(crate) fn describe(items: &[MetricItem]) -> String {
    let mut text = String::new();
    for MetricItem { name, kind, unit, scope, doc, source, sweep, series } in items {
        let of = if unit.is_empty() { String::new() } else { format!(" of {unit}") };
        let _ = writeln!(text, "{name} ({kind}{of}, of a {scope})\n    {doc}\n    from {source}");
        let _ = sweep.iter().try_for_each(|name| writeln!(text, "    in sweeps: {name}"));
        let _ = series.iter().try_for_each(|name| writeln!(text, "    in series.parquet: {name}"));
        text.push('\n');
    }
    text + "Names with dots are places in `ftlab run --json`, below runs[].\n"
}
