//! What an experiment is said to take, before it begins, is what it takes: at least that, and not much more.

use ftlab_sim::{
    DriveOptions, Experiment, Faults, Fill, Length, Logical, SLACK_BYTES, Workload, wait_for_memory,
};
use ftlab_spec::ByteSize;
use ftlab_trace::OpenOptions;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The system's allocator, with the bytes in use and the most of them.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn take(bytes: usize) {
    let in_use = IN_USE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(in_use, Ordering::Relaxed);
}

// SAFETY: every call is handed to the system's allocator as it is.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    // The system moves a large table without a copy.
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        take(new_size);
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// One experiment at a time, whose memory is that of the process.
static ALONE: Mutex<()> = Mutex::new(());

const MIB: f64 = 1_048_576.0;

/// Says and takes, in bytes.
fn measured(experiment: &Experiment) -> [f64; 2] {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = IN_USE.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let prepared = experiment.prepare().unwrap();
    let said = prepared.memory_bytes();
    prepared.run(&mut ()).unwrap();
    let taken = MOST.load(Ordering::Relaxed) - before;
    [said as f64, taken as f64]
}

/// Estimates that are less than what is taken, or more than 1.3 times that beside a constant.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn compare(&mut self, what: &str, experiment: &Experiment) {
        let [said, taken] = measured(experiment);
        let line = format!("{what}: says {:.2} MiB, takes {:.2}", said / MIB, taken / MIB);
        println!("{line}, {:.3}", (said - SLACK_BYTES as f64) / taken);
        if said < taken || said > 1.3 * taken + SLACK_BYTES as f64 {
            self.0.push(line);
        }
    }
}

impl Drop for Wrong {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || self.0.is_empty(), "{:#?}", self.0);
    }
}

/// Page writes to a drive with this FTL, most of them to few pages.
fn experiment(ftl: &str, gib: f64, writes: u64) -> Experiment {
    let workload = Workload::parse("hotcold:writes=0.9,pages=0.1", OpenOptions::default()).unwrap();
    let logical = Logical::Bytes(ByteSize((gib * f64::from(1 << 30)) as u64));
    Experiment {
        drive: DriveOptions { logical, ..DriveOptions::default() },
        length: Length::Writes(writes),
        ..Experiment::new(workload, vec![ftl.parse().unwrap()])
    }
}

#[test]
fn every_ftl_on_a_small_drive() {
    let mut wrong = Wrong::default();
    for ftl in ftlab_ftl::registry::ftl_names() {
        wrong.compare(&ftl, &experiment(&ftl, 0.125, 30_000));
    }
}

/// Each placement with one victim rule, and all that are no pair: whose tables differ by more than a list of blocks.
#[test]
fn ftls_on_a_large_drive() {
    let mut wrong = Wrong::default();
    let mut ftls = ftlab_ftl::registry::ftl_names();
    ftls.retain(|ftl| ftl.split_once('/').is_none_or(|(_, victim)| victim == "greedy"));
    for ftl in ftls {
        let fill = Fill::None;
        wrong.compare(&ftl, &Experiment { fill, ..experiment(&ftl, 64.0, 300_000) });
    }
}

/// `cargo test --release -p ftlab-sim --test memory -- --ignored --nocapture`
#[test]
#[ignore = "some minutes"]
fn every_ftl_on_a_large_drive_that_is_full() {
    let mut wrong = Wrong::default();
    for ftl in ftlab_ftl::registry::ftl_names() {
        wrong.compare(&ftl, &experiment(&ftl, 64.0, 3_000_000));
    }
}

#[test]
fn several_at_once_and_what_is_watched() {
    let mut wrong = Wrong::default();
    let several = |writes| {
        let ftls = ["midas", "dogi", "sepbit", "faster", "hazard:pages=on"];
        let ftls = ftls.iter().map(|ftl| ftl.parse().unwrap()).collect();
        Experiment { ftls, ..experiment("midas", 0.25, writes) }
    };
    wrong.compare("several", &several(250_000));
    wrong.compare("watched", &Experiment { observe: true, ..several(250_000) });
    let timed = |timing: &str| {
        let mut timed = Experiment { timing: Some(timing.parse().unwrap()), ..several(150_000) };
        timed.drive.pages_per_block = Some(128);
        timed
    };
    for timing in ["slc", "slc:unit=request,queue-depth=32,waits=on", "femu:unit=request"] {
        wrong.compare(timing, &timed(timing));
    }
    wrong.compare("timed and watched", &Experiment { observe: true, ..timed("slc:unit=request") });
    let faults = Some(Faults::default());
    wrong.compare("faults", &Experiment { faults, ..experiment("midas", 0.25, 75_000) });
    wrong.compare("intervals", &Experiment { interval_writes: Some(2), ..several(100_000) });
    let mut cached = several(75_000);
    cached.ftls.retain(|ftl| ftl.name != "faster");
    cached.drive.slc_cache = Some("size=16MiB".parse().unwrap());
    wrong.compare("SLC cache", &cached);
}

#[test]
fn a_warm_up_has_no_intervals() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let timed = |ftl: &str, warmup_writes| Experiment {
        warmup_writes,
        interval_writes: Some(1),
        timing: Some("slc".parse().unwrap()),
        ..experiment(ftl, 0.125, 1000)
    };
    let said = |warmup_writes| timed("midas", warmup_writes).prepare().unwrap().memory_bytes();
    assert_eq!(said(1_000_000_000), said(u64::MAX));
    assert!(said(u64::MAX) < 64 << 20, "{}", said(u64::MAX));
    let error = timed("fk", u64::MAX).prepare().err().unwrap().to_string();
    assert!(error.contains("of memory, and"), "{error}");
}

#[test]
fn who_lacks_memory_waits_for_the_others_if_that_helps() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(wait_for_memory(1) && !wait_for_memory(u64::MAX), "there are no others");
    let prepared = experiment("midas", 0.125, 1000).prepare().unwrap();
    assert!(!wait_for_memory(u64::MAX), "it does not fit without them either");
    let is_given_back = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| wait_for_memory(1) && is_given_back.load(Ordering::SeqCst));
        std::thread::sleep(Duration::from_millis(100));
        is_given_back.store(true, Ordering::SeqCst);
        drop(prepared);
        assert!(waiting.join().unwrap());
    });
}

#[test]
fn lifetimes_grow_with_the_run() {
    let mut wrong = Wrong::default();
    for ftl in ["fk", "oracle-rate"] {
        wrong.compare(ftl, &experiment(ftl, 1.0, 5_000_000));
        wrong.compare(ftl, &experiment(ftl, 0.125, 5_000_000));
    }
}
