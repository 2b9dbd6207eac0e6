//! When a run is looked at, and how sure each look has to be.

/// Rounds at the first look.
const FIRST: u64 = 32;
/// Looks are so far apart, as a share of the rounds.
const APART: f64 = 0.15;
/// The share of all runs in which some look may be wrong.
const WRONG: f64 = 0.05;

/// All looks, by their rounds.
fn all() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(FIRST), |rounds| {
        Some(rounds + (*rounds as f64 * APART).ceil() as u64)
    })
}

/// Whether a run of `rounds` is looked at.
pub(crate) fn is_look(rounds: u64) -> bool {
    all().take_while(|look| *look <= rounds).last() == Some(rounds)
}

/// Looks at a run of `rounds`; an end between two looks is one more.
pub(super) fn up_to(rounds: u64) -> u64 {
    (all().take_while(|look| *look < rounds).count() + 1) as u64
}

/// Standard deviations that an error is at the look of this number, from 1.
///
/// Look k may be wrong in 5% / k(k + 1) of all runs, which is 5% of any number of looks. The tails are those of a sum
/// of bounded terms, exp(-d^2 / 2), which are wider than those of the normal distribution: errors that are estimated
/// from a few batches need it.
pub(super) fn deviations(look: u64) -> f64 {
    let look = look as f64;
    let wrong = WRONG / (look * (look + 1.0));
    (2.0 * (2.0 / wrong).ln()).sqrt()
}
