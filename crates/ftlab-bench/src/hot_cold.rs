//! Hotness tests: cost (Lee and Kim, SYSTOR 2013, tables 2 and 3). `ftlab reproduce systor13` measures what they
//! recognise and gain.
//!
//! The study has 8,192 blocks (table 3) of 128 pages of 32 KiB (table 2: 128 writes per collection).

use crate::common::Failure;
use ftlab_flash::Lpn;
use ftlab_ftl::algorithms::placement::{Lru, Mbf};
use ftlab_ftl::algorithms::tools::Hotness;
use ftlab_ftl::registry::{DriveShape, FitContext, PlacementEntry};
use ftlab_ftl::{Archive, Metadata, State, StateError};
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::RequestBatch;
use ftlab_trace::Space;
use ftlab_trace::pages::page_sectors;
use ftlab_workload::build;
use std::time::Instant;

const PAGE_BYTES: u32 = 32 * 1024;
const PAGES_PER_BLOCK: u32 = 128;

/// Logical pages of the drive.
const LOGICAL_PAGES: u32 = 953_250;

const WORKLOAD: &str = "skew:x=90";

/// The parameters of the tests, as in the study and scaled to the drive.
const LRU: [&str; 2] = ["lru/cost-benefit", "lru/cost-benefit:hot=auto,candidates=auto"];
const MBF: [&str; 2] = ["mbf/cost-benefit", "mbf/cost-benefit:bits=auto,decay=auto"];

/// Prints the table.
pub(crate) fn run() -> Result<(), Failure> {
    cost(LOGICAL_PAGES)
}

/// `count` pages that a generator writes.
fn draw(generator: &str, logical_pages: u32, count: usize) -> Result<Vec<Lpn>, Failure> {
    let mut source = build(&generator.parse()?, &space(logical_pages))?;
    let (mut pages, mut batch) = (Vec::new(), RequestBatch::new());
    while pages.len() < count {
        source.next_batch(&mut batch)?;
        let sectors = u64::from(page_sectors(PAGE_BYTES)?);
        pages.extend(batch.lba.iter().map(|lba| Lpn((lba / sectors) as u32)));
    }
    pages.truncate(count);
    Ok(pages)
}

fn space(logical_pages: u32) -> Space {
    Space { logical_pages: u64::from(logical_pages), page_bytes: PAGE_BYTES, seed: 1 }
}

/// A hotness test with the parameters of an FTL, on a drive of this many pages.
fn test<H: PlacementEntry>(ftl: &str, logical_pages: u32) -> Result<H, Failure> {
    let spec: Spec = ftl.parse()?;
    let blocks = logical_pages.div_ceil(PAGES_PER_BLOCK);
    let shape =
        DriveShape { blocks, pages_per_block: PAGES_PER_BLOCK, logical_pages, reserve_blocks: 4 };
    // Arguments of the test only: the victim rule has none here.
    let mut parameters = H::Parameters::from_spec(&spec)?;
    H::fit(&mut parameters, &FitContext { ftl: &spec.name, shape, oracle: &[] })?;
    Ok(H::new(&parameters, shape))
}

/// Memory and time of each test.
fn cost(logical_pages: u32) -> Result<(), Failure> {
    println!("\ncost: bytes by the study's formula and here, ns per host write (SKEW90)");
    let writes = draw(WORKLOAD, logical_pages, 2_000_000)?;
    row("lru", test::<Lru>(LRU[0], logical_pages)?, &writes);
    row("lru, linear search", Lists::default(), &writes[..100_000]);
    row("mbf", test::<Mbf>(MBF[0], logical_pages)?, &writes);
    row("lru auto", test::<Lru>(LRU[1], logical_pages)?, &writes);
    row("mbf auto", test::<Mbf>(MBF[1], logical_pages)?, &writes);
    Ok(())
}

fn row<H: Hotness>(name: &str, mut test: H, writes: &[Lpn]) {
    let ns = nanoseconds(&mut test, writes);
    println!("{name:20} {:>10} {:>10} {ns:8.1}", Hotness::metadata(&test).bytes, test.bytes());
}

/// The time to record a write and to classify its page.
fn nanoseconds<H: Hotness>(test: &mut H, writes: &[Lpn]) -> f64 {
    let start = Instant::now();
    let mut hot = 0_usize;
    for &lpn in writes {
        test.record(lpn);
        hot += usize::from(test.is_hot(lpn));
    }
    assert!(hot <= writes.len());
    start.elapsed().as_nanos() as f64 / writes.len() as f64
}

/// Entries of the study's lists.
const HOT: usize = 512;
const CANDIDATES: usize = 1532;

/// The study's two lists, searched linearly.
#[derive(Default)]
struct Lists {
    hot: Vec<Lpn>,
    candidates: Vec<Lpn>,
}

impl State for Lists {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        self.hot.transfer(archive)?;
        self.candidates.transfer(archive)
    }
}

impl Hotness for Lists {
    fn record(&mut self, lpn: Lpn) {
        let place = |list: &[Lpn]| list.iter().position(|&other| other == lpn);
        if let Some(place) = place(&self.hot) {
            self.hot[..=place].rotate_right(1);
        } else if let Some(place) = place(&self.candidates) {
            self.candidates.remove(place);
            self.hot.insert(0, lpn);
            if self.hot.len() > HOT {
                self.candidates.splice(..0, self.hot.pop());
            }
        } else {
            self.candidates.insert(0, lpn);
            self.candidates.truncate(CANDIDATES);
        }
    }

    fn is_hot(&self, lpn: Lpn) -> bool {
        self.hot.contains(&lpn)
    }

    fn metadata(&self) -> Metadata {
        Metadata::fixed(8 * (HOT + CANDIDATES) as u64 + 56)
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.hot[..]) + size_of_val(&self.candidates[..])
    }
}
