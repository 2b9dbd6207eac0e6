//! `page`: the page mapping that hybrid-mapped FTLs are compared with.
//!
//! # Idea
//! Map every page by itself: the least work for the flash and the largest table. What a hybrid
//! mapping can hope for.
//!
//! # Rule
//! All blocks hold data. Host writes and relocated pages share one open block. When it is full and no
//! more than one block is free, the block with the fewest valid pages is collected, one at a time,
//! until two are free: `single/greedy` with a reserve of one block, whatever the drive's reserve is.
//!
//! # Parameters
//! None.
//!
//! # Where the paper is silent
//! On everything but the name. Greedy victims fit the paper's means; the oldest block would cost 50%
//! more, and a block of its own for relocated pages 15% less. Ties go to the block that was opened
//! first.
//!
//! # Reference
//! Lim, Lee and Moon, "FASTer FTL for Enterprise-Class Flash Memory SSDs", SNAPI 2010, section V;
//! Kawaguchi, Nishioka and Motoda, "A Flash-Memory Based File System", USENIX 1995.

use crate::algorithms::placement::Single;
use crate::algorithms::victim::Greedy;
use crate::engine::Engine;
use crate::hybrid::entry::FtlEntry;
use crate::page::entry::{DriveShape, PlacementEntry, VictimEntry};
use crate::page::{Composed, ConfigError, DriveConfig, PageMapped};
use crate::{DynFtl, Observer};
use ftlab_flash::Flash;
use ftlab_spec::NoParameters;

/// Page mapping as the rival in the FASTer paper.
pub struct Page;

impl FtlEntry for Page {
    type Parameters = NoParameters;
    const NAME: &'static str = "page";
    const SUMMARY: &'static str =
        "page mapping as hybrid mapping's rival (= single/greedy with --reserve 1)";
    const SOURCE: &'static str = "FASTer (SNAPI 2010), section V";
    const ENGINE: Engine = Engine::PageMapped;
    // It has none of its own.
    const DECISIONS: u32 =
        <Single as PlacementEntry>::DECISIONS + <Greedy as VictimEntry>::DECISIONS - 1;

    fn build<F: Flash + Send + 'static, O: Observer + 'static>(
        parameters: &NoParameters,
        config: DriveConfig,
        flash: F,
        observer: O,
    ) -> Result<DynFtl<F, O>, ConfigError> {
        let shape = DriveShape::new(&config);
        let policy = Composed {
            placement: Single::new(parameters, shape),
            victim: <Greedy as VictimEntry>::new(parameters, shape),
        };
        let config = DriveConfig { reserve_blocks: 1, ..config };
        Ok(Box::new(PageMapped::new(policy, config, flash, observer)?))
    }
}
