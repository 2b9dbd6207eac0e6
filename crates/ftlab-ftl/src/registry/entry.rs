//! What is listed of a registered name.

use ftlab_spec::Parameter;

/// What a registered name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A whole FTL.
    Ftl,
    /// The part of an FTL before the slash.
    Placement,
    /// The part of an FTL after the slash.
    Victim,
}

/// A registered name, for lists and docs.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What it stands for.
    pub kind: Kind,
    /// What a spec begins with.
    pub name: &'static str,
    /// One line.
    pub summary: String,
    /// Paper and section.
    pub source: &'static str,
    /// What a spec may set, with defaults and ranges.
    pub parameters: Vec<Parameter>,
}
