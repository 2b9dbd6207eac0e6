//! A point in time of a trace, as the user types it.

use crate::error::CliError;
use ftlab_trace::TraceMetadata;
use std::path::Path;
use std::str::FromStr;

/// A time on the clock of the trace, or one of its named phases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Moment {
    Time { time_us: u64 },
    Phase(String),
}

const UNITS: [(&str, f64); 5] =
    [("us", 1.0), ("ms", 1e3), ("s", 1e6), ("min", 60e6), ("h", 3600e6)];

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
            return Ok(Self::Phase(text.into()));
        }
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit_us = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, unit_us)| unit_us);
        let time_us = number.parse::<f64>().ok().zip(unit_us).map(|(n, unit_us)| n * unit_us);
        match time_us {
            Some(time_us) if time_us < 9e18 => Ok(Self::Time { time_us: time_us.round() as u64 }),
            _ => Err(format!(
                "{text:?} is neither a time such as 90s, 1500ms or 2min nor the name of a phase"
            )),
        }
    }
}

impl Moment {
    /// In microseconds on the clock of the trace.
    pub(super) fn time_us(&self, trace: &Path, metadata: &TraceMetadata) -> Result<u64, CliError> {
        match self {
            Self::Time { time_us } => Ok(*time_us),
            Self::Phase(phase) => Ok(metadata.phase_start_us(trace, phase)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_times_with_a_unit_or_names() {
        for (text, expected) in
            [("90s", 90_000_000), ("1500ms", 1_500_000), ("2min", 120_000_000), ("0.5s", 500_000)]
        {
            assert_eq!(text.parse(), Ok(Moment::Time { time_us: expected }));
        }
        assert_eq!("run".parse(), Ok(Moment::Phase("run".into())));
        for text in ["90", "1.2.3s", "5days", "1e30s", "99999999999999h"] {
            assert!(text.parse::<Moment>().unwrap_err().contains("such as 90s"), "{text}");
        }
    }
}
