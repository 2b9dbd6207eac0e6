//! Typed parameters, declared once: parsed, checked, documented and printed from one place.

use crate::{Domain, Spec, SpecError};
use std::fmt::{Debug, Display};
use std::num::NonZeroU32;
use std::ops::RangeBounds;

/// One documented parameter, as `ftlab list` shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The key in `name:key=value`.
    pub name: &'static str,
    /// Its value where none is given.
    pub default: String,
    /// What a value may be, such as "a number in 0.0..=1.0".
    pub expects: String,
    /// The same for programs.
    pub domain: Domain,
    /// What it does.
    pub doc: String,
    /// Where the default comes from: a paper and its section, or our reading.
    pub source: &'static str,
}

/// A set of parameters, made by [`parameters!`](crate::parameters!).
pub trait Parameters: Sized + Default {
    /// Every parameter, in order of declaration.
    fn describe() -> Vec<Parameter>;

    /// The defaults, overridden by the arguments of `spec`.
    fn from_spec(spec: &Spec) -> Result<Self, SpecError>;

    /// Every parameter with its present value, as text that parses back.
    fn values(&self) -> Vec<(&'static str, String)>;

    /// The values that `spec` comes to: what means the same gives the same.
    fn resolve(spec: &Spec) -> Result<Vec<(&'static str, String)>, SpecError> {
        Self::from_spec(spec).map(|parameters| parameters.values())
    }
}

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

/// Declares a struct of parameters and implements [`Parameters`] for it.
///
/// Each line is `/// doc`, then `field: type = default, "key" in range, from "source";`, where
/// `in range` may be left out.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty = $default:expr, $key:literal $(in $range:expr)?, from $source:literal;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)*
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $crate::Parameters for $name {
            fn describe() -> ::std::vec::Vec<$crate::Parameter> {
                #[allow(unused_mut)]
                let mut parameters = ::std::vec::Vec::new();
                $(
                    let default: $type = $default;
                    #[allow(unused_mut)]
                    let mut expects = <$type as $crate::Value>::expects();
                    #[allow(unused_mut)]
                    let mut domain = <$type as $crate::Value>::domain();
                    $(
                        expects = ::std::format!("{expects} in {:?}", $range);
                        domain = domain.within::<$type>(&($range));
                    )?
                    parameters.push($crate::Parameter {
                        name: $key,
                        default: $crate::Value::print(&default),
                        expects,
                        domain,
                        doc: [$($doc),+].map(str::trim).join(" "),
                        source: $source,
                    });
                )*
                parameters
            }

            fn from_spec(spec: &$crate::Spec) -> ::std::result::Result<Self, $crate::SpecError> {
                #[allow(unused_mut)]
                let mut parameters = Self::default();
                for (key, text) in &spec.arguments {
                    let _ = text;
                    match key.as_str() {
                        $($key => {
                            let value = $crate::parse_value::<$type>(&spec.name, key, text)?;
                            $(let value = $crate::check_range(&spec.name, key, value, &($range))?;)?
                            parameters.$field = value;
                        })*
                        _ => return ::std::result::Result::Err($crate::SpecError::UnknownParameter {
                            of: spec.name.clone(),
                            key: key.clone(),
                            known: ::std::vec![$($key.into()),*],
                        }),
                    }
                }
                ::std::result::Result::Ok(parameters)
            }

            fn values(&self) -> ::std::vec::Vec<(&'static str, ::std::string::String)> {
                ::std::vec![$(($key, $crate::Value::print(&self.$field))),*]
            }
        }
    };
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
    use crate::{Domain, Parameters, Spec};

    choices! {
        /// A choice.
        pub(super) enum Order {
            /// Oldest first.
            Fifo = "fifo",
            /// Newest first.
            Lifo = "lifo",
        }
    }

    parameters! {
        /// An example.
        pub(super) struct Example {
            /// A share.
            share: f64 = 0.5, "share" in 0.0..=1.0, from "a paper";
            /// An order.
            order: Order = Order::Fifo, "order", from "our reading";
        }
    }

    fn parse(text: &str) -> Result<Example, String> {
        let spec = text.parse::<Spec>().map_err(|error| error.to_string())?;
        Example::from_spec(&spec).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_override_defaults() {
        assert_eq!(parse("e").unwrap(), Example { share: 0.5, order: Order::Fifo });
        assert_eq!(
            parse("e:order=lifo,share=0").unwrap(),
            Example { share: 0.0, order: Order::Lifo }
        );
    }

    #[test]
    fn wrong_arguments_say_what_is_right() {
        assert_eq!(parse("e:share=2").unwrap_err(), "e: share=2 is not a number in 0.0..=1.0");
        assert_eq!(parse("e:order=x").unwrap_err(), "e: order=x is not one of fifo, lifo");
        assert_eq!(
            parse("e:shar=1").unwrap_err(),
            "e has no parameter \"shar\" (did you mean \"share\"?); it has share, order"
        );
    }

    #[test]
    fn a_description_is_complete_and_values_parse_back() {
        let described = Example::describe();
        assert_eq!(described[0].expects, "a number in 0.0..=1.0");
        assert_eq!(described[0].domain, Domain::Number { low: Some(0.0), high: Some(1.0) });
        assert_eq!(described[1].domain, Domain::Choice(vec!["fifo".into(), "lifo".into()]));
        assert_eq!(
            (described[1].default.as_str(), described[1].doc.as_str()),
            ("fifo", "An order.")
        );
        let values = parse("e:share=0.25").unwrap().values();
        assert_eq!(values, [("share", "0.25".to_owned()), ("order", "fifo".to_owned())]);
        let resolved = |text: &str| Example::resolve(&text.parse().unwrap()).unwrap();
        assert_eq!(resolved("e:order=fifo,share=.50"), resolved("e"));
    }
}
