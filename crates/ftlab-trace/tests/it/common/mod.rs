//! What the tests of traces, workloads and analyses share.
#![allow(dead_code, reason = "each of them uses a part")]

use ftlab_trace::pages::{PageSink, expand};
use ftlab_trace::{Op, RequestBatch, TraceError, TraceSource};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A request with everything that a batch can carry.
pub(crate) type Request = (Option<u64>, Op, u64, u32);

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ftlab-trace/tests/data").join(name)
}

/// A captured trace or sample, which is too large to ship; `None`, said aloud, where it is absent.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("FTLAB_SHARED").map(|folder| PathBuf::from(folder).join(name));
    if let Some(path) = path.filter(|path| path.exists()) {
        return Some(path);
    }
    let message = format!(
        "SKIPPED: {name} is absent; set FTLAB_SHARED to the folder that holds traces and golden\n"
    );
    // Not `eprintln!`, which is shown only if the test fails.
    std::io::stderr().write_all(message.as_bytes()).unwrap();
    None
}

/// Every request of a source, read in batches of `limit`.
pub(crate) fn read_all(
    source: &mut dyn TraceSource,
    limit: usize,
) -> Result<Vec<Request>, TraceError> {
    let mut batch = RequestBatch::with_limit(limit);
    let mut all = Vec::new();
    while source.next_batch(&mut batch)? {
        assert!(!batch.is_empty() && batch.len() <= limit + 1, "{} of {limit}", batch.len());
        for (index, (op, lba, sectors)) in batch.iter().enumerate() {
            all.push((batch.time_us.get(index).copied(), op, lba, sectors));
        }
    }
    assert!(batch.is_empty(), "the end comes with an empty batch");
    Ok(all)
}

#[derive(Default)]
struct Pages(Vec<u64>);

impl PageSink for Pages {
    fn write(&mut self, first_page: u64, pages: u64) {
        self.0.extend(first_page..first_page + pages);
    }
}

/// The first `count` page writes of a source, for pages of 4 KiB.
pub(crate) fn page_writes(source: &mut dyn TraceSource, count: usize) -> Vec<u64> {
    let mut batch = RequestBatch::new();
    let mut pages = Pages::default();
    while pages.0.len() < count && source.next_batch(&mut batch).unwrap() {
        expand(&batch, 8, &mut pages).unwrap();
    }
    pages.0.truncate(count);
    pages.0
}
