//! `ftlab inspect --report`.

use super::describe::facts;
use super::statistics::{name, rows};
use crate::error::CliError;
use ftlab_analysis::Inspection;
use ftlab_report::{InspectionPage, inspection_page};
use ftlab_trace::replace_file;
use std::io::Write;
use std::path::Path;

/// Writes the page of `found`, which `command` produced.
pub(super) fn write(found: &[Inspection], command: String, path: &Path) -> Result<(), CliError> {
    let owned = |(name, value): (&'static str, String)| (name.to_owned(), value);
    let page = inspection_page(
        found,
        &InspectionPage {
            names: names(found),
            facts: found
                .iter()
                .map(|found| facts(found).into_iter().map(owned).collect())
                .collect(),
            statistics: rows(found).collect(),
            command,
        },
    )?;
    Ok(replace_file(path, |file| file.write_all(page.as_bytes()))?)
}

/// The names of workloads, in full where the names of their files are the same.
fn names(found: &[Inspection]) -> Vec<String> {
    let short: Vec<_> = found.iter().map(name).collect();
    let is_unique = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
    let names = short.iter().zip(found);
    names
        .map(|(name, found)| if is_unique(name) { name.clone() } else { found.workload.clone() })
        .collect()
}
