//! Traces in several files: `NAME.blktrace.0`, `NAME.blktrace.1` and so on, one per CPU.

use std::path::{Path, PathBuf};

const ENDING: &str = ".blktrace.";

/// The file that `path` names, or the first of those that it stands for, and the others beside it in
/// order of their numbers.
pub(super) fn of(path: &Path) -> (PathBuf, Vec<PathBuf>) {
    let mut first = path.to_owned();
    if !path.exists() {
        let mut cpu_0 = path.as_os_str().to_owned();
        cpu_0.push(format!("{ENDING}0"));
        if Path::new(&cpu_0).exists() {
            first = cpu_0.into();
        }
    }
    let Some((stem, _)) = parts(&first) else { return (first, Vec::new()) };
    let folder = match first.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut others: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let other = first.with_file_name(entry.file_name());
        match parts(&other) {
            Some((other_stem, cpu)) if other_stem == stem && other != first => {
                others.push((cpu, other));
            }
            _ => {}
        }
    }
    others.sort();
    (first, others.into_iter().map(|(_, path)| path).collect())
}

/// The name before the ending, and the number after it.
fn parts(path: &Path) -> Option<(String, u32)> {
    let name = path.file_name()?.to_str()?;
    let (stem, cpu) = name.rsplit_once(ENDING)?;
    Some((stem.to_owned(), cpu.parse().ok()?))
}
