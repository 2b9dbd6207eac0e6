//! Parameters of FTLs, workloads and timings in results.

use std::collections::BTreeMap;

/// Parameters as they are in results.
pub(crate) fn named(values: Vec<(&'static str, String)>) -> BTreeMap<String, String> {
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
