//! The macro that declares facts.

/// Declares a part of a result and its facts.
///
/// The scope comes first. Each field is `/// doc`, then `field: type` and, if it is a fact,
/// `= kind, "unit", from "source"` and `[where it is shown]`; `=> tell` if it is a part with facts of its own, `=> list`
/// if these are shown elsewhere, `=> each` for a list of parts. Further attributes of a field follow its comment and an
/// `@`.
macro_rules! facts {
    (
        $scope:ident:
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $(@ $(#[$attribute:meta])+)?
                $field:ident: $type:ty
                $(= $kind:expr, $unit:literal, from $source:literal $([$($shown:expr),+ $(,)?])?)?
                $(=> $part:ident $(<$of:ident>)?)?;
            )*
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $(
                $(#[doc = $doc])+
                $($(#[$attribute])+)?
                pub $field: $type,
            )*
        }

        impl $crate::fact::Facts for $name {
            #[allow(unused_imports, unused_mut, unused_variables, clippy::enum_glob_use, clippy::too_many_lines)]
            fn facts() -> ::std::vec::Vec<$crate::fact::Fact<Self>> {
                use $crate::fact::Column::{Optional, Real, Whole};
                use $crate::fact::Kind::{Count, List, Millis, Moment, Ratio, Series, Share, Text, Time};
                use $crate::fact::Sheet::{
                    Events, Faults, Groups, Handles, Map, Mixed, Moves, Refresh, Requests, Responses, Runs, Slc,
                    Waits, Wear,
                };
                use $crate::fact::When::{Always, InPart, Known, Nonzero, WithBuffer, WithQueues};
                use $crate::fact::{
                    Column, Measured, Part, compared, frame, report, running, stored, sweep, table,
                };
                let mut facts = ::std::vec::Vec::new();
                $({
                    let (path, doc) = (::std::stringify!($field), [$($doc),+]);
                    $(
                        let fact = $crate::fact::Fact::new(
                            path,
                            ($kind, $unit, $source),
                            &doc,
                            |of: &Self| of.$field.measured(),
                        );
                        let shown = ::std::vec![$($($shown),+)?];
                        facts.push(fact.of_each($crate::fact::Scope::$scope).shown(shown));
                    )?
                    $(facts.extend($crate::fact::facts!(@$part path, $field $(, $of)?));)?
                })*
                facts
            }
        }

        impl $crate::fact::Part for $name {
            type Of = Self;

            fn part(&self) -> ::std::option::Option<&Self> {
                ::std::option::Option::Some(self)
            }
        }
    };
    (@tell $path:ident, $field:ident) => {
        $crate::fact::tell($path, |of: &Self| of.$field.part())
    };
    (@list $path:ident, $field:ident) => {
        $crate::fact::list($path, |of: &Self| of.$field.part())
    };
    (@each $path:ident, $field:ident, $of:ident) => {
        $crate::fact::each::<Self, $of>($path)
    };
}

pub(crate) use facts;
