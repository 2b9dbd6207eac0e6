//! Filling the drive before anything is counted.

use crate::SimError;
use ftlab_feed::sequential;
use ftlab_spec::{Spec, SpecError, Value};
use ftlab_trace::{Space, TraceSource};
use ftlab_workload::build;
use std::str::FromStr;

ftlab_spec::choices! {
    /// How the drive is filled; executed and not counted.
    pub enum Fill {
        /// Not at all: the drive begins empty.
        None = "none",
        /// Every page once, in ascending order.
        Sequential = "sequential",
        /// Every page once, in random order.
        Random = "random",
        /// Every page twice, in ascending order, as in SNIA's PTS.
        Twice = "twice",
    }
}

/// Real drives are full: at least of what was deleted without their knowing.
impl Default for Fill {
    fn default() -> Self {
        Self::Sequential
    }
}

impl FromStr for Fill {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::parse(text).ok_or_else(|| SpecError::Quantity {
            text: text.into(),
            expects: "one of none, sequential, random, twice",
        })
    }
}

impl Fill {
    /// Page writes that fill a drive of `logical_pages`.
    pub fn writes(self, logical_pages: u64) -> u64 {
        match self {
            Self::None => 0,
            Self::Sequential | Self::Random => logical_pages,
            Self::Twice => 2 * logical_pages,
        }
    }
}

/// Added to the seed, so that the fill's order is not that of `uniform:map=on`.
const FILL_SEED: u64 = 0x66_696c_6c00;

/// Pages of 4 KiB of a request that fills a drive in order, as far as that is.
const FILL_REQUEST_PAGES: u32 = 1 << 28;

/// The writes that fill a drive, which have no end: the caller stops after one drive. Those in order are one request, if
/// it matters which pages are of one.
pub(crate) fn fill(
    fill: Fill,
    space: &Space,
    requests_matter: bool,
) -> Result<Option<Box<dyn TraceSource>>, SimError> {
    match fill {
        Fill::None => Ok(None),
        Fill::Sequential | Fill::Twice => {
            let page_share = (space.page_bytes / 4096).max(1);
            let pages = if requests_matter { FILL_REQUEST_PAGES / page_share } else { 1 };
            Ok(Some(sequential(space, fill.writes(space.logical_pages), pages)?))
        }
        Fill::Random => {
            let space = Space { seed: space.seed.wrapping_add(FILL_SEED), ..*space };
            let mut spec = Spec::bare("uniform");
            spec.arguments.push(("map".into(), "on".into()));
            Ok(Some(build(&spec, &space)?))
        }
    }
}
