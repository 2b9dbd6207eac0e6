//! When garbage is collected.

use ftlab_spec::{NoParameters, Parameters, Spec, SpecError};
use std::fmt;
use std::str::FromStr;

/// The names of all schedules.
pub const GC_SCHEDULES: [&str; 6] =
    ["foreground", "incremental", "background", "garbage", "gradual", "throttled"];

/// What a share of garbage is counted in.
pub(crate) const MILLION: f64 = 1e6;

ftlab_spec::parameters! {
    pub struct StepParameters {
        /// Relocations after a host write at most; 0 is as many as it takes to be in time.
        pages: u32 = 0, "pages" in 0..=1_000_000, from "our choice";
    }
}

ftlab_spec::parameters! {
    pub struct GarbageParameters {
        /// Invalid pages, of all that are programmed, from which on garbage is collected.
        share: f64 = 0.15, "share" in 0.000_1..=0.99, from "SepBIT (FAST 2022), section 4.1";
    }
}

ftlab_spec::parameters! {
    pub struct GradualParameters {
        /// Free blocks, of all, below which it begins.
        from: f64 = 0.05, "from" in 0.000_1..=0.99, from "our choice";
    }
}

ftlab_spec::parameters! {
    pub struct ThrottledParameters {
        /// Free blocks, of all, below which it begins.
        from: f64 = 0.4, "from" in 0.000_1..=0.99, from "fitted to Micron 7450 MAX";
        /// Invalid pages of a victim, of all its pages, at least.
        invalid: f64 = 0.5, "invalid" in 0.01..=1.0, from "fitted to Micron 7450 MAX";
        /// Relocations for each page that the host writes, at most.
        moves: f64 = 0.17, "moves" in 0.000_1..=100.0, from "fitted to Micron 7450 MAX";
    }
}

/// When garbage is collected, relative to host writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GcSchedule {
    /// A whole collection before the host write that finds no room.
    #[default]
    Foreground,
    /// A few relocations after each host write.
    Incremental {
        /// Relocations at most; 0 is no limit.
        pages_max: u32,
    },
    /// The first victim of a collection before the host write that finds no room, the others a few
    /// relocations after each host write (2R, section 4.3.4).
    Background {
        /// Relocations after a host write at most; 0 is no limit.
        pages_max: u32,
    },
    /// After a host write, whole collections for as long as at least this share of the programmed pages
    /// is invalid; before a host write that finds no room as well.
    ///
    /// The drive then takes as much flash as the share allows: one that has plenty is as large as its
    /// data, 1 / (1 - share) times.
    Garbage {
        /// Invalid pages in a million.
        per_million: u32,
    },
    /// After a host write, whole collections that regain a share of a page for each page that the host writes: none
    /// while this many blocks are free, the whole page when no more are free than the reserve, and in proportion
    /// between. Blocks without a valid page cost nothing and do not count as regained.
    ///
    /// So the host is slowed down by and by, and not all at once, when the free blocks come to an end.
    Gradual {
        /// Free blocks in a million.
        per_million: u32,
    },
    /// After a host write, whole collections of what is mostly invalid, with a number of relocations for each page that
    /// the host writes, while fewer than this many blocks are free; before a host write that finds no room as well.
    /// Blocks without a valid page need no relocation, but wait while others are paid for.
    ///
    /// So the work ahead of need takes a share of the bandwidth, and no more.
    Throttled {
        /// Free blocks in a million.
        from: u32,
        /// Invalid pages of a victim in a million of its pages, at least.
        invalid: u32,
        /// Relocations in a million host pages.
        moves: u32,
    },
}

/// A share as what it is counted in.
fn per_million(share: f64) -> u32 {
    (share * MILLION).round() as u32
}

impl GcSchedule {
    /// The schedule that `spec` names: `foreground`, `incremental:pages=8`, `background:pages=8`,
    /// `garbage:share=0.15`, `gradual:from=0.05` or `throttled:from=0.4,invalid=0.5,moves=0.17`.
    pub fn from_spec(spec: &Spec) -> Result<Self, SpecError> {
        match spec.name.as_str() {
            "foreground" => NoParameters::from_spec(spec).map(|_| Self::Foreground),
            "incremental" => StepParameters::from_spec(spec)
                .map(|parameters| Self::Incremental { pages_max: parameters.pages }),
            "background" => StepParameters::from_spec(spec)
                .map(|parameters| Self::Background { pages_max: parameters.pages }),
            "garbage" => GarbageParameters::from_spec(spec)
                .map(|own| Self::Garbage { per_million: per_million(own.share) }),
            "gradual" => GradualParameters::from_spec(spec)
                .map(|own| Self::Gradual { per_million: per_million(own.from) }),
            "throttled" => ThrottledParameters::from_spec(spec).map(|own| Self::Throttled {
                from: per_million(own.from),
                invalid: per_million(own.invalid),
                moves: per_million(own.moves),
            }),
            _ => Err(SpecError::UnknownName {
                kind: "schedule of garbage collection",
                name: spec.name.clone(),
                known: GC_SCHEDULES.map(str::to_owned).into(),
            }),
        }
    }

    /// The same where this many pages move at once.
    pub(crate) fn in_units(self, pages: u32) -> Self {
        match self {
            Self::Incremental { pages_max } => {
                Self::Incremental { pages_max: pages_max.div_ceil(pages) }
            }
            Self::Background { pages_max } => {
                Self::Background { pages_max: pages_max.div_ceil(pages) }
            }
            Self::Foreground
            | Self::Garbage { .. }
            | Self::Gradual { .. }
            | Self::Throttled { .. } => self,
        }
    }

    /// Of a collection in steps: the most relocations after a host write, 0 being no limit.
    pub(crate) fn step_pages_max(self) -> Option<u32> {
        match self {
            Self::Incremental { pages_max } | Self::Background { pages_max } => Some(pages_max),
            Self::Foreground
            | Self::Garbage { .. }
            | Self::Gradual { .. }
            | Self::Throttled { .. } => None,
        }
    }
}

impl fmt::Display for GcSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreground => f.write_str("foreground"),
            Self::Incremental { pages_max } => write!(f, "incremental:pages={pages_max}"),
            Self::Background { pages_max } => write!(f, "background:pages={pages_max}"),
            Self::Garbage { per_million } => {
                write!(f, "garbage:share={}", f64::from(*per_million) / MILLION)
            }
            Self::Gradual { per_million } => {
                write!(f, "gradual:from={}", f64::from(*per_million) / MILLION)
            }
            Self::Throttled { from, invalid, moves } => {
                let [from, invalid, moves] =
                    [from, invalid, moves].map(|own| f64::from(*own) / MILLION);
                write!(f, "throttled:from={from},invalid={invalid},moves={moves}")
            }
        }
    }
}

impl FromStr for GcSchedule {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::from_spec(&text.parse()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_named_like_everything_else() {
        let schedule = |text: &str| text.parse::<GcSchedule>().map_err(|error| error.to_string());
        assert_eq!(schedule("foreground"), Ok(GcSchedule::Foreground));
        assert_eq!(schedule("incremental"), Ok(GcSchedule::Incremental { pages_max: 0 }));
        let eight = GcSchedule::Incremental { pages_max: 8 };
        assert_eq!(schedule(&eight.to_string()), Ok(eight));
        assert_eq!(schedule("incremental:pages=8"), Ok(GcSchedule::Incremental { pages_max: 8 }));
        let behind = GcSchedule::Background { pages_max: 3 };
        assert_eq!(schedule(&behind.to_string()), Ok(behind));
        let eleventh = GcSchedule::Garbage { per_million: 90_909 };
        assert_eq!(eleventh.to_string(), "garbage:share=0.090909");
        assert_eq!(schedule("garbage:share=0.090909"), Ok(eleventh));
        assert!(schedule("garbage:share=1").is_err());
        let twentieth = GcSchedule::Gradual { per_million: 50_000 };
        assert_eq!(twentieth.to_string(), "gradual:from=0.05");
        assert_eq!(schedule("gradual"), Ok(twentieth));
        let throttled = GcSchedule::Throttled { from: 300_000, invalid: 500_000, moves: 170_000 };
        assert_eq!(throttled.to_string(), "throttled:from=0.3,invalid=0.5,moves=0.17");
        assert_eq!(schedule("throttled:from=0.3"), Ok(throttled));
        assert!(schedule("throttled:moves=0").is_err());
        assert!(schedule("increment").unwrap_err().contains("did you mean \"incremental\"?"));
        assert!(schedule("foreground:pages=8").is_err());
    }
}
