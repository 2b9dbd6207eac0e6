//! `baseline`: the framework of Lee and Kim with nothing to tell pages apart.
//!
//! # Idea
//! What the tests of hotness are compared with.
//!
//! # Rule
//! Every page is cold, so there is one open block, for host writes and relocated pages alike.
//!
//! # Parameters
//! None.
//!
//! # Where the paper is silent
//! Nothing to decide. It is `single` under the study's name, page for page: with one level algorithm 1
//! comes down to one open block. `sep-gc` differs: it has a second one, for relocated pages.
//!
//! # Reference
//! Lee and Kim, "An Empirical Study of Hot/Cold Data Separation Policies in Solid State Drives (SSDs)",
//! SYSTOR 2013, sections 2.1 and 4.2.

use crate::Metadata;
use crate::algorithms::tools::hotness::Hotness;
use crate::page::entry::{DriveShape, PlacementEntry};
use crate::state::state;
use ftlab_flash::Lpn;
use ftlab_spec::NoParameters;

/// All pages are cold.
pub struct Baseline;

state!(Baseline {});

impl PlacementEntry for Baseline {
    type Parameters = NoParameters;
    const NAME: &'static str = "baseline";
    const SUMMARY: &'static str = "all pages are cold: the same as single";
    const SOURCE: &'static str = "Lee and Kim (SYSTOR 2013), section 4.2";

    fn new(_parameters: &NoParameters, _shape: DriveShape) -> Self {
        Self
    }
}

impl Hotness for Baseline {
    const LEVELS: usize = 1;

    #[inline]
    fn record(&mut self, _lpn: Lpn) {}

    #[inline]
    fn is_hot(&self, _lpn: Lpn) -> bool {
        false
    }

    fn metadata(&self) -> Metadata {
        Metadata::NONE
    }

    fn bytes(&self) -> usize {
        0
    }
}
