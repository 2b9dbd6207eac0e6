//! Whether write amplification has settled, and at what.
//!
//! The question is what a run of ten times the length would have. It is asked of the pages that are moved for each
//! page that the host writes, WAF - 1, in rounds of a quarter of a drive write, and answered in four steps:
//!
//! - **Long enough.** A run has [`DRIVE_WRITES_MIN`] drive writes since blocks are erased, and the slowest stream has
//!   been collected twice, or for [`PATIENCE_DRIVE_WRITES`] drive writes. A trace that is repeated has been read to its
//!   end, and [`BATCHES_MIN`] passes are left without the transient.
//! - **Without its beginning.** White's rule (MSER, Simulation 1997) says where the transient ends: the rest has the
//!   smallest standard error of its mean. It may take the first half, and takes a quarter at least.
//! - **A mean and a trend, with their errors.** The rest is divided into batches, of whole passes where a trace is
//!   repeated. A straight line through their means is the trend; what is left, with the correlation of neighbours, is
//!   the error. As Geweke (Bayesian Statistics 1992) does, the errors of a correlated series decide what differs.
//! - **Looks that are paid for.** Looks are 15% apart, and a look has its share of the 5% in which the answer may be
//!   wrong (Lan and DeMets, Biometrika 1983). Its errors are that much wider, so looking often buys nothing.
//!
//! It is steady if mean and trend are known to [`TOLERANCE`] of WAF - 1. If not, what is known is a bound.
//!
//! The trend test of Mann and Kendall is not used: it finds a trend, and what has to be shown is that there is none
//! that matters. Nor are the boundaries of O'Brien and Fleming, which need the last look to be known at the first.

mod looks;
mod statistic;
#[cfg(test)]
mod tests;

use crate::fact::{Measured, Value};
use crate::format::significant;
use ftlab_feed::Pass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statistic::{Fit, window};
use std::fmt;

/// Rounds in a drive write.
const ROUNDS_OF_DRIVE_WRITE: u64 = 4;
/// Drive writes of a run that may be steady, from the first round in which a block was erased.
const DRIVE_WRITES_MIN: u64 = 8;
/// Times that the slowest stream is collected.
const TURNOVERS_MIN: f64 = 2.0;
/// A stream that takes longer holds what is frozen: it is not waited for.
const PATIENCE_DRIVE_WRITES: u64 = 32;
/// What is left unknown, as a share of WAF - 1.
const TOLERANCE: f64 = 0.03;
/// What is always left unknown: where hardly anything is moved, a share of it is nothing.
const TOLERANCE_MIN: f64 = 0.002;
/// Fewer batches tell nothing of their spread.
const BATCHES_MIN: usize = 8;

/// Host writes of a round.
pub(crate) fn round_writes(logical_pages: u32) -> u64 {
    u64::from(logical_pages).div_ceil(ROUNDS_OF_DRIVE_WRITE)
}

/// What becomes of write amplification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It stays as it is.
    Steady,
    /// It rises: a longer run has more.
    Rising,
    /// It falls: a longer run has less.
    Falling,
    /// It goes up and down by more than a steady value may.
    Unsettled,
    /// The run is shorter than `needed_rounds`: it is too early to say.
    #[default]
    TooShort,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steady => "steady",
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::Unsettled => "unsettled",
            Self::TooShort => "too short",
        })
    }
}

/// Whether write amplification has settled, and what that was concluded from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(!default)]
pub struct Settling {
    /// The conclusion.
    pub verdict: Verdict,
    /// Host page writes of a round: a quarter of a drive write.
    pub round_writes: u64,
    /// Complete rounds.
    pub rounds: u64,
    /// Rounds that a run has at least before it can be steady.
    pub needed_rounds: u64,
    /// The last rounds, of which the mean is taken; those before are the transient.
    pub window_rounds: u64,
    /// Mean write amplification of the window; none if the run is too short.
    pub window_waf: Option<f64>,
    /// What a longer run has at least, if that is known.
    pub at_least: Option<f64>,
    /// What a longer run has at most, if that is known.
    pub at_most: Option<f64>,
    /// Change of write amplification with each drive write, as a share of it; 0 if it may be chance.
    pub change_per_drive_write: f64,
    /// How often the slowest stream of the FTL has been collected, measured by its size; none if it has no blocks.
    pub turnovers: Option<f64>,
    /// Looks that the errors were widened for.
    pub looks: u64,
}

impl Settling {
    /// The mean of the window, if that is what a longer run has too.
    pub fn steady_waf(&self) -> Option<f64> {
        self.window_waf.filter(|_| self.verdict == Verdict::Steady)
    }

    /// What is known of a longer run, such as "at least 1.9, rising 2% a drive write"; none if the run is too short.
    pub fn bound(&self) -> Option<String> {
        let number = |waf: f64| significant(waf, 3);
        let limits = match (self.at_least, self.at_most) {
            (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
            (Some(low), None) => format!("at least {}", number(low)),
            (None, Some(high)) => format!("at most {}", number(high)),
            (None, None) => return None,
        };
        let percent = 100.0 * self.change_per_drive_write.abs();
        Some(match self.verdict {
            Verdict::Rising | Verdict::Falling => {
                format!(
                    "{limits}, still {} {}% a drive write",
                    self.verdict,
                    significant(percent, 2)
                )
            }
            _ => limits,
        })
    }

    /// Drive writes of the run and those that it needs at least.
    pub fn drive_writes(&self) -> [f64; 2] {
        [self.rounds, self.needed_rounds].map(|rounds| rounds as f64 / ROUNDS_OF_DRIVE_WRITE as f64)
    }
}

/// The conclusion with its bound, sorted by the change.
impl Measured for Settling {
    fn measured(&self) -> Option<Value> {
        let number = |waf: f64| significant(waf, 3);
        let text = match (self.verdict, self.at_least, self.at_most) {
            (Verdict::Rising, Some(low), _) => format!("rising, over {}", number(low)),
            (Verdict::Falling, _, Some(high)) => format!("falling, under {}", number(high)),
            (Verdict::Unsettled, Some(low), Some(high)) => {
                format!("{} to {}", number(low), number(high))
            }
            (verdict, ..) => verdict.to_string(),
        };
        Some(Value::Text { text, rank: self.change_per_drive_write })
    }
}

/// Keeps all rounds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rounds {
    /// Pages moved for each page that the host wrote.
    moved: Vec<f64>,
    /// Rounds up to the first from which on all erased something.
    filling: usize,
    pass: Pass,
}

/// What else decides whether a run is long enough, and how sure is sure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances {
    pub(crate) round_writes: u64,
    /// How often the slowest stream has been collected.
    pub(crate) turnovers: Option<f64>,
    /// Whether it has been looked at before, as often as looks are due.
    pub(crate) was_looked_at: bool,
}

impl Rounds {
    /// Adds a round.
    pub(crate) fn push(&mut self, waf: f64, erases: u64, pass: Pass) {
        self.moved.push(waf - 1.0);
        if erases == 0 {
            self.filling = self.moved.len();
        }
        self.pass = pass;
    }

    pub(crate) fn len(&self) -> u64 {
        self.moved.len() as u64
    }

    /// Whether a run that ends when it is steady is looked at now. The rest of a trace may be otherwise than its
    /// beginning: it is not before the first pass has ended.
    pub(crate) fn is_look(&self) -> bool {
        self.pass != Pass::First && looks::is_look(self.len())
    }

    /// What can be concluded by now.
    pub(crate) fn settling(&self, given: Circumstances) -> Settling {
        let rounds = self.len();
        let needed_rounds = self.needed(given);
        let looks = if given.was_looked_at { looks::up_to(rounds) } else { 1 };
        let early = Settling {
            round_writes: given.round_writes,
            rounds,
            needed_rounds,
            turnovers: given.turnovers,
            looks,
            ..Settling::default()
        };
        if rounds < needed_rounds {
            return early;
        }
        let counted = &self.moved[self.filling..];
        let window = window(counted);
        let pass = self.pass_rounds(given);
        let batches = statistic::batches(window, pass);
        if batches.len() < BATCHES_MIN {
            // Passes are too few to be compared.
            let share = counted.len() as f64 / window.len() as f64;
            let passes = self.filling as f64 + BATCHES_MIN as f64 * pass * share;
            return Settling { needed_rounds: passes.ceil() as u64, ..early };
        }
        let fit = Fit::of(&batches).widened(looks::deviations(looks));
        Settling { window_rounds: window.len() as u64, ..conclusion(&fit, window.len(), early) }
    }

    /// Rounds that a run has at least.
    fn needed(&self, given: Circumstances) -> u64 {
        let rounds = self.len();
        let filling = self.filling as u64;
        // The window has three quarters at most.
        let passes = self.pass_rounds(given) * BATCHES_MIN as f64 * 4.0 / 3.0;
        let turned = match given.turnovers {
            Some(turned) if turned < TURNOVERS_MIN => {
                let patience = filling + ROUNDS_OF_DRIVE_WRITE * PATIENCE_DRIVE_WRITES;
                let at_this_rate = rounds as f64 * TURNOVERS_MIN / turned;
                (at_this_rate.ceil() as u64).min(patience)
            }
            _ => 0,
        };
        let least = filling + ROUNDS_OF_DRIVE_WRITE * DRIVE_WRITES_MIN;
        least.max(filling + passes.ceil() as u64).max(turned)
    }

    /// Rounds of a pass of a trace that is repeated; 0 if that is not known.
    fn pass_rounds(&self, given: Circumstances) -> f64 {
        let Pass::Of(writes) = self.pass else { return 0.0 };
        writes as f64 / given.round_writes as f64
    }
}

/// What a mean and a trend with their errors mean.
fn conclusion(fit: &Fit, window_rounds: usize, early: Settling) -> Settling {
    let tolerance = (TOLERANCE * fit.mean).max(TOLERANCE_MIN);
    let waf = 1.0 + fit.mean;
    let drive_writes = window_rounds as f64 / ROUNDS_OF_DRIVE_WRITE as f64;
    let found = Settling { window_waf: Some(waf), ..early };
    let change_per_drive_write = fit.change / drive_writes / waf;
    // Where the line ends, its error is twice that of the mean.
    let end = 1.0 + fit.mean + 0.5 * fit.change;
    let [low, high] = [waf - fit.mean_error, waf + fit.mean_error].map(|waf| waf.max(1.0));
    if fit.mean_error <= tolerance && fit.change.abs() + fit.change_deviation <= tolerance {
        let (at_least, at_most) = (Some(low), Some(high));
        return Settling { verdict: Verdict::Steady, at_least, at_most, ..found };
    }
    if fit.change > fit.change_error {
        let at_least = Some((end - 2.0 * fit.mean_error).max(low));
        return Settling { verdict: Verdict::Rising, at_least, change_per_drive_write, ..found };
    }
    if -fit.change > fit.change_error {
        let at_most = Some((end + 2.0 * fit.mean_error).min(high));
        return Settling { verdict: Verdict::Falling, at_most, change_per_drive_write, ..found };
    }
    let (at_least, at_most) = (Some(low), Some(high));
    Settling { verdict: Verdict::Unsettled, at_least, at_most, ..found }
}
