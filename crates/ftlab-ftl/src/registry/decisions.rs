//! Versions of decisions: what has to be equal for two programs to do the same with the same writes.

use crate::engine::Engine;
use crate::registry::entry::Kind;
use crate::registry::row::Row;
use std::fmt;

/// A part of an FTL that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece {
    /// What it is; none for an engine.
    pub kind: Option<Kind>,
    /// What it is called in a spec.
    pub name: &'static str,
    /// It is raised whenever the same state leads to another decision.
    pub version: u32,
}

impl Piece {
    pub(super) fn of<M>(row: &Row<M>, kind: Kind) -> Self {
        Self { kind: Some(kind), name: row.name, version: row.decisions }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// Everything that decides in an FTL, its engine first. Its text is short and the same in every program whose FTL
/// of that name and parameters decides the same, as in `engine 1, sep-gc 1, greedy 1`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decisions(Vec<Piece>);

impl Decisions {
    pub(super) fn new(engine: Engine, pieces: Vec<Piece>) -> Self {
        let engine = Piece { kind: None, name: engine.name(), version: engine.decisions() };
        Self([vec![engine], pieces].concat())
    }

    /// The parts, each once.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }
}

impl fmt::Display for Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, piece) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{piece}")?;
        }
        Ok(())
    }
}
