//! fio's job files: what is read makes requests within the drive, and what is not read is explained.
#![no_main]

use ftlab_trace::RequestBatch;
use ftlab_fio::JobFile;
use ftlab_trace::Space;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let jobs = match JobFile::parse(text, "fuzz") {
        Ok(jobs) => jobs,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    jobs.identity();
    let space = Space { logical_pages: 1 << 14, page_bytes: 4096, seed: 1 };
    let Ok(mut requests) = jobs.requests(&space) else { return };
    let mut batch = RequestBatch::with_limit(100);
    for _ in 0..10 {
        match requests.fill(&mut batch) {
            Ok(true) => {}
            Ok(false) | Err(_) => return,
        }
        for (_, lba, sectors) in batch.iter() {
            assert!(lba + u64::from(sectors) <= space.logical_pages * 8, "{lba}+{sectors}");
        }
        assert!(batch.stream.is_empty() || batch.stream.len() == batch.len());
        batch.clear();
    }
});
