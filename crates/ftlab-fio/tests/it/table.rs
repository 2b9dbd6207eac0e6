//! What versions of fio logged: how many requests, the hash of all, and the first.
//!
//! A line has the first version that logged this; it holds until the next line of the same job.

use crate::job::fixture;
use ftlab_fio::Version;
use ftlab_trace::{RequestBatch, RequestHasher};
use std::collections::BTreeMap;
use std::fmt::Write;

const FILE: &str = "logged.txt";

/// Requests that stand in the table, beside the hash of all.
const SHOWN: usize = 4;

/// Jobs -> what each version logged, in the order of versions.
pub(crate) struct Table(BTreeMap<String, [String; Version::ALL.len()]>);

impl Table {
    pub(crate) fn read() -> Self {
        let text = std::fs::read_to_string(fixture(FILE)).unwrap();
        let mut table = Self(BTreeMap::new());
        for line in text.lines() {
            let [job, version, logged] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let since = index(version);
            for each in &mut table.0.entry(job.to_owned()).or_default()[since..] {
                logged.clone_into(each);
            }
        }
        table
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether these are the requests that `version` logged of a job.
    pub(crate) fn compare(&self, version: Version, job: &str, requests: &RequestBatch) {
        let logged = self.0.get(job).map(|logged| &logged[index(&version.to_string())]);
        assert_eq!(Some(&summary(requests)), logged, "{version}, {job}");
    }

    pub(crate) fn set(&mut self, version: Version, job: &str, requests: &RequestBatch) {
        let logged = self.0.entry(job.to_owned()).or_default();
        logged[index(&version.to_string())] = summary(requests);
    }

    pub(crate) fn write(&self) {
        let mut text = String::new();
        for (job, logged) in &self.0 {
            let mut last = "";
            for (version, logged) in Version::ALL.iter().zip(logged) {
                if logged != last {
                    writeln!(text, "{job} {version} {logged}").unwrap();
                }
                last = logged;
            }
        }
        std::fs::write(fixture(FILE), text).unwrap();
    }
}

/// Whether what the installed fio does is to become the table.
pub(crate) fn is_to_be_written() -> bool {
    std::env::var_os("FTLAB_WRITE_GOLDEN").is_some()
}

fn index(version: &str) -> usize {
    Version::ALL.iter().position(|other| other.to_string() == version).unwrap()
}

fn summary(requests: &RequestBatch) -> String {
    let mut hasher = RequestHasher::new();
    hasher.update(requests);
    let mut text = format!("{} {}", requests.len(), hasher.finish());
    for (op, lba, sectors) in requests.iter().take(SHOWN) {
        write!(text, " {}:{lba}+{sectors}", op.name()).unwrap();
    }
    text
}
