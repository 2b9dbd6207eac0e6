//! The text form `name:key=value,...`; a key alone is `key=on`.

use crate::SpecError;
use std::fmt;
use std::str::FromStr;

/// A name with its arguments, as typed: `2r-fifo:blk-util=0.4,fallback=greedy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The part before the colon.
    pub name: String,
    /// `key=value` pairs in the order typed; keys are distinct.
    pub arguments: Vec<(String, String)>,
}

impl Spec {
    /// A name without arguments.
    pub fn bare(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: Vec::new() }
    }

    /// The value of `key`, if it was given.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.arguments.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let syntax = |reason: &str| SpecError::Syntax { text: text.into(), reason: reason.into() };
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        if name.is_empty() {
            return Err(syntax("the name is missing"));
        }
        let mut spec = Spec::bare(name);
        for argument in rest.split(',').filter(|argument| !argument.is_empty()) {
            let (key, value) = argument.split_once('=').unwrap_or((argument, "on"));
            if spec.get(key).is_some() {
                return Err(SpecError::Repeated { of: name.into(), key: key.into() });
            }
            spec.arguments.push((key.into(), value.into()));
        }
        Ok(spec)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, (key, value)) in self.arguments.iter().enumerate() {
            write!(f, "{}{key}={value}", if index == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints_back() {
        for text in ["uniform", "zipf:theta=0.9", "2r++:blk-util=0.4,victims=cost-benefit"] {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
        assert_eq!(
            "zipf:exact,theta=1".parse::<Spec>().unwrap().to_string(),
            "zipf:exact=on,theta=1"
        );
    }

    #[test]
    fn names_what_is_wrong() {
        for (text, part) in [
            (":a=1", "the name is missing"),
            ("x:a=1,a=2", "a is given twice"),
            ("x:a,a=2", "a is given twice"),
        ] {
            let message = text.parse::<Spec>().unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
