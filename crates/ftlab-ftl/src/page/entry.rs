//! How a policy, a placement or a victim rule presents itself, and what it may know when it is made.

use crate::page::DriveConfig;
use crate::page::policy::{Hints, Placement, Policy, VictimRule};
use ftlab_spec::{Parameters, SpecError};

macro_rules! entry_traits {
    ($($(#[$doc:meta])+ $entry:ident: $kind:ident { $($further:tt)* })+) => {$(
        $(#[$doc])+
        pub trait $entry: $kind + Sized + 'static {
            /// What its spec may set.
            type Parameters: Parameters;
            /// Its name in commands, files and figures.
            const NAME: &'static str;
            /// One line for lists.
            const SUMMARY: &'static str;
            /// Paper and section.
            const SOURCE: &'static str;
            /// The version of its decisions, from 1: raised when it decides otherwise than before. A test of
            /// `ftlab-sim` over golden counters asks for it.
            const DECISIONS: u32 = 1;
            $($further)*

            /// Works out the parameters that are `auto`, and refuses what does not go together.
            fn fit(
                _parameters: &mut Self::Parameters,
                _context: &FitContext,
            ) -> Result<(), SpecError> {
                Ok(())
            }

            /// Makes one, with parameters that were made to fit, for a drive of the given size.
            fn new(parameters: &Self::Parameters, shape: DriveShape) -> Self;
        }
    )+};
}

entry_traits! {
    /// A policy that can be registered.
    PolicyEntry: Policy {
        /// What [`HostWrite::hint`](crate::page::HostWrite::hint) has to tell.
        const HINTS: Hints = Hints::None;
        /// Whether the engine calls it through a box instead of being compiled for it: for policies that do much themselves.
        const IS_BOXED: bool = false;
    }
    /// A placement that can be registered.
    PlacementEntry: Placement {
        /// What [`HostWrite::hint`](crate::page::HostWrite::hint) has to tell.
        const HINTS: Hints = Hints::None;
    }
    /// A victim rule that can be registered.
    VictimEntry: VictimRule {}
}

/// A policy of which the compiler knows what it asks for, so that the write path of one that asks for
/// nothing has no trace of hints.
pub trait Hinted: Policy + 'static {
    /// What [`HostWrite::hint`](crate::page::HostWrite::hint) has to tell; none if only the running
    /// program knows, and then it tells whatever there is.
    const HINTS: Option<Hints>;
    /// [`PolicyEntry::IS_BOXED`].
    const IS_BOXED: bool = false;
}

impl<P: PolicyEntry> Hinted for P {
    const HINTS: Option<Hints> = Some(<P as PolicyEntry>::HINTS);
    const IS_BOXED: bool = <P as PolicyEntry>::IS_BOXED;
}

impl Hinted for Box<dyn Policy> {
    const HINTS: Option<Hints> = None;
}

/// What a policy may know of the drive when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveShape {
    /// Erase blocks.
    pub blocks: u32,
    /// Pages in each.
    pub pages_per_block: u32,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// Free blocks that host writes may not take.
    pub reserve_blocks: u32,
}

impl DriveShape {
    /// What the configuration of a drive says of it.
    pub fn new(config: &DriveConfig) -> Self {
        Self {
            blocks: config.geometry.blocks(),
            pages_per_block: config.geometry.pages_per_block(),
            logical_pages: config.logical_pages,
            reserve_blocks: config.reserve_blocks,
        }
    }

    /// Blocks beyond those that the logical pages fill and those in reserve.
    pub fn spare_blocks(&self) -> u32 {
        let data_blocks = self.logical_pages.div_ceil(self.pages_per_block);
        self.blocks.saturating_sub(data_blocks + self.reserve_blocks)
    }
}

/// Pages that are written alike, as an oracle knows them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OracleGroup {
    /// Its share of the logical pages.
    pub pages: f64,
    /// Its share of the host writes.
    pub writes: f64,
}

impl OracleGroup {
    /// Writes per page, where 1 is the mean of the drive.
    pub fn heat(&self) -> f64 {
        self.writes / self.pages
    }
}

/// What values may be worked out from where a parameter is `auto`.
#[derive(Debug, Clone, Copy)]
pub struct FitContext<'a> {
    /// The FTL as it is named, for messages.
    pub ftl: &'a str,
    /// How large the drive is, for values that follow from it.
    pub shape: DriveShape,
    /// What is known of the workload before its first write: groups that follow one another in the
    /// address space and fill it; none where nothing is known.
    pub oracle: &'a [OracleGroup],
}

impl<'a> FitContext<'a> {
    /// What the oracle knows; an error if it knows nothing that tells pages apart. `key` is the
    /// parameter that asks, `example` a value to give it instead.
    pub fn ask_oracle(&self, key: &str, example: &str) -> Result<&'a [OracleGroup], SpecError> {
        if self.oracle.len() < 2 {
            return Err(self.refuse(
                key,
                &"auto",
                format!(
                    "possible: the workload does not say where its hot pages are; say it yourself, as \
                     in {key}={example}"
                ),
            ));
        }
        Ok(self.oracle)
    }

    /// The error that `key` cannot have `value`, but only what `expects` says.
    pub fn refuse(&self, key: &str, value: &dyn ToString, expects: String) -> SpecError {
        let (of, key) = (self.ftl.to_owned(), key.to_owned());
        SpecError::BadValue { of, key, value: value.to_string(), expects }
    }
}
