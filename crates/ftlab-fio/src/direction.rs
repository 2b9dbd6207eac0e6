//! `rw`: what a job does.

/// Reads, writes and trims: the index of each in arrays of three.
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;
pub(super) const TRIM: usize = 2;

/// `rw`: which of them, and whether at random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Direction {
    /// Of reads, writes and trims.
    pub(super) does: [bool; 3],
    pub(super) is_random: bool,
}

impl Direction {
    /// The name of a direction, without what may follow a colon.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let (name, is_random) = match name.strip_prefix("rand") {
            Some(rest) => (rest, true),
            None => (name, false),
        };
        let does = match name {
            "read" => [true, false, false],
            "write" => [false, true, false],
            "trim" => [false, false, true],
            "rw" => [true, true, false],
            "readwrite" if !is_random => [true, true, false],
            "trimwrite" => [false, true, true],
            _ => return None,
        };
        Some(Self { does, is_random })
    }

    /// Whether each write follows the trim of the same place.
    pub(super) fn is_trimwrite(self) -> bool {
        self.does[TRIM] && self.does[WRITE]
    }

    /// Whether each write follows the trim of its place, at random places.
    pub(super) fn is_random_trimwrite(self) -> bool {
        self.is_trimwrite() && self.is_random
    }
}
