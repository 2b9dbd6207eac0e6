//! Wolf's experiments with changing update frequencies: what a swap of two groups costs.
//!
//! Dayan, Bouganim and Bonnet, 2015: section 5.4 (figure 2) and section 6.1 (figures 6, 7 and 8), on
//! the drive of table 2. All temperatures are known to an oracle, as in the paper, unless said
//! otherwise.

use crate::Failure;
use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Physical, Workload};
use ftlab_trace::OpenOptions;
use std::collections::{BTreeMap, BTreeSet};

const PAGES_PER_BLOCK: u32 = 128;
/// 4 channels x 2 LUNs x 1,024 blocks.
const BLOCKS: u32 = 8192;
const PHYSICAL_PAGES: u32 = BLOCKS * PAGES_PER_BLOCK;
/// LBA/PBA = 70%.
const LOGICAL_PAGES: u32 = PHYSICAL_PAGES / 10 * 7;

/// Host writes before a swap, behind the fill (the paper's figure 8), and as many are counted after it.
const WRITES: u64 = 5_000_000;

/// Host writes for which two groups stay swapped before they swap back (figure 2).
const SWAPPED_WRITES: u64 = 1_000_000;

/// Relocations of each FTL in `counted` host writes after `warmup`.
fn relocations(
    workload: &str,
    ftls: &[String],
    warmup: u64,
    counted: u64,
) -> Result<Vec<u64>, Failure> {
    let workload = Workload::parse(workload, OpenOptions::default())?;
    let distinct: BTreeSet<_> = ftls.iter().collect();
    let specs = distinct.iter().map(|ftl| ftl.parse()).collect::<Result<_, _>>()?;
    let experiment = Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(u64::from(LOGICAL_PAGES)),
            page_bytes: 16 * 1024,
            pages_per_block: PAGES_PER_BLOCK,
            physical: Physical::Blocks(BLOCKS),
            ..DriveOptions::default()
        },
        fill: Fill::Sequential,
        warmup_writes: warmup,
        length: Length::Writes(counted),
        ..Experiment::new(workload, specs)
    };
    let result = experiment.run(&mut ())?;
    let counted: BTreeMap<_, _> =
        distinct.into_iter().zip(result.runs.iter().map(|run| run.relocations)).collect();
    Ok(ftls.iter().map(|ftl| counted[ftl]).collect())
}

/// A number of host writes in drive writes.
fn drive_writes(writes: u64) -> f64 {
    writes as f64 / f64::from(LOGICAL_PAGES)
}

/// Groups of equal size with these rates, of which `pair` swaps after `at` drive writes.
fn swap(rates: &[f64], at: &[f64], pair: (usize, usize)) -> String {
    let list = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(";");
    let sizes = vec![1.0 / rates.len() as f64; rates.len()];
    let (sizes, rates, at) = (list(&sizes), list(rates), list(at));
    format!("swap:sizes={sizes},rates={rates},at={at},pair={}-{}", pair.0, pair.1)
}

/// The shares of `count` groups of equal size.
fn oracle(count: usize) -> String {
    format!("detector=oracle,oracle={}", vec![(1.0 / count as f64).to_string(); count].join("+"))
}

/// What tells `fdp-freq` of the swap: the fill counts too.
fn told(pair: (usize, usize)) -> String {
    let at = u64::from(LOGICAL_PAGES) + WRITES;
    format!("swap-at={at},swap={}-{}", pair.0, pair.1)
}

/// Relocations after a swap beyond those without it, per physical page.
fn extra(with: u64, without: u64) -> f64 {
    (with as f64 - without as f64) / f64::from(PHYSICAL_PAGES)
}

/// Figures 6 and 7: two groups with 10% and 90% of the writes swap.
fn two_groups() -> Result<(), Failure> {
    let (rates, pair) = ([0.1, 0.9], (0, 1));
    let oracle = oracle(2);
    let told = told(pair);
    let [wolf, rival] = [format!("wolf:{oracle}"), format!("fdp-freq:{oracle}")];
    // Each as it runs through the swap, and as it runs without.
    let rows = [
        ("0.7%", wolf.clone(), wolf),
        ("152.1%", format!("{rival},{told}"), rival.clone()),
        ("", format!("{rival},cleaning=greedy,{told}"), format!("{rival},cleaning=greedy")),
        ("", rival.clone(), rival.clone()),
        ("", format!("{rival},cleaning=greedy"), format!("{rival},cleaning=greedy")),
        ("", "fdp-freq:groups=2".into(), "fdp-freq:groups=2".into()),
        ("", "fdp-freq".into(), "fdp-freq".into()),
        ("", "fdp-freq:cleaning=greedy".into(), "fdp-freq:cleaning=greedy".into()),
        ("", "wolf".into(), "wolf".into()),
    ];
    let swapped: Vec<_> = rows.iter().map(|row| row.1.clone()).collect();
    let stable: Vec<_> = rows.iter().map(|row| row.2.clone()).collect();
    let at = [drive_writes(WRITES)];
    let with = relocations(&swap(&rates, &at, pair), &swapped, WRITES, WRITES)?;
    let without = relocations(&swap(&rates, &[1e6], pair), &stable, WRITES, WRITES)?;
    println!("figures 6 and 7: two groups, 10/90, swapped; extra relocations / PBA");
    println!("{:>10} {:>9}  ftl", "published", "measured");
    for ((row, with), without) in rows.iter().zip(with).zip(without) {
        println!("{:>10} {:>8.1}%  {}", row.0, 100.0 * extra(with, without), row.1);
    }
    Ok(())
}

/// Figure 2: all writes go to one group, then to the other, then to the first again.
fn cleaning() -> Result<(), Failure> {
    println!(
        "\nfigure 2: 100/0, swapped and swapped back; relocations until all has settled again"
    );
    println!(
        "{:10} {:>9} {:>9} {:>10} {:>9}",
        "very-cold", "greedy", "fifo", "published", "measured"
    );
    for very_cold in ["own", "smallest", "off"] {
        let ftl =
            |cleaning| format!("wolf:{},very-cold={very_cold},cleaning={cleaning}", oracle(2));
        let ftls = [ftl("greedy"), ftl("fifo")];
        let at = [drive_writes(WRITES), drive_writes(WRITES + SWAPPED_WRITES)];
        let moved = relocations(
            &swap(&[1.0, 0.0], &at, (0, 1)),
            &ftls,
            WRITES + SWAPPED_WRITES,
            SWAPPED_WRITES,
        )?;
        let more = 100.0 * (moved[1] as f64 / moved[0] as f64 - 1.0);
        println!("{very_cold:10} {:>9} {:>9} {:>10} {more:>8.1}%", moved[0], moved[1], "about 15%");
    }
    Ok(())
}

/// Figure 8: every pair of five groups swaps.
fn five_groups() -> Result<(), Failure> {
    let rates = [1.0, 2.0, 4.0, 8.0, 16.0].map(|rate| rate / 31.0);
    let [wolf, rival] = ["wolf", "fdp-freq"].map(|ftl| format!("{ftl}:{}", oracle(rates.len())));
    let greedy = format!("{rival},cleaning=greedy");
    let ftls = |told: &str| {
        [wolf.clone(), format!("{rival}{told}"), format!("{greedy}{told}"), rival.clone()]
    };
    let stable = relocations(&swap(&rates, &[1e6], (0, 1)), &ftls(""), WRITES, WRITES)?;
    println!("\nfigure 8: five groups, 3.2 .. 51.2%, a pair swapped; extra relocations / PBA, and");
    println!(
        "relocations of fdp-freq / relocations of wolf; published: wolf always better, up to 2.2x"
    );
    println!("{:5} {:>9} {:>17} {:>17} {:>17}", "pair", "wolf", "fdp-freq", "greedy", "not told");
    for first in 0..rates.len() {
        for second in first + 1..rates.len() {
            let pair = (first, second);
            let at = [drive_writes(WRITES)];
            let told = format!(",{}", told(pair));
            let moved = relocations(&swap(&rates, &at, pair), &ftls(&told), WRITES, WRITES)?;
            print!("{first}-{second}   ");
            print!(" {:8.1}%", 100.0 * extra(moved[0], stable[0]));
            for index in 1..moved.len() {
                let ratio = moved[index] as f64 / moved[0] as f64;
                print!("   {:7.1}% {ratio:5.2}x", 100.0 * extra(moved[index], stable[index]));
            }
            println!();
        }
    }
    Ok(())
}

/// Runs all three and prints what is published beside what is measured.
pub(crate) fn run() -> Result<(), Failure> {
    two_groups()?;
    cleaning()?;
    five_groups()
}
