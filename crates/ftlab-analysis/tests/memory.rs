//! Inspection takes memory for the pages written, and not for the length of a workload.

use ftlab_analysis::{Extent, InspectOptions, Inspector, PageTable};
use ftlab_trace::RequestBatch;
use ftlab_trace::Space;
use ftlab_workload::build;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, with a count of the bytes in use and of the most that ever were.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator as it is.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(in_use, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Histogram of intervals (2 MiB, and 1 MiB per doubling beyond 2^18, old and new while it grows),
/// heat map, footprint, batches.
const FIXED_BYTES: usize = 16 << 20;

/// Bytes at most while `page_writes` to that many pages are inspected, and before.
fn peak_bytes(generator: &str, pages: u64, page_writes: u64) -> usize {
    let space = Space { logical_pages: pages, page_bytes: 4096, seed: 1 };
    let mut source = build(&generator.parse().unwrap(), &space).unwrap();
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let extent = Extent { page_writes_max: Some(page_writes), ..Extent::default() };
    let options = InspectOptions { extent, ..InspectOptions::default() };
    let mut inspector = Inspector::new(&options).unwrap();
    let mut batch = RequestBatch::new();
    while source.next_batch(&mut batch).unwrap() && inspector.update(&batch).unwrap() {}
    let found = inspector.finish(source.as_ref());
    assert_eq!(found.page_writes, page_writes);
    PEAK.load(Ordering::Relaxed) - before
}

// One test, since other threads' memory would be counted too.
#[test]
fn memory_grows_with_the_pages_and_not_with_the_writes() {
    const PAGES: u64 = 1 << 20;
    // Chunks of 256 pages also have a place in a hash map, which may be half empty.
    let bound = (PAGES * PageTable::BYTES_PER_PAGE) as usize * 102 / 100 + FIXED_BYTES;
    let short = peak_bytes("uniform:map=off", PAGES, 2 * PAGES);
    let long = peak_bytes("uniform:map=off", PAGES, 6 * PAGES);
    assert!(long <= bound, "{long} bytes, bound {bound}");
    assert!(long <= short + (4 << 20), "{short} bytes, and {long} for three times the writes");
    // Few pages take little, even if they are far apart.
    let few = peak_bytes("uniform", 1000, 2_000_000);
    assert!(few <= FIXED_BYTES, "{few} bytes");
}
