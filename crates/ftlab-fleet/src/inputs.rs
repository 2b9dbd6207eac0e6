//! Which traces there are: files, patterns of names, standard input.

use ftlab_experiments::ExperimentsError;
use ftlab_sim::SimError;
use ftlab_trace::{Contents, Stamp};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A trace of a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputFile {
    /// As it was named.
    pub path: PathBuf,
    /// What would be different if somebody had written to it since; none of what is no file.
    pub stamp: Option<Stamp>,
}

impl InputFile {
    fn of(path: PathBuf) -> Self {
        let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file);
        Self { stamp: metadata.as_ref().map(Stamp::of), path }
    }
}

/// The traces that `names` stand for, in order, and what is wrong with some: files that are there twice.
pub(crate) fn inputs(names: &[PathBuf]) -> Result<(Vec<InputFile>, Vec<String>), ExperimentsError> {
    let mut paths = Vec::new();
    for name in names {
        match pattern(name) {
            Some((folder, pattern)) => paths.extend(matching(name, &folder, &pattern)?),
            None => paths.push(name.clone()),
        }
    }
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(unusable("standard input is named twice", "name - once"));
    }
    without_copies(paths)
}

fn unusable(what: impl Into<String>, remedy: impl Into<String>) -> ExperimentsError {
    SimError::Unusable { what: what.into(), remedy: remedy.into() }.into()
}

/// The folder of a name that is a pattern, and the pattern.
fn pattern(name: &Path) -> Option<(PathBuf, String)> {
    let last = name.file_name()?.to_str()?;
    if !last.contains(['*', '?']) || name.exists() {
        return None;
    }
    let folder = name.parent().filter(|folder| folder.as_os_str() != "");
    Some((folder.unwrap_or(Path::new(".")).into(), last.to_owned()))
}

/// The files of `folder` whose names are like `pattern`, in the order of their names.
fn matching(name: &Path, folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, ExperimentsError> {
    let entries = fs::read_dir(folder)
        .map_err(|source| ExperimentsError::Read { path: folder.into(), source })?;
    let paths = entries.flatten().map(|entry| entry.path());
    let is_like = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        path.is_file() && !name.starts_with('.') && fits(pattern.as_bytes(), name.as_bytes())
    };
    let mut paths: Vec<_> = paths.filter(is_like).collect();
    paths.sort();
    if paths.is_empty() {
        let what = format!("no file is called {}", name.display());
        return Err(unusable(what, "give files, or a pattern such as traces/*.csv.gz"));
    }
    Ok(paths)
}

/// Whether a name is like a pattern, in which `*` stands for anything and `?` for one byte.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skipped| fits(rest, &name[skipped..])),
        Some((b'?', rest)) => !name.is_empty() && fits(rest, &name[1..]),
        Some((byte, rest)) => name.first() == Some(byte) && fits(rest, &name[1..]),
    }
}

/// Each file once. Files of one size are compared; others cannot be copies.
fn without_copies(paths: Vec<PathBuf>) -> Result<(Vec<InputFile>, Vec<String>), ExperimentsError> {
    let contents = Contents::new();
    let mut by_size: HashMap<u64, Vec<PathBuf>> = HashMap::new();
    let (mut inputs, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file).map(|file| file.len());
        if let Some(size) = size.filter(|size| *size > 0) {
            let others = by_size.entry(size).or_default();
            let mut copy_of = None;
            for other in others.iter() {
                if is_copy(&path, other, &contents)? {
                    copy_of = Some(other.clone());
                }
            }
            if let Some(other) = copy_of {
                let (path, other) = (path.display(), other.display());
                problems.push(format!("{path} is the same as {other}, and is left out"));
                continue;
            }
            others.push(path.clone());
        }
        inputs.push(InputFile::of(path));
    }
    Ok((inputs, problems))
}

fn is_copy(one: &Path, other: &Path, contents: &Contents) -> Result<bool, ExperimentsError> {
    if fs::canonicalize(one).ok() == fs::canonicalize(other).ok() {
        return Ok(true);
    }
    Ok(contents.of(one)? == contents.of(other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_like_patterns() {
        for (pattern, name, is_like) in [
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("a?c*", "abc", true),
            ("a?c*", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), is_like, "{pattern} {name}");
        }
    }

    #[test]
    fn patterns_are_sorted_and_copies_left_out() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for (name, text) in [("b.csv", "one"), ("a.csv", "two"), ("c.csv", "one"), (".d.csv", "x")]
        {
            fs::write(at(name), text).unwrap();
        }
        let (files, problems) = inputs(&[at("*.csv"), at("a.csv"), at("absent.csv")]).unwrap();
        let names: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
        assert_eq!(names, [at("a.csv"), at("b.csv"), at("absent.csv")]);
        assert!(files[0].stamp.is_some() && files[2].stamp.is_none());
        assert_eq!(problems.len(), 2);
        assert!(problems[0].contains("c.csv is the same as") && problems[0].contains("b.csv"));
        let error = inputs(&[at("*.gz")]).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("no file is called"), "{error}");
        assert!(inputs(&["-".into(), "-".into()]).is_err());
    }
}
