//! What a parameter may be: types that users type values of.

use crate::quantity::whole_number;
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
                whole_number(text)?.to_string().parse().ok()
            }

            fn domain() -> Domain {
                Domain::Whole { low: Some($low), high: None }
            }

            fn expects_for(text: &str) -> String {
                let expects = Self::expects();
                match whole_number(text) {
                    Some(number) if number > 0 => format!("{expects}, {} at most", <$type>::MAX),
                    Some(_) => expects,
                    None => format!("{expects}, such as 1000000 or 1M (k, M and G are 10^3, 10^6 and 10^9)"),
                }
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
    T::parse(text).ok_or_else(|| SpecError::bad_value(of, key, text.into(), T::expects_for(text)))
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
    let expects = format!("{} in {range:?}", T::expects());
    Err(SpecError::bad_value(of, key, value.to_string(), expects))
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
    fn counts_have_decimal_suffixes() {
        for (text, number) in [
            ("0", 0),
            ("1M", 1_000_000),
            ("2k", 2_000),
            ("2K", 2_000),
            ("4G", 4_000_000_000),
            ("1.5M", 1_500_000),
            ("0.25k", 250),
            ("+7", 7),
        ] {
            assert_eq!(u64::parse(text), Some(number), "{text}");
        }
        for text in [
            "", "M", "1.5", "0.0001k", "1 M", "1MB", "1Mi", "-1k", ".5k", "5.k", "1e6", "1T",
            "++1", "1.+5k",
        ] {
            assert_eq!(u64::parse(text), None, "{text}");
        }
        assert_eq!(NonZeroU32::parse("0k"), None);
        assert_eq!(u32::expects_for("5G"), "a whole number, 4294967295 at most");
        assert_eq!(
            NonZeroU32::expects_for("many"),
            "a whole number of at least 1, such as 1000000 or 1M (k, M and G are 10^3, 10^6 and 10^9)"
        );
    }

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
