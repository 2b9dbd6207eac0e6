//! What a parameter may be: types that users type values of.

use crate::{ByteSize, Domain, SpecError};
use std::fmt::{Debug, Display};
use std::num::NonZeroU32;
use std::ops::{Bound, RangeBounds};

/// A type that a parameter may have.
pub trait Value: Sized + Display {
    /// What a value looks like, to follow "is not".
    fn expects() -> String;

    /// Reads a value; `None` where the text is not one.
    fn parse(text: &str) -> Option<Self>;

    /// What values there are.
    fn domain() -> Domain {
        Domain::Text
    }

    /// Those of them within `range`.
    fn domain_within(range: &impl RangeBounds<Self>) -> Domain {
        let limit = |bound: Bound<&Self>| match bound {
            Bound::Included(value) | Bound::Excluded(value) => value.print().parse::<f64>().ok(),
            Bound::Unbounded => None,
        };
        Self::domain().between(limit(range.start_bound()), limit(range.end_bound()))
    }

    /// What is to be typed instead of `text`, to follow "is not"; types whose values have parts name
    /// the wrong one.
    fn expects_for(_text: &str) -> String {
        Self::expects()
    }

    /// The value as a user types it.
    fn print(&self) -> String {
        self.to_string()
    }
}

macro_rules! number_values {
    ($($type:ty: $expects:literal from $low:literal),*) => {$(
        impl Value for $type {
            fn expects() -> String {
                $expects.into()
            }

            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn domain() -> Domain {
                Domain::Whole { low: Some($low), high: None }
            }

            fn expects_for(text: &str) -> String {
                let is_too_large = text.parse::<u128>().is_ok_and(|number| number > 0);
                let most = if is_too_large { format!(", {} at most", <$type>::MAX) } else { String::new() };
                Self::expects() + &most
            }
        }
    )*};
}
number_values!(
    u32: "a whole number" from 0.0,
    u64: "a whole number" from 0.0,
    NonZeroU32: "a whole number of at least 1" from 1.0
);

impl Value for f64 {
    fn expects() -> String {
        "a number".into()
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn domain() -> Domain {
        Domain::Number { low: None, high: None }
    }
}

impl Value for bool {
    fn expects() -> String {
        "on or off".into()
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "on" | "true" => Some(true),
            "off" | "false" => Some(false),
            _ => None,
        }
    }

    fn domain() -> Domain {
        Domain::Choice(vec!["on".into(), "off".into()])
    }

    fn print(&self) -> String {
        if *self { "on".into() } else { "off".into() }
    }
}

impl Value for ByteSize {
    fn expects() -> String {
        "a size such as 16MiB".into()
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// Reads the value of `key`, which belongs to `of`.
pub fn parse_value<T: Value>(of: &str, key: &str, text: &str) -> Result<T, SpecError> {
    T::parse(text).ok_or_else(|| SpecError::BadValue {
        of: of.into(),
        key: key.into(),
        value: text.into(),
        expects: T::expects_for(text),
    })
}

/// Refuses a value outside `range`.
pub fn check_range<T: Value + PartialOrd, R: RangeBounds<T> + Debug>(
    of: &str,
    key: &str,
    value: T,
    range: &R,
) -> Result<T, SpecError> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(SpecError::BadValue {
        of: of.into(),
        key: key.into(),
        value: value.to_string(),
        expects: format!("{} in {range:?}", T::expects()),
    })
}

/// Declares an enum whose variants have names that users type, and implements [`Value`] for it.
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $crate::Value for $name {
            fn expects() -> ::std::string::String {
                ::std::format!("one of {}", [$($text),+].join(", "))
            }

            fn parse(text: &str) -> ::std::option::Option<Self> {
                match text {
                    $($text => ::std::option::Option::Some(Self::$variant),)+
                    _ => ::std::option::Option::None,
                }
            }

            fn domain() -> $crate::Domain {
                $crate::Domain::Choice(::std::vec![$($text.into()),+])
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $text,)+
                })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OrAuto;

    #[test]
    fn types_and_ranges_tell_what_values_there_are() {
        let whole = |low, high| Domain::Whole { low, high };
        assert_eq!(u32::domain(), whole(Some(0.0), None));
        assert_eq!(OrAuto::<NonZeroU32>::domain(), whole(Some(1.0), None));
        assert_eq!(u32::domain_within(&(2..=9)), whole(Some(2.0), Some(9.0)));
        assert_eq!(u32::domain_within(&(..=9)), whole(Some(0.0), Some(9.0)));
        let share = f64::domain_within(&(0.0..=1.0));
        assert_eq!(share, Domain::Number { low: Some(0.0), high: Some(1.0) });
        assert_eq!(bool::domain(), Domain::Choice(vec!["on".into(), "off".into()]));
    }
}
