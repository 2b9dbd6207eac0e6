//! Which pages were moved, as it is in results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pages that collections and merges moved, by how long the version that was moved lasted: host page
/// writes from the one that wrote it to the one that overwrote it, or to its trim.
///
/// The bounds are those of `ftlab inspect` (after FASTer, section III). It takes the mean of a page, and
/// this each version by itself, since a page may be hot for a while and cold from then on (2R, section 2.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moves {
    /// Host page writes: a tenth of the drive's logical pages, and 1 at least.
    pub window_writes: u64,
    /// Moves of versions that lasted less than the window.
    pub hot: u64,
    /// Of those that lasted less than two windows.
    pub warm: u64,
    /// Of those that lasted longer, and were overwritten or trimmed at last.
    pub cold: u64,
    /// Of those that had lasted two windows or longer at the end of the run, and were still valid.
    pub frozen: u64,
    /// Of those that were valid at the end of the run, but too young to tell.
    pub undecided: u64,
    /// Of the hot, warm and cold ones, those of versions that lasted fewer host page writes than pages held
    /// data at their end: 2R's pages that are written at intervals below the size of the database
    /// (section 5.2.3).
    pub within_data_size: u64,
}

impl From<ftlab_machine::Moves> for Moves {
    fn from(moves: ftlab_machine::Moves) -> Self {
        let ftlab_machine::Moves {
            window_writes,
            hot,
            warm,
            cold,
            frozen,
            undecided,
            within_data_size,
        } = moves;
        Self { window_writes, hot, warm, cold, frozen, undecided, within_data_size }
    }
}
