//! Typed parameters, declared once: parsed, checked, documented and printed from one place.

use crate::{Domain, Spec, SpecError, Value};
use std::fmt::Debug;
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
    /// What a value may be, for programs.
    pub domain: Domain,
    /// What it does.
    pub doc: String,
    /// Where the default comes from: a paper and its section, or our reading.
    pub source: &'static str,
    /// What it is a parameter of, where a list is divided; empty where it is not.
    pub group: &'static str,
}

impl Parameter {
    /// A parameter that may be any `T`; `doc` has the lines of its comment.
    pub fn new<T: Value>(
        name: &'static str,
        default: &T,
        doc: &[&str],
        source: &'static str,
    ) -> Self {
        Self::of(name, [default.print(), T::expects()], T::domain(), doc, source)
    }

    fn of(
        name: &'static str,
        [default, expects]: [String; 2],
        domain: Domain,
        doc: &[&str],
        source: &'static str,
    ) -> Self {
        let doc: Vec<_> = doc.iter().map(|line| line.trim()).collect();
        Self { name, default, expects, domain, doc: doc.join(" "), source, group: "" }
    }

    /// Puts the parameter in a group of its list.
    #[must_use]
    pub fn grouped(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    /// Its values have to be in `range`.
    #[must_use]
    pub fn within<T: Value>(mut self, range: &(impl RangeBounds<T> + Debug)) -> Self {
        self.expects = format!("{} in {range:?}", self.expects);
        self.domain = T::domain_within(range);
        self
    }

    /// Gives the parameter `name` of `parameters`, which has to be there, another default.
    pub fn redefine<T: Value>(
        parameters: &mut [Self],
        name: &str,
        default: &T,
        source: &'static str,
    ) {
        let redefined = parameters.iter_mut().find(|parameter| parameter.name == name);
        let parameter = redefined.unwrap_or_else(|| panic!("no parameter is called {name}"));
        parameter.default = default.print();
        parameter.source = source;
    }
}

/// A set of parameters, made by [`parameters!`](crate::parameters!).
pub trait Parameters: Sized + Default {
    /// Every parameter, in order of declaration.
    fn describe() -> Vec<Parameter>;

    /// Sets the parameter `key` of what is called `of` to what `text` says; false if there is no such
    /// parameter.
    fn set(&mut self, of: &str, key: &str, text: &str) -> Result<bool, SpecError>;

    /// Every parameter with its present value, as text that parses back, in order of declaration.
    fn values(&self) -> Vec<(&'static str, String)>;

    /// The defaults, overridden by the arguments of `spec`.
    fn from_spec(spec: &Spec) -> Result<Self, SpecError> {
        let mut parameters = Self::default();
        set_all(spec, &mut |key, text| parameters.set(&spec.name, key, text), Self::describe)?;
        Ok(parameters)
    }

    /// The values that `spec` comes to: what means the same gives the same.
    fn resolve(spec: &Spec) -> Result<Vec<(&'static str, String)>, SpecError> {
        Self::from_spec(spec).map(|parameters| parameters.values())
    }
}

/// Compiled once, and not for each set of parameters.
fn set_all(
    spec: &Spec,
    set: &mut dyn FnMut(&str, &str) -> Result<bool, SpecError>,
    describe: fn() -> Vec<Parameter>,
) -> Result<(), SpecError> {
    for (key, text) in &spec.arguments {
        if !set(key, text)? {
            return Err(SpecError::UnknownParameter {
                of: spec.name.clone(),
                key: key.clone(),
                known: describe().iter().map(|known| known.name.to_owned()).collect(),
            });
        }
    }
    Ok(())
}

/// Declares a struct of parameters and implements [`Parameters`] for it.
///
/// Each line is `/// doc`, then `field: type = default, "key" in range, from "source";`, where
/// `in range` may be left out. A long list is divided by `of "group"` at the end of the lines.
///
/// Parameters that several things have are declared once, as a struct of their own. A line
/// `..field: Struct;` includes them: they are typed, listed and printed at this place, as if they had been
/// declared here. `except` gives some of them other defaults, each with its key and its source:
///
/// ```
/// ftlab_spec::parameters! {
///     /// What is poured over something.
///     pub struct Water {
///         /// Its temperature.
///         celsius: u32 = 100, "celsius" in 0..=100, from "the kettle";
///         /// How much of it.
///         grams: u32 = 250, "grams", from "the cup";
///     }
/// }
/// ftlab_spec::parameters! {
///     /// How to brew.
///     pub struct Tea {
///         /// Minutes in the pot.
///         minutes: u32 = 4, "minutes", from "the tin";
///         ..water: Water, except { celsius = 80, "celsius", from "the tin"; };
///         /// Milk or not.
///         milk: bool = false, "milk", from "our habit";
///     }
/// }
/// use ftlab_spec::Parameters;
///
/// let tea = Tea::from_spec(&"tea:grams=300".parse()?)?;
/// assert_eq!((tea.water.celsius, tea.water.grams), (80, 300));
/// let keys: Vec<_> = tea.values().into_iter().map(|(key, _)| key).collect();
/// assert_eq!(keys, ["minutes", "celsius", "grams", "milk"]);
/// # Ok::<(), ftlab_spec::SpecError>(())
/// ```
#[macro_export]
macro_rules! parameters {
    // Sections, each of what it includes, if that is something, and of lines.
    (
        @sections { $(#[$meta:meta])* $vis:vis struct $name:ident }
        $({
            { $(
                $shared:ident: $group:ty
                { $($of:ident = $new:expr, $its:literal, from $why:literal;)* }
            )? }
            { $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty = $default:expr, $key:literal $(in $range:expr)?, from $source:literal
                $(, of $division:literal)?;
            )* }
        })+
    ) => {
        // A struct without a comment says by its name whose parameters these are.
        #[allow(missing_docs)]
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name {
            $(
                $(
                    #[doc = ::std::concat!("Those of `", ::std::stringify!($group), "`.")]
                    pub $shared: $group,
                )?
                $($(#[doc = $doc])+ pub $field: $type,)*
            )+
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                $($(
                    #[allow(unused_mut)]
                    let mut $shared = <$group as ::std::default::Default>::default();
                    $($shared.$of = $new;)*
                )?)+
                Self { $($($shared,)? $($field: $default,)*)+ }
            }
        }

        impl $crate::Parameters for $name {
            #[allow(unused_mut, unused_variables)]
            fn describe() -> ::std::vec::Vec<$crate::Parameter> {
                let defaults = <Self as ::std::default::Default>::default();
                [$(
                    $({
                        let mut shared = <$group as $crate::Parameters>::describe();
                        $(
                            let default = &defaults.$shared.$of;
                            $crate::Parameter::redefine(&mut shared, $its, default, $why);
                        )*
                        shared
                    },)?
                    ::std::vec![$(
                        $crate::Parameter::new($key, &defaults.$field, &[$($doc),+], $source)
                            $(.within::<$type>(&($range)))?
                            $(.grouped($division))?
                    ),*],
                )+].concat()
            }

            #[allow(unused_variables)]
            fn set(
                &mut self,
                of: &str,
                key: &str,
                text: &str,
            ) -> ::std::result::Result<bool, $crate::SpecError> {
                $($(if key == $key {
                    let value = $crate::parse_value::<$type>(of, key, text)?;
                    $(let value = $crate::check_range(of, key, value, &($range))?;)?
                    self.$field = value;
                    return ::std::result::Result::Ok(true);
                })*)+
                $($(if $crate::Parameters::set(&mut self.$shared, of, key, text)? {
                    return ::std::result::Result::Ok(true);
                })?)+
                ::std::result::Result::Ok(false)
            }

            fn values(&self) -> ::std::vec::Vec<(&'static str, ::std::string::String)> {
                [$(
                    $($crate::Parameters::values(&self.$shared),)?
                    ::std::vec![$(($key, $crate::Value::print(&self.$field))),*],
                )+].concat()
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty = $default:expr, $key:literal $(in $range:expr)?, from $source:literal
                $(, of $division:literal)?;
            )*
            $(
                ..$shared:ident: $group:ty $(, except {
                    $($of:ident = $new:expr, $its:literal, from $why:literal;)+
                })?;
                $(
                    $(#[doc = $more_doc:literal])+
                    $more:ident: $more_type:ty = $more_default:expr,
                    $more_key:literal $(in $more_range:expr)?, from $more_source:literal
                    $(, of $more_division:literal)?;
                )*
            )*
        }
    ) => {
        $crate::parameters! {
            @sections { $(#[$meta])* $vis struct $name }
            { {} { $(
                $(#[doc = $doc])+
                $field: $type = $default, $key $(in $range)?, from $source $(, of $division)?;
            )* } }
            $({
                { $shared: $group { $($($of = $new, $its, from $why;)+)? } }
                { $(
                    $(#[doc = $more_doc])+
                    $more: $more_type = $more_default, $more_key $(in $more_range)?, from $more_source
                    $(, of $more_division)?;
                )* }
            })*
        }
    };
}

parameters! {
    /// For things that have no parameters.
    pub struct NoParameters {}
}

#[cfg(test)]
mod tests {
    use crate::{Domain, Parameters, Spec};

    crate::choices! {
        /// A choice.
        pub(super) enum Order {
            /// Oldest first.
            Fifo = "fifo",
            /// Newest first.
            Lifo = "lifo",
        }
    }

    parameters! {
        /// What several examples have.
        pub(super) struct Shared {
            /// A size.
            size: u32 = 7, "size" in 1..=9, from "a paper", of "shape";
            /// A switch.
            switch: bool = false, "switch", from "a paper";
        }
    }

    parameters! {
        /// An example that has more.
        pub(super) struct Including {
            /// The first.
            first: u32 = 1, "first", from "our reading";
            ..shared: Shared, except { switch = true, "switch", from "our choice"; };
            /// The last.
            last: u32 = 2, "last", from "our reading";
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

    #[test]
    fn what_is_included_is_listed_at_its_place_with_its_defaults() {
        let described = Including::describe();
        let listed: Vec<_> =
            described.iter().map(|p| (p.name, p.default.as_str(), p.source)).collect();
        let expected = [
            ("first", "1", "our reading"),
            ("size", "7", "a paper"),
            ("switch", "on", "our choice"),
            ("last", "2", "our reading"),
        ];
        assert_eq!(listed, expected);
        assert_eq!(described[1], Shared::describe()[0]);
        assert_eq!([described[0].group, described[1].group], ["", "shape"]);
        let values: Vec<_> = Including::default().values();
        assert!(
            values.iter().zip(expected).all(|(value, (name, default, _))| {
                (value.0, value.1.as_str()) == (name, default)
            })
        );
    }

    #[test]
    fn what_is_included_is_typed_and_checked_like_the_rest() {
        let parse = |text: &str| Including::from_spec(&text.parse().unwrap());
        let parsed = parse("i:size=3,last=4").unwrap();
        assert_eq!((parsed.shared.size, parsed.shared.switch, parsed.last), (3, true, 4));
        let refused = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(refused("i:size=10"), "i: size=10 is not a whole number in 1..=9");
        assert_eq!(
            refused("i:siz=1"),
            "i has no parameter \"siz\" (did you mean \"size\"?); it has first, size, switch, last"
        );
    }
}
