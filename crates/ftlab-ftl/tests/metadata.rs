//! The memory that FTLs say they take is the memory that they take.

use ftlab_flash::{Geometry, NoPayload};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, DriveShape, Hinted, PolicyVisitor};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, with a count of the bytes in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator as it is.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What is not worth counting: names of streams, small tables whose size does not depend on the drive.
const SLACK_BYTES: usize = 4096;

const SHAPE: DriveShape = DriveShape {
    blocks: 4096,
    pages_per_block: 256,
    logical_pages: 3600 * 256,
    reserve_blocks: 16,
};

fn close(said: usize, taken: usize) -> bool {
    said.abs_diff(taken) <= taken / 50 + SLACK_BYTES
}

/// Makes the policy, and compares while it lives.
struct Compare<'a> {
    ftl: &'a str,
    before: usize,
}

impl PolicyVisitor for Compare<'_> {
    type Output = ();

    fn visit<P: Hinted + 'static>(self, policy: P) {
        let taken = IN_USE.load(Ordering::Relaxed) - self.before;
        let said = policy.memory_bytes();
        assert!(close(said, taken), "{}: says {said} bytes, takes {taken}", self.ftl);
    }
}

// One test, since other threads' memory would be counted too.
#[test]
fn every_ftl_takes_the_memory_that_it_says() {
    let config = DriveConfig::new(
        Geometry::new(SHAPE.blocks, SHAPE.pages_per_block, 4096).unwrap(),
        SHAPE.logical_pages,
        SHAPE.reserve_blocks,
    );
    for ftl in registry::policy_names().into_iter().chain(["hazard:pages=on".into()]) {
        let told = if ftl.starts_with("oracle/") { ":hot=0.1" } else { "" };
        let spec = format!("{ftl}{told}").parse().unwrap();
        let before = IN_USE.load(Ordering::Relaxed);
        registry::with_policy(&spec, SHAPE, Compare { ftl: &ftl, before }).unwrap();
        let built = registry::build_boxed(&spec, config, NoPayload, ()).unwrap();
        let taken = IN_USE.load(Ordering::Relaxed) - before;
        let said = built.memory_bytes();
        // The list of victims is part of the engine.
        let said = said.drive + said.policy + 4 * SHAPE.blocks as usize;
        assert!(close(said, taken), "{ftl}: says {said} bytes, takes {taken}");
        // A controller packs tighter than we do.
        let packed = built.metadata().total_bytes(SHAPE.logical_pages, SHAPE.blocks) as usize;
        assert!(packed <= built.memory_bytes().policy + 9 * SHAPE.blocks as usize, "{ftl}");
    }
}
