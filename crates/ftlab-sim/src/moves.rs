//! Which pages were moved, as it is in results.

use crate::fact::facts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

facts! {
    Run:
    /// Pages that collections and merges moved, by how long the version that was moved lasted: host page
    /// writes from the one that wrote it to the one that overwrote it, or to its trim.
    ///
    /// The bounds are those of `ftlab inspect` (after FASTer, section III). It takes the mean of a page, and
    /// this each version by itself, since a page may be hot for a while and cold from then on (2R, section 2.2).
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct Moves {
        /// Host page writes: a tenth of the drive's logical pages, and 1 at least.
        window_writes: u64 = Count, "pages", from "the drive";
        /// Moves of versions that lasted less than the window.
        hot: u64 = Count, "pages", from "the pages watched" [
            report(Moves, 10, "hot", "Overwritten or trimmed within a tenth of a drive write", Known),
        ];
        /// Of those that lasted less than two windows.
        warm: u64 = Count, "pages", from "the pages watched" [
            report(Moves, 20, "warm", "Within two tenths", Known),
        ];
        /// Of those that lasted longer, and were overwritten or trimmed at last.
        cold: u64 = Count, "pages", from "the pages watched" [
            report(Moves, 30, "cold", "Later", Known),
        ];
        /// Of those that had lasted two windows or longer at the end of the run, and were still valid.
        frozen: u64 = Count, "pages", from "the pages watched" [
            report(Moves, 40, "frozen", "Valid to the end, and older than two tenths of a drive write", Known),
        ];
        /// Of those that were valid at the end of the run, but too young to tell.
        undecided: u64 = Count, "pages", from "the pages watched" [
            report(Moves, 50, "undecided", "Valid to the end, and younger", Known),
        ];
        /// Of the hot, warm and cold ones, those of versions that lasted fewer host page writes than pages held
        /// data at their end: 2R's pages that are written at intervals below the size of the database
        /// (section 5.2.3).
        within_data_size: u64 = Count, "pages", from "the pages watched";
    }
}

impl From<ftlab_stack::Moves> for Moves {
    fn from(moves: ftlab_stack::Moves) -> Self {
        let ftlab_stack::Moves {
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
