//! Several maps, with each of which every FTL runs.

use ftlab_ftl::map::Mapping;
use ftlab_spec::SpecError;
use std::fmt;
use std::str::FromStr;

/// Where FTLs keep which page lies where: one way, or several, each for runs of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Mappings(Vec<Mapping>);

impl Mappings {
    /// Each of them, in the order in which they were named.
    pub fn each(&self) -> &[Mapping] {
        &self.0
    }

    /// Whether runs differ in them.
    pub fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// Whether all of it is in memory in every run.
    pub fn are_full(&self) -> bool {
        self.0.iter().all(Mapping::is_full)
    }

    /// Whether any asks which pages are of one request.
    pub fn ask_for_requests(&self) -> bool {
        self.0.iter().any(Mapping::asks_for_requests)
    }

    /// All of them with another size of what they keep in memory, which follows from the present one.
    #[must_use]
    pub fn scaled(&self, size: impl Fn(u64) -> u64) -> Self {
        Self(self.0.iter().map(|mapping| mapping.scaled(&size)).collect())
    }

    /// Themselves without parameters that are as they are by default.
    pub fn name(&self) -> String {
        self.0.iter().map(Mapping::name).collect::<Vec<_>>().join(",")
    }
}

impl Default for Mappings {
    fn default() -> Self {
        Self(vec![Mapping::FULL])
    }
}

impl FromStr for Mappings {
    type Err = SpecError;

    /// Reads `dftl:cache=2MiB`, or `full,dftl:cache=2MiB,entry-bytes=6`: `key=value` belongs to the map before it.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut words: Vec<String> = Vec::new();
        for part in text.split(',') {
            let is_parameter = part.find(['=', ':']).is_some_and(|at| part[at..].starts_with('='));
            match words.last_mut() {
                Some(last) if is_parameter => last.extend([",", part]),
                _ => words.push(part.to_owned()),
            }
        }
        let mut all = Vec::new();
        for word in &words {
            let mapping: Mapping = word.parse()?;
            if all.contains(&mapping) {
                return Err(SpecError::Repeated { of: "mapping".into(), key: word.clone() });
            }
            all.push(mapping);
        }
        Ok(Self(all))
    }
}

impl fmt::Display for Mappings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> = self.0.iter().map(Mapping::to_string).collect();
        f.write_str(&all.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_maps_and_their_parameters() {
        for (text, number) in [
            ("full", 1),
            ("dftl:cache=1MiB,protected=0", 1),
            ("full,dftl:cache=1MiB,protected=0,dftl:cache=2MiB", 3),
        ] {
            let mappings: Mappings = text.parse().unwrap();
            assert_eq!(mappings.each().len(), number, "{text}");
            assert_eq!(mappings.to_string().parse::<Mappings>().unwrap(), mappings, "{text}");
            assert_eq!((mappings.are_several(), mappings.are_full()), (number > 1, text == "full"));
        }
    }

    #[test]
    fn what_is_no_list_of_maps_is_refused() {
        for (text, part) in [
            ("full,full", "mapping: full is given twice; give it once"),
            ("dftl:cache=1MiB,dftl:cache=1024KiB", "dftl:cache=1024KiB is given twice"),
            ("full,cache=1MiB", "cache=1MiB"),
            ("full,", "the name is missing"),
            ("full,dtfl:cache=1MiB", "did you mean \"dftl\"?"),
        ] {
            let error = text.parse::<Mappings>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
