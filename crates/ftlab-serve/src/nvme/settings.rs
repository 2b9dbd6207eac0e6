//! What a host has set of a controller (base 2.1, section 5.1.25).

use std::time::Instant;

/// Bytes of the data of Host Behavior Support.
pub(super) const BEHAVIOR_BYTES: usize = 512;

/// The features of a controller that its host sets, as of its last reset.
#[derive(Debug, Clone)]
pub(super) struct Features {
    /// KATO.
    pub(super) keep_alive_ms: u32,
    /// The events that the host wants.
    pub(super) events: u32,
    pub(super) arbitration: u32,
    pub(super) error_recovery: u32,
    pub(super) atomicity: u32,
    /// The thresholds above and below which the host is warned; nothing reaches them.
    pub(super) temperatures: [u16; 2],
    pub(super) behavior: Vec<u8>,
    /// Milliseconds since 1970 that the host told, and when.
    pub(super) clock: Option<(u64, Instant)>,
    begin: Instant,
}

impl Features {
    pub(super) fn new(keep_alive_ms: u32) -> Self {
        Self {
            keep_alive_ms,
            events: 0,
            arbitration: 0,
            error_recovery: 0,
            atomicity: 0,
            temperatures: [u16::MAX, 0],
            behavior: vec![0; BEHAVIOR_BYTES],
            clock: None,
            begin: Instant::now(),
        }
    }

    /// Milliseconds, and where they come from: 0 if they count from the reset, 2 if from what a host told.
    pub(super) fn timestamp(&self) -> u64 {
        const FROM_HOST: u64 = 1 << 49;
        const MILLISECONDS: u64 = (1 << 48) - 1;
        let since = |begin: Instant| begin.elapsed().as_millis() as u64;
        match self.clock {
            None => since(self.begin) & MILLISECONDS,
            Some((told, when)) => told.wrapping_add(since(when)) & MILLISECONDS | FROM_HOST,
        }
    }
}
