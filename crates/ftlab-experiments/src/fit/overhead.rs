//! What a drive writes beside the pages of the host and those that it moves: parity, its map, pages that are partly filled.
//!
//! A drive that is filled from empty has nothing to collect until it is full. What it has written more than the host by then
//! is its overhead, a share of all that it writes. Under another workload it need not collect during its first drive write,
//! but may.

use super::series::Measured;
use std::borrow::Borrow;

/// Less than this is none: the counters of a drive without any are not exactly alike either.
const LEAST: f64 = 0.001;

/// The overhead that series tell, of a drive of `capacity` that was empty when each began; 0 if there is none.
pub(super) fn overhead<M: Borrow<Measured>>(
    from_empty: impl Iterator<Item = M>,
    capacity: f64,
) -> f64 {
    let told = from_empty.map(|measured| measured.borrow().beside(capacity));
    let (beside, host) = told.fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    let share = if host > 0.0 { beside / host } else { 0.0 };
    if share < LEAST { 0.0 } else { share }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive of 100 bytes that writes `more` for each byte of the host, and twice as much after its first drive write.
    fn measured(more: f64) -> Measured {
        let host: Vec<f64> = (0..=20).map(|n| f64::from(n) * 10.0).collect();
        let media = host.iter().map(|own| (1.0 + more) * (own + (own - 100.0).max(0.0)));
        Measured::of_units(&host, &media.collect::<Vec<_>>(), 1.0).unwrap()
    }

    #[test]
    fn overhead_is_what_the_first_drive_write_has_beside_the_host() {
        let of = |all: &[f64]| overhead(all.iter().map(|more| measured(*more)), 100.0);
        assert!((of(&[0.04]) - 0.04).abs() < 1e-9);
        assert!((of(&[0.02, 0.06]) - 0.04).abs() < 1e-9, "the mean of both");
        assert!(of(&[0.0005]).abs() < 1e-12 && of(&[]).abs() < 1e-12);
    }
}
