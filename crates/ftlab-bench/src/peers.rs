//! Placements, compared with what an independent simulator prints for them.
//!
//! 262,144 pages of 4 KiB, 512 per block, written in order and followed by ten times as many writes by
//! zipf 0.99. The store takes as much space as it needs: garbage is collected while it is at least 9.09%
//! of the programmed pages. The fill is counted.

use crate::common::{BATCH_WRITES, Failure, PAGE_BYTES};
use ftlab_flash::{Geometry, Lpn, NoPayload};
use ftlab_ftl::page::{DriveConfig, GcSchedule};
use ftlab_ftl::{PageBatch, registry};

const LOGICAL_PAGES: u32 = 262_144;
const PAGES_PER_BLOCK: u32 = 512;
const WRITES: u64 = 2_883_584;
const THETA: f64 = 0.99;

/// Number of blocks, enough that no collection waits for space.
const BLOCKS: u32 = 2 * LOGICAL_PAGES / PAGES_PER_BLOCK;

/// Garbage per million programmed pages above which it is collected: an eleventh.
const GARBAGE_PER_MILLION: u32 = 90_909;

/// The two victim rules: the highest (1 - u) / u x sqrt(age), and the fewest valid pages.
const VICTIMS: [(&str, &str); 2] = [("cost-benefit", "age-power=0.5"), ("greedy", "")];

/// A placement with its arguments, and the write amplification published for both rules.
const ROWS: [(&str, &str, [Option<f64>; 2]); 8] = [
    ("single", "", [Some(7.46), Some(7.47)]),
    ("sep-gc", "", [Some(3.51), Some(5.03)]),
    ("dac", "regions=6", [Some(2.83), Some(3.51)]),
    ("sepbit", "", [Some(2.99), Some(3.81)]),
    ("sfs", "groups=6", [Some(2.74), Some(4.18)]),
    ("multilog", "", [Some(3.11), Some(4.14)]),
    ("fadac", "", [Some(2.71), Some(3.33)]),
    ("warcip", "", [Some(3.34), Some(4.60)]),
];

/// The generator splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`.
    fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// A number in 0..1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The whole sequence: all pages in order, then zipf by its exact distribution function, with
/// randomly permuted ranks.
fn sequence(seed: u64) -> Vec<Lpn> {
    let mut random = Random(seed);
    let mut page_of_rank: Vec<u32> = (0..LOGICAL_PAGES).collect();
    for rank in (1..LOGICAL_PAGES).rev() {
        page_of_rank.swap(rank as usize, random.below(rank + 1) as usize);
    }
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=LOGICAL_PAGES)
        .map(|rank| {
            sum += f64::from(rank).powf(-THETA);
            sum
        })
        .collect();
    let mut draw = || {
        let share = random.share() * sum;
        let rank = sums.partition_point(|&up_to| up_to <= share);
        Lpn(page_of_rank[rank.min(sums.len() - 1)])
    };
    let fill = (0..LOGICAL_PAGES).map(Lpn);
    fill.chain((u64::from(LOGICAL_PAGES)..WRITES).map(|_| draw())).collect()
}

/// Write amplification over the whole sequence.
fn measure(ftl: &str, pages: &[Lpn]) -> Result<f64, Failure> {
    let geometry = Geometry::new(BLOCKS, PAGES_PER_BLOCK, PAGE_BYTES)?;
    let reserve_blocks = 16;
    let gc = GcSchedule::Garbage { per_million: GARBAGE_PER_MILLION };
    let config = DriveConfig { gc, ..DriveConfig::new(geometry, LOGICAL_PAGES, reserve_blocks) };
    let mut ftl = registry::build(&ftl.parse()?, config, NoPayload, ())?;
    let mut batch = PageBatch::default();
    for writes in pages.chunks(BATCH_WRITES as usize) {
        batch.clear();
        batch.writes.extend_from_slice(writes);
        ftl.apply(&batch)?;
    }
    ftl.check()?;
    let counters = ftl.counters();
    Ok((counters.host_writes + counters.relocations()) as f64 / counters.host_writes as f64)
}

/// The name of a pair with the arguments of both.
fn pair(placement: &str, arguments: &str, (victim, more): (&str, &str)) -> String {
    let arguments = [arguments, more].into_iter().filter(|arguments| !arguments.is_empty());
    let arguments = arguments.collect::<Vec<_>>().join(",");
    let colon = if arguments.is_empty() { "" } else { ":" };
    format!("{placement}/{victim}{colon}{arguments}")
}

/// Measures the placements of the table, or only those in `asked`.
pub(crate) fn run(asked: &[&str]) -> Result<(), Failure> {
    let pages = sequence(1);
    println!(
        "{:30} {:>13} {:>8} {:>7}   {:>13} {:>8} {:>7}",
        "placement", "cost-benefit:", "measured", "off", "greedy:", "measured", "off"
    );
    let asked = asked.iter().map(|spec| {
        let (name, arguments) = spec.split_once(':').unwrap_or((spec, ""));
        (name, arguments, [None; 2])
    });
    let asked: Vec<_> = asked.collect();
    for &(name, arguments, published) in if asked.is_empty() { &ROWS[..] } else { &asked } {
        print!("{:30}", format!("{name} {arguments}"));
        for (victim, published) in VICTIMS.into_iter().zip(published) {
            let measured = measure(&pair(name, arguments, victim), &pages)?;
            match published {
                Some(published) => {
                    let off = 100.0 * (measured / published - 1.0);
                    print!(" {published:>13.2} {measured:>8.3} {off:>+6.1}%  ");
                }
                None => print!(" {:>13} {measured:>8.3} {:>7}  ", "", ""),
            }
        }
        println!();
    }
    Ok(())
}
