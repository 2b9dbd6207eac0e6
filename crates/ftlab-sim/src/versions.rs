//! Versions of what decides results: of the simulation here, and by name of everything that may take part in it.

use crate::result::schema;
use ftlab_ftl::registry;
use ftlab_trace::format;
use ftlab_workload::GENERATORS;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use twox_hash::XxHash3_128;

/// What decides, and the version of its decisions, from 1. A test over golden hashes asks for a higher one.
pub(crate) type Version = (&'static str, u32);

/// How drives are filled, requests become pages, and what is counted from when to when.
pub(crate) const SIMULATION: Version = ("simulation", 1);

/// What operations of the flash take, and who waits for whom.
pub(crate) const CLOCK: Version = ("clock", 3);

/// Which operations fail.
pub(crate) const FAULTS: Version = ("faults", 1);

/// What goes to an SLC cache, and when it is folded.
pub(crate) const SLC_CACHE: Version = ("slc-cache", 1);

/// What a map on flash keeps in memory, and what it reads and writes.
pub(crate) const MAPPING: Version = ("mapping", ftlab_ftl::map::VERSION);

/// When a run ends that ends when it is steady.
pub(crate) const STEADY: Version = ("steady", 2);

/// How requests of a trace are read.
pub(crate) const TRACES: Version = ("traces", format::VERSION);

/// Which fields results have, so that those with others are not taken for results.
pub(crate) fn results() -> Version {
    static SHAPE: LazyLock<u32> = LazyLock::new(|| {
        let mut schema: Value = serde_json::from_str(&schema()).unwrap_or_default();
        forget_texts(&mut schema);
        XxHash3_128::oneshot(schema.to_string().as_bytes()) as u32
    });
    ("results", *SHAPE)
}

/// Removes what is for readers only.
fn forget_texts(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|name, value| name != "description" || !value.is_string());
            fields.values_mut().for_each(forget_texts);
        }
        Value::Array(values) => values.iter_mut().for_each(forget_texts),
        _ => {}
    }
}

/// Versions as a text, such as `simulation 1, zipf 1, engine 1, 2r++ 1`.
pub(crate) fn text(versions: impl IntoIterator<Item = Version>) -> String {
    let versions = versions.into_iter().map(|(name, number)| format!("{name} {number}"));
    versions.collect::<Vec<_>>().join(", ")
}

/// All versions that this program has. A policy and a placement of one name are not told apart.
fn current() -> BTreeSet<Version> {
    let ftls = registry::ftl_names().into_iter();
    let ftls = ftls.filter_map(|name| registry::decisions(&name.parse().ok()?).ok());
    let pieces = ftls.flat_map(|of| of.pieces().to_vec());
    let generators = GENERATORS.iter().map(|info| (info.name, info.version));
    let own = [SIMULATION, CLOCK, FAULTS, SLC_CACHE, MAPPING, STEADY, TRACES, results()];
    pieces.map(|piece| (piece.name, piece.version)).chain(generators).chain(own).collect()
}

/// Whether something else decided than in this program, for the texts of versions that kept results have.
///
/// ```
/// let is_other = ftlab_sim::other_versions();
/// assert!(!is_other("simulation 1, engine 1, 2r++ 1"));
/// assert!(is_other("simulation 1, engine 1, 2r++ 0") && is_other(""));
/// ```
pub fn other_versions() -> impl Fn(&str) -> bool {
    let current: BTreeSet<String> = current().into_iter().map(|version| text([version])).collect();
    move |versions| versions.split(", ").any(|version| !current.contains(version))
}
