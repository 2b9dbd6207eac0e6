//! A value, or "auto".

use crate::{Domain, Value};
use std::fmt;

/// A value that is given, or left to be worked out for the drive and the workload at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrAuto<T> {
    /// A value.
    Given(T),
    /// None yet.
    Auto,
}

impl<T> OrAuto<T> {
    /// The value, if there is one.
    pub fn given(&self) -> Option<&T> {
        match self {
            Self::Given(value) => Some(value),
            Self::Auto => None,
        }
    }

    /// The value; where it is left open, `make` makes it, and it is given from then on.
    pub fn fit(&mut self, make: impl FnOnce() -> T) -> &T {
        if let Self::Auto = self {
            *self = Self::Given(make());
        }
        match self {
            Self::Given(value) => value,
            Self::Auto => unreachable!("it has just been given"),
        }
    }
}

impl<T: Value> Value for OrAuto<T> {
    fn expects() -> String {
        format!("auto or {}", T::expects())
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "auto" { Some(Self::Auto) } else { T::parse(text).map(Self::Given) }
    }

    fn domain() -> Domain {
        T::domain()
    }

    fn print(&self) -> String {
        self.given().map_or("auto".into(), Value::print)
    }
}

impl<T: Value> fmt::Display for OrAuto<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.print())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_or_auto_parses_and_prints() {
        for text in ["auto", "7"] {
            assert_eq!(OrAuto::<u32>::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(OrAuto::<u32>::parse("x"), None);
        assert_eq!(OrAuto::<u32>::expects(), "auto or a whole number");
    }

    #[test]
    fn fitting_gives_what_is_open_and_nothing_else() {
        let (mut open, mut given) = (OrAuto::Auto, OrAuto::Given(1));
        assert_eq!((*open.fit(|| 2), *given.fit(|| 2)), (2, 1));
        assert_eq!(open, OrAuto::Given(2));
    }
}
