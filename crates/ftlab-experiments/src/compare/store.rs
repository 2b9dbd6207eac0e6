//! Where finished cells are kept.

use super::cell::Cell;
use ftlab_sim::result::RunResult;

/// Finished cells.
pub type CellStore = crate::Kept<Cell, RunResult>;

/// The name of their file.
pub const CELLS: &str = "cells.jsonl";
