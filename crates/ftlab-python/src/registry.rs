//! Names: FTLs, generators, formats, timings.

use crate::error::Result;
use crate::own::only_named;
use crate::parameters::{ParameterFields, parameter_fields};
use ftlab_ftl::MetadataBudget;
use ftlab_ftl::registry::{self, Kind};
use ftlab_sim::TIMINGS;
use ftlab_spec::{Parameter, Spec};
use ftlab_trace::format::FORMATS;
use ftlab_workload::GENERATORS;
use pyo3::prelude::*;

/// An entry: kind, name, summary, source, parameters.
type EntryFields = (&'static str, String, String, String, Vec<ParameterFields>);

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
    let parameters = parameters.into_iter().map(parameter_fields).collect();
    (kind, name.into(), summary.into(), source.into(), parameters)
}

/// An FTL as given: its name, the given parameters, and the values of all parameters.
type NamedFtl = (String, Vec<(String, String)>, Vec<(&'static str, String)>);

/// Parses and checks an FTL as given, which may be one of these policies.
#[pyfunction]
pub(crate) fn ftl(text: &str, policies: Vec<Bound<'_, PyAny>>) -> Result<NamedFtl> {
    let spec: Spec = text.parse()?;
    let values = only_named(&policies)?.resolve(&spec)?;
    Ok((spec.name, spec.arguments, values))
}

/// Bytes of a metadata budget on a drive of this many logical pages and erase blocks.
#[pyfunction]
pub(crate) fn metadata_budget(text: &str, logical_pages: u32, blocks: u32) -> Result<u64> {
    Ok(text.parse::<MetadataBudget>()?.total_bytes(logical_pages, blocks))
}
