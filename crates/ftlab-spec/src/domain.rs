//! What values a parameter may have, for programs that search among them.

/// The values of a parameter. Limits are inclusive; `None` is where a parameter names no limit.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// Whole numbers.
    Whole {
        /// The least.
        low: Option<f64>,
        /// The greatest.
        high: Option<f64>,
    },
    /// Any number within these ends.
    Number {
        /// The least.
        low: Option<f64>,
        /// The greatest.
        high: Option<f64>,
    },
    /// One of a few words.
    Choice(Vec<String>),
    /// Anything else, such as a list.
    Text,
}

impl Domain {
    /// The part of it between two limits, as far as they are given.
    #[must_use]
    pub fn between(self, start: Option<f64>, end: Option<f64>) -> Self {
        match self {
            Self::Whole { low, high } => Self::Whole { low: start.or(low), high: end.or(high) },
            Self::Number { low, high } => Self::Number { low: start.or(low), high: end.or(high) },
            other => other,
        }
    }
}
