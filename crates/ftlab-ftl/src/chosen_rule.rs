//! By which rule an FTL decides.

/// One of the rules among which an FTL chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenRule {
    /// Its place among them, from 0 on.
    pub number: u32,
    /// As the FTL's parameter has it.
    pub name: &'static str,
}
