//! What there is by name: FTLs, generators, formats, timings.

use ftlab_ftl::registry::{self, Kind};
use ftlab_sim::TIMINGS;
use ftlab_spec::Parameter;
use ftlab_trace::format::FORMATS;
use ftlab_trace::synthetic::GENERATORS;
use pyo3::prelude::*;

/// A parameter: name, default, what a value may be, what it does, where the default comes from.
type ParameterFields = (String, String, String, String, String);

/// An entry: kind, name, summary, source, parameters.
type EntryFields = (&'static str, String, String, String, Vec<ParameterFields>);

/// Everything that has a name.
#[pyfunction]
pub(crate) fn entries() -> Vec<EntryFields> {
    let ftls = registry::entries().into_iter().map(|entry| {
        let kind = match entry.kind {
            Kind::Ftl => "ftl",
            Kind::Placement => "placement",
            Kind::Victim => "victim",
        };
        fields(kind, entry.name, &entry.summary, entry.source, entry.parameters)
    });
    let generators = GENERATORS
        .iter()
        .map(|of| fields("generator", of.name, of.summary, of.source, (of.parameters)()));
    let formats = FORMATS
        .iter()
        .map(|of| fields("format", of.name, of.summary, of.source, (of.parameters)()));
    let timings =
        TIMINGS.iter().map(|of| fields("timing", of.name, of.summary, of.source, of.parameters()));
    ftls.chain(generators).chain(formats).chain(timings).collect()
}

fn fields(
    kind: &'static str,
    name: &str,
    summary: &str,
    source: &str,
    parameters: Vec<Parameter>,
) -> EntryFields {
    let parameters = parameters
        .into_iter()
        .map(|of| (of.name.to_owned(), of.default, of.expects, of.doc, of.source.to_owned()));
    (kind, name.into(), summary.into(), source.into(), parameters.collect())
}
