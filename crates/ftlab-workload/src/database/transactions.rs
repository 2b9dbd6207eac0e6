//! What runs on a database.

use super::{Files, Uses};

/// What a benchmark does.
pub(crate) trait Transactions: Send + 'static {
    /// Whether it loads its rows itself, before all else that it does; else the pages of the initial database
    /// are loaded in their order.
    fn loads_rows(&self) -> bool {
        false
    }

    /// Whether what ran last was a part of that.
    fn is_loading(&self) -> bool {
        false
    }

    /// Runs the next transaction; false, and nothing done, if the database cannot grow any more.
    fn run_one(&mut self, uses: &mut Uses) -> bool;

    fn files(&self) -> &Files;

    /// What is worth knowing of it, by name.
    fn properties(&self) -> Vec<(&'static str, String)>;
}
