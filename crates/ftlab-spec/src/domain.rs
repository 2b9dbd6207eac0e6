//! What values a parameter may have, for programs that search among them.

use crate::Value;
use std::ops::{Bound, RangeBounds};

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
    /// Numbers.
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
    /// The part of it within `range`.
    #[must_use]
    pub fn within<T: Value>(self, range: &impl RangeBounds<T>) -> Self {
        let limit = |bound: Bound<&T>| match bound {
            Bound::Included(value) | Bound::Excluded(value) => value.print().parse::<f64>().ok(),
            Bound::Unbounded => None,
        };
        let (start, end) = (limit(range.start_bound()), limit(range.end_bound()));
        match self {
            Self::Whole { low, high } => Self::Whole { low: start.or(low), high: end.or(high) },
            Self::Number { low, high } => Self::Number { low: start.or(low), high: end.or(high) },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OrAuto;
    use std::num::NonZeroU32;

    #[test]
    fn types_and_ranges_tell_what_values_there_are() {
        let whole = |low, high| Domain::Whole { low, high };
        assert_eq!(u32::domain(), whole(Some(0.0), None));
        assert_eq!(OrAuto::<NonZeroU32>::domain(), whole(Some(1.0), None));
        assert_eq!(u32::domain().within(&(2..=9_u32)), whole(Some(2.0), Some(9.0)));
        assert_eq!(u32::domain().within(&(..=9_u32)), whole(Some(0.0), Some(9.0)));
        let share = f64::domain().within(&(0.0..=1.0));
        assert_eq!(share, Domain::Number { low: Some(0.0), high: Some(1.0) });
        assert_eq!(bool::domain(), Domain::Choice(vec!["on".into(), "off".into()]));
    }
}
