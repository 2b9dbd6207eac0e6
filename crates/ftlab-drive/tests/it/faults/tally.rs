//! What was survived.

use std::collections::BTreeMap;

/// Counts what was survived.
#[derive(Default)]
pub(crate) struct Tally {
    /// Kind of fault -> faults, and those that cost a page.
    survived: BTreeMap<String, (u64, u64)>,
    failures: Vec<String>,
}

impl Tally {
    /// A fault that may make `may` pages unreadable, and did make this many.
    pub(crate) fn count(
        &mut self,
        what: &str,
        context: &str,
        most: usize,
        result: Result<usize, String>,
    ) {
        match result {
            Ok(unreadable) if unreadable <= most => {
                let (all, costly) = self.survived.entry(what.to_owned()).or_default();
                *all += 1;
                *costly += u64::from(unreadable > 0);
            }
            Ok(unreadable) => {
                self.failures.push(format!("{context}: {unreadable} pages are unreadable"));
            }
            Err(error) => self.failures.push(format!("{context}: {error}")),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (what, (all, costly)) in other.survived {
            let sum = self.survived.entry(what).or_default();
            *sum = (sum.0 + all, sum.1 + costly);
        }
        self.failures.extend(other.failures);
    }

    /// Prints it; panics if anything was not survived.
    pub(crate) fn finish(self) {
        for (what, (all, costly)) in &self.survived {
            println!("| {what} | {all} | {costly} |");
        }
        let all: u64 = self.survived.values().map(|(all, _)| all).sum();
        println!("{all} faults");
        let shown = &self.failures[..self.failures.len().min(40)];
        assert!(shown.is_empty(), "{} failures:\n{}", self.failures.len(), shown.join("\n"));
    }
}

/// Threads that share the faults.
const WORKERS: usize = 8;

/// Tries each of `items`, in several threads.
pub(crate) fn tally<T: Sync>(items: &[T], survive: impl Fn(&T, &mut Tally) + Sync) -> Tally {
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let parts = items.chunks(items.len().div_ceil(WORKERS).max(1));
        let workers = parts.map(|part| {
            let survive = &survive;
            scope.spawn(move || {
                let mut tally = Tally::default();
                for item in part {
                    survive(item, &mut tally);
                }
                tally
            })
        });
        let workers: Vec<_> = workers.collect();
        for worker in workers {
            all.add(worker.join().unwrap());
        }
    });
    all
}
