//! Sizes of volumes from a table: a line for each, with its name and its bytes.

use ftlab_experiments::ExperimentsError;
use ftlab_spec::ByteSize;
use ftlab_trace::read_text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Sizes by the names of volumes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sizes {
    bytes: BTreeMap<String, u64>,
    /// Volumes that have two sizes, with both.
    changed: Vec<(String, u64, u64)>,
    path: PathBuf,
}

impl Sizes {
    /// Reads a table: two columns, separated by a comma, a semicolon, a tab or spaces; further ones and a heading, which
    /// has no digit, are passed over. A size is a number of bytes, or has a unit, such as 40GiB or 40 GiB.
    pub fn read(path: &Path) -> Result<Self, ExperimentsError> {
        let text = read_text(path)?;
        let mut sizes = Self { path: path.into(), ..Self::default() };
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match fields(line) {
                Some((name, bytes)) => sizes.add(name, bytes),
                None if number == 1 && is_heading(line) => {}
                None => return Err(wrong(path, number, line)),
            }
        }
        if sizes.bytes.is_empty() {
            return Err(ExperimentsError::Series {
                path: path.into(),
                reason: "it has no sizes; a line is a volume and its bytes, such as 17,42949672960"
                    .into(),
            });
        }
        Ok(sizes)
    }

    fn add(&mut self, name: &str, bytes: u64) {
        match self.bytes.get_mut(name) {
            Some(before) if *before != bytes => {
                self.changed.push((name.to_owned(), *before, bytes));
                *before = (*before).max(bytes);
            }
            Some(_) => {}
            None => drop(self.bytes.insert(name.to_owned(), bytes)),
        }
    }

    /// The size of a volume.
    pub(crate) fn of(&self, name: &str) -> Option<u64> {
        self.bytes.get(name).copied()
    }

    /// What is wrong with the volume of this name, whose size comes from `taken` if not from here.
    pub(crate) fn problem(&self, name: &str, taken: &str) -> Option<String> {
        let Some((_, one, other)) = self.changed.iter().find(|(of, ..)| of == name) else {
            let is_missing = !self.bytes.contains_key(name);
            return is_missing.then(|| {
                format!("it has no size in {}, and is sized by: {taken}", self.path.display())
            });
        };
        Some(format!(
            "{} has two sizes of it, {one} and {other} bytes; the larger one is taken",
            self.path.display()
        ))
    }

    /// An error if it has none of these volumes.
    pub(crate) fn check<'a>(
        &self,
        mut names: impl Iterator<Item = &'a str>,
    ) -> Result<(), ExperimentsError> {
        let Some(first) = names.next() else { return Ok(()) };
        if self.bytes.contains_key(first) || names.any(|name| self.bytes.contains_key(name)) {
            return Ok(());
        }
        let known = self.bytes.keys().next().map_or("", String::as_str);
        Err(ExperimentsError::Series {
            path: self.path.clone(),
            reason: format!(
                "it has a size of none of the volumes: the first one of the traces is called {first:?}, the first \
                 one here {known:?}"
            ),
        })
    }
}

/// Name and bytes of a line.
fn fields(line: &str) -> Option<(&str, u64)> {
    let has_signs = line.contains(SIGNS);
    let (name, rest) = if has_signs { line.split_once(SIGNS)? } else { line.split_once(' ')? };
    let rest = rest.trim_start();
    let end = if has_signs { rest.find(SIGNS) } else { end_of_size(rest) };
    let size = &rest[..end.unwrap_or(rest.len())];
    let bytes = size.trim().trim_matches('"').parse::<ByteSize>().ok()?.0;
    let name = name.trim().trim_matches('"');
    (!name.is_empty() && bytes > 0).then_some((name, bytes))
}

/// What separates columns; without them, spaces do.
const SIGNS: [char; 3] = [',', ';', '\t'];

/// Where a size ends that spaces may separate from its unit and from what follows.
fn end_of_size(text: &str) -> Option<usize> {
    let number_end = text.find(' ')?;
    let unit = text[number_end..].trim_start();
    let unit_end = text.len() - unit.len() + unit.find(' ').unwrap_or(unit.len());
    let has_unit = text[..unit_end].parse::<ByteSize>().is_ok();
    Some(if has_unit { unit_end } else { number_end })
}

/// Whether a line names columns.
fn is_heading(line: &str) -> bool {
    !line.contains(|letter: char| letter.is_ascii_digit())
}

fn wrong(path: &Path, number: u64, line: &str) -> ExperimentsError {
    ExperimentsError::Series {
        path: path.into(),
        reason: format!(
            "line {number}: {:?} is not a volume and its size, such as 17,42949672960 or 17,40GiB",
            ftlab_trace::excerpt(line.as_bytes())
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Sizes, String> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("sizes.csv");
        std::fs::write(&path, text).unwrap();
        Sizes::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_has_a_heading_or_not() {
        for text in ["device_id,capacity\n17,42949672960\n18,40GiB\n", "17\t42949672960\n\n18  40G"]
        {
            let sizes = read(text).unwrap();
            assert_eq!((sizes.of("17"), sizes.of("18")), (Some(40 << 30), Some(40 << 30)));
            assert!(sizes.problem("17", "").is_none());
            let problem = sizes.problem("19", "highest address").unwrap();
            assert!(problem.ends_with("is sized by: highest address"), "{problem}");
            assert!(sizes.check(["19", "18"].into_iter()).is_ok());
            assert!(sizes.check(["19"].into_iter()).unwrap_err().to_string().contains("\"19\""));
        }
    }

    #[test]
    fn a_unit_may_stand_apart_and_columns_may_follow() {
        for line in [
            "17,40 GiB",
            "17;40GiB;x",
            "17\t40 GiB\t3",
            "17 40 GiB",
            "17  40 GiB x",
            "17 42949672960 3 GiB",
        ] {
            assert_eq!(read(line).unwrap().of("17"), Some(40 << 30), "{line}");
        }
    }

    #[test]
    fn what_is_no_size_is_named() {
        assert!(read("17,4o\n18,1\n").unwrap_err().contains("line 1: \"17,4o\""));
        let error = read("17,1\n18;x\n").unwrap_err();
        assert!(error.contains("line 2: \"18;x\" is not a volume and its size"), "{error}");
        assert!(read("a,b\n").unwrap_err().contains("no sizes"));
        let twice = read("1,10\n1,30\n1,20").unwrap();
        assert_eq!(twice.of("1"), Some(30));
        assert!(twice.problem("1", "").unwrap().contains("10 and 30 bytes"));
    }
}
