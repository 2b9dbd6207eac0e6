//! Circles in a graph of files.

use super::modules::{FileId, Tree};
use super::names::Uses;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// The shortest circle through every file that lies on one, each once, the shortest first; a circle
/// starts with its first file.
pub(crate) fn circles(uses: &Uses) -> Vec<Vec<FileId>> {
    let circles: BTreeSet<_> = uses.keys().filter_map(|file| shortest(uses, *file)).collect();
    let mut circles: Vec<_> = circles.into_iter().collect();
    circles.sort_by_key(Vec::len);
    circles
}

/// The shortest way from `start` back to it.
fn shortest(uses: &Uses, start: FileId) -> Option<Vec<FileId>> {
    let mut came_from = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for &used in uses.get(&file).into_iter().flat_map(BTreeMap::keys) {
            if used == start {
                let mut circle = vec![file];
                while let Some(&before) = came_from.get(&circle[circle.len() - 1]) {
                    circle.push(before);
                }
                circle.reverse();
                let first = (0..circle.len()).min_by_key(|&at| circle[at])?;
                circle.rotate_left(first);
                return Some(circle);
            }
            if let Entry::Vacant(entry) = came_from.entry(used) {
                entry.insert(file);
                queue.push_back(used);
            }
        }
    }
    None
}

/// The circles, file by file, with the names that each takes from the next.
pub(crate) fn describe(tree: &Tree, uses: &Uses, circles: &[Vec<FileId>]) -> String {
    let mut text = String::new();
    for circle in circles {
        writeln!(text, "a circle of {} files:", circle.len()).expect("text takes any");
        for (at, file) in circle.iter().enumerate() {
            let next = circle[(at + 1) % circle.len()];
            let names: Vec<_> = uses[file][&next].iter().map(String::as_str).collect();
            let [file, next] = [*file, next].map(|file| tree.files[file].display());
            writeln!(text, "  {file} takes {} from {next}", names.join(", "))
                .expect("text takes any");
        }
    }
    text
}
