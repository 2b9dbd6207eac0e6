//! The drive that a generator writes to, where no FTL is run.

use crate::error::CliError;
use ftlab_sim::Workload;
use ftlab_trace::Space;

/// The drive of a generator: of the pages that are asked for, or else of its own; an error if there are
/// none, or if neither `writes` nor the generator itself has an end.
pub(crate) fn generator_space(
    workload: &Workload,
    asked_pages: Option<u64>,
    writes: Option<u64>,
    page_bytes: u32,
    seed: u64,
) -> Result<Space, CliError> {
    let own_pages = || workload.own_pages(page_bytes);
    let pages = asked_pages.map_or_else(own_pages, |pages| Ok(Some(pages)))?;
    let missing = match (pages, writes.is_some() || workload.has_end()?) {
        (Some(logical_pages), true) => return Ok(Space { logical_pages, page_bytes, seed }),
        (Some(_), false) => "no end; give one, as in --writes 10000000",
        (None, true) => "no size of its own; give the drive's, as in --logical 8GiB",
        (None, false) => "neither size nor end; give both, as in --logical 8GiB --writes 10000000",
    };
    Err(CliError::usage(format!("the generator {} has {missing}", workload.name())))
}
