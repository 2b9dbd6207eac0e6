//! When garbage is collected.

use ftlab_spec::{NoParameters, Parameters, Spec, SpecError};
use std::fmt;
use std::str::FromStr;

ftlab_spec::parameters! {
    /// Parameters of incremental collection.
    pub struct IncrementalParameters {
        /// Relocations behind a host write at most; 0 is as many as it takes to be in time.
        pages: u32 = 0, "pages" in 0..=1_000_000, from "our choice";
    }
}

/// When garbage is collected, relative to host writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GcSchedule {
    /// A whole collection before the host write that finds no room.
    #[default]
    Foreground,
    /// A few relocations behind each host write.
    Incremental {
        /// At most so many; 0 is no limit.
        pages_max: u32,
    },
}

impl GcSchedule {
    /// The schedule that `spec` names: `foreground`, or `incremental:pages=8`.
    pub fn from_spec(spec: &Spec) -> Result<Self, SpecError> {
        match spec.name.as_str() {
            "foreground" => NoParameters::from_spec(spec).map(|_| Self::Foreground),
            "incremental" => IncrementalParameters::from_spec(spec)
                .map(|parameters| Self::Incremental { pages_max: parameters.pages }),
            _ => Err(SpecError::UnknownName {
                kind: "schedule of garbage collection",
                name: spec.name.clone(),
                known: vec!["foreground".into(), "incremental".into()],
            }),
        }
    }
}

impl fmt::Display for GcSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreground => f.write_str("foreground"),
            Self::Incremental { pages_max } => write!(f, "incremental:pages={pages_max}"),
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
        assert!(schedule("increment").unwrap_err().contains("did you mean \"incremental\"?"));
        assert!(schedule("foreground:pages=8").is_err());
    }
}
