//! Tests of hotness: write amplification on the synthetic workloads of Lee and Kim (SYSTOR 2013, figure
//! 1), how much each test recognises, and what it costs (their tables 2 and 3).
//!
//! The study gives neither the size of its drive in these runs nor its over-provisioning nor how much
//! was written. It has 8,192 blocks (table 3) of 128 pages of 32 KiB (table 2: 128 writes per
//! collection); but SKEW99's hot area fits its hot list of 512 pages only on a drive of 51,200 pages.
//! Both are run: 10% over-provisioning, filled in order, then 10 drive writes.

use crate::Failure;
use ftlab_flash::Lpn;
use ftlab_ftl::page::Hotness;
use ftlab_ftl::page::placement::{Lru, Mbf};
use ftlab_ftl::registry::{PlacementEntry, Setting, Size};
use ftlab_ftl::{Archive, Metadata, State, StateError};
use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Physical, Workload};
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::pages::page_sectors;
use ftlab_trace::synthetic::{Space, areas, build};
use ftlab_trace::{OpenOptions, RequestBatch};
use std::time::Instant;

const PAGE_BYTES: u32 = 32 * 1024;
const PAGES_PER_BLOCK: u32 = 128;
const DRIVE_WRITES: f64 = 10.0;

/// Logical pages and blocks of the drives.
const DRIVES: [(u32, u32); 2] = [(51_200, 440), (953_250, 8192)];

const WORKLOADS: [(&str, &str); 6] = [
    ("SKEW70", "skew:x=70"),
    ("SKEW90", "skew:x=90"),
    ("SKEW95", "skew:x=95"),
    ("SKEW99", "skew:x=99"),
    ("SKEWINC", "skewinc:over=10"),
    ("SKEWDEC", "skewdec:over=10"),
];

/// What is shown, and the FTL.
const FTLS: [(&str, &str); 8] = [
    ("baseline", "baseline/cost-benefit"),
    ("lru", "lru/cost-benefit"),
    ("mbf", "mbf/cost-benefit"),
    ("lru auto", "lru/cost-benefit:hot=auto,candidates=auto"),
    ("mbf auto", "mbf/cost-benefit:bits=auto,decay=auto"),
    ("dac block", "dac/cost-benefit"),
    ("dac page", "dac/cost-benefit:level=page"),
    ("oracle", "oracle/cost-benefit"),
];

/// Prints all tables.
pub(crate) fn run() -> Result<(), Failure> {
    for (logical_pages, _) in DRIVES {
        recognition(logical_pages)?;
    }
    cost(DRIVES[1].0)?;
    DRIVES
        .iter()
        .try_for_each(|&(logical_pages, blocks)| write_amplification(logical_pages, blocks))
}

/// Figure 1 on one drive.
fn write_amplification(logical_pages: u32, blocks: u32) -> Result<(), Failure> {
    println!(
        "\nwrite amplification, {logical_pages} pages on {blocks} blocks of {PAGES_PER_BLOCK}"
    );
    print!("{:9}", "");
    for (name, _) in FTLS {
        print!(" {name:>9}");
    }
    println!();
    for (name, generator) in WORKLOADS {
        let ftls = FTLS.iter().map(|(_, ftl)| ftl.parse()).collect::<Result<_, _>>()?;
        let workload = Workload::parse(generator, OpenOptions::default())?;
        let experiment = Experiment {
            drive: DriveOptions {
                logical: Logical::Pages(u64::from(logical_pages)),
                physical: Physical::Blocks(blocks),
                pages_per_block: PAGES_PER_BLOCK,
                page_bytes: PAGE_BYTES,
                ..DriveOptions::default()
            },
            fill: Fill::Sequential,
            length: Length::DriveWrites(DRIVE_WRITES),
            ..Experiment::new(workload, ftls)
        };
        print!("{name:9}");
        let result = experiment.run(&mut ())?;
        for run in &result.runs {
            print!(" {:9.3}", run.waf);
        }
        println!();
    }
    Ok(())
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

/// A test of hotness with the parameters of an FTL, on a drive of so many pages.
fn test<H: PlacementEntry>(ftl: &str, logical_pages: u32) -> Result<H, Failure> {
    let spec: Spec = ftl.parse()?;
    let blocks = logical_pages.div_ceil(PAGES_PER_BLOCK);
    let size = Size { blocks, pages_per_block: PAGES_PER_BLOCK, logical_pages, reserve_blocks: 4 };
    // Arguments of the tests only: the victim rule takes none here.
    let mut parameters = H::Parameters::from_spec(&spec)?;
    H::fit(&mut parameters, &Setting { ftl: &spec.name, size, oracle: &[] })?;
    Ok(H::new(&parameters, size))
}

/// How many of the hot writes a test takes for hot, and how many of the cold ones, in percent.
fn recognition(logical_pages: u32) -> Result<(), Failure> {
    println!("\n% of the hot / of the cold writes taken for hot, {logical_pages} pages");
    println!("{:9} {:>15} {:>15} {:>15} {:>15}", "", "lru", "mbf", "lru auto", "mbf auto");
    for (name, generator) in &WORKLOADS[..4] {
        let hot_pages = areas(&generator.parse()?, &space(logical_pages))?[0].pages;
        let writes = draw(generator, logical_pages, 2 * logical_pages as usize)?;
        println!(
            "{name:9} {:>15} {:>15} {:>15} {:>15}",
            recognised(test::<Lru>(FTLS[1].1, logical_pages)?, &writes, hot_pages),
            recognised(test::<Mbf>(FTLS[2].1, logical_pages)?, &writes, hot_pages),
            recognised(test::<Lru>(FTLS[3].1, logical_pages)?, &writes, hot_pages),
            recognised(test::<Mbf>(FTLS[4].1, logical_pages)?, &writes, hot_pages),
        );
    }
    Ok(())
}

/// The second half of the writes is judged.
fn recognised<H: Hotness>(mut test: H, writes: &[Lpn], hot_pages: u64) -> String {
    let (before, judged) = writes.split_at(writes.len() / 2);
    for &lpn in before {
        test.record(lpn);
    }
    let mut taken = [0_u64; 2];
    let mut all = [0_u64; 2];
    for &lpn in judged {
        test.record(lpn);
        let kind = usize::from(u64::from(lpn.0) >= hot_pages);
        all[kind] += 1;
        taken[kind] += u64::from(test.is_hot(lpn));
    }
    let percent = |kind: usize| 100.0 * taken[kind] as f64 / all[kind] as f64;
    format!("{:.1} / {:.1}", percent(0), percent(1))
}

/// Memory and time of each test.
fn cost(logical_pages: u32) -> Result<(), Failure> {
    println!("\ncost: bytes by the study's formula and here, ns per host write (SKEW90)");
    let writes = draw(WORKLOADS[1].1, logical_pages, 2_000_000)?;
    row("lru", test::<Lru>(FTLS[1].1, logical_pages)?, &writes);
    row("lru, linear search", Lists::default(), &writes[..100_000]);
    row("mbf", test::<Mbf>(FTLS[2].1, logical_pages)?, &writes);
    row("lru auto", test::<Lru>(FTLS[3].1, logical_pages)?, &writes);
    row("mbf auto", test::<Mbf>(FTLS[4].1, logical_pages)?, &writes);
    Ok(())
}

fn row<H: Hotness>(name: &str, mut test: H, writes: &[Lpn]) {
    let ns = nanoseconds(&mut test, writes);
    println!("{name:20} {:>10} {:>10} {ns:8.1}", Hotness::metadata(&test).bytes, test.bytes());
}

/// What it takes to take note of a write and to judge its page.
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

/// The study's two lists, searched from end to end.
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
