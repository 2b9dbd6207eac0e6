//! What can be wrong with a name or a value that a user typed.

use crate::near::{NamesAndPairs, did_you_mean};
use thiserror::Error;

/// A name or value that cannot be used; the message says what to type instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum SpecError {
    /// The text is not `name:key=value,...`.
    #[error("{text:?} is not of the form name:key=value,key=value ({reason})")]
    Syntax {
        /// What was typed.
        text: String,
        /// Which part is wrong.
        reason: String,
    },
    /// The file is of no drive.
    #[error(
        "{file} is of no drive: {reason}; give a drive as `ftlab fit --save` writes it, or one of `ftlab list drives`"
    )]
    NoDrive {
        /// The file.
        file: String,
        /// Why not.
        reason: String,
    },
    /// No such FTL, generator or format.
    #[error("unknown {kind} {name:?}{}; known: {}", did_you_mean(name, known), known.join(", "))]
    UnknownName {
        /// What was looked up, such as "FTL".
        kind: &'static str,
        /// What was typed.
        name: String,
        /// Every name there is.
        known: Vec<String>,
    },
    /// No such FTL, where a name may also be a pair of parts: `first/second`.
    #[error("unknown {kind} {name:?}{}; known: {known}", known.near(name))]
    UnknownPair {
        /// What was looked up, such as "FTL".
        kind: &'static str,
        /// What was typed.
        name: String,
        /// Every name there is.
        known: Box<NamesAndPairs>,
    },
    /// The thing exists and does not have this parameter.
    #[error("{of} has no parameter {key:?}{}; {}", did_you_mean(key, known), has(known))]
    UnknownParameter {
        /// Whose parameter.
        of: String,
        /// What was typed.
        key: String,
        /// Every parameter it has.
        known: Vec<String>,
    },
    /// A parameter is given twice.
    #[error("{of}: {key} is given twice; give it once")]
    Repeated {
        /// Whose parameter.
        of: String,
        key: String,
    },
    /// A value does not parse or is out of range.
    #[error("{of}: {key}={value} is not {expects}")]
    BadValue {
        /// Whose parameter.
        of: String,
        key: String,
        /// What was typed.
        value: String,
        /// What would be right.
        expects: String,
    },
    /// A share above 1 that is not a percentage.
    #[error(
        "{text:?} is not a share: above 1, shares are typed as percentages; did you mean {text}%?"
    )]
    Percent {
        /// What was typed.
        text: String,
    },
    /// A size, share or count that does not parse.
    #[error("{text:?} is not {expects}")]
    Quantity {
        /// What was typed.
        text: String,
        /// What would be right.
        expects: &'static str,
    },
}

impl SpecError {
    /// Compiled once, and not for each type of values.
    #[cold]
    pub(crate) fn bad_value(of: &str, key: &str, value: String, expects: String) -> Self {
        Self::BadValue { of: of.into(), key: key.into(), value, expects }
    }
}

fn has(known: &[String]) -> String {
    if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_the_nearest() {
        let error = SpecError::UnknownName {
            kind: "FTL",
            name: "2r-fif".into(),
            known: vec!["1r-greedy".into(), "2r-fifo".into()],
        };
        assert_eq!(
            error.to_string(),
            "unknown FTL \"2r-fif\" (did you mean \"2r-fifo\"?); known: 1r-greedy, 2r-fifo"
        );
    }
}
