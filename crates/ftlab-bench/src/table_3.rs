//! Table 3 of the 2R++ paper: cumulative write amplification under fio's zipf.

use crate::Failure;
use ftlab_sim::{DriveOptions, Experiment, Length, Logical, Physical, Workload};
use ftlab_trace::OpenOptions;
use std::time::Instant;

/// Theta, and what the paper prints for 2R and 2R++.
const PUBLISHED: [(&str, [f64; 2]); 3] =
    [("0.5", [6.196, 5.896]), ("0.9", [4.223, 3.871]), ("1.1", [1.771, 1.481])];

const FTLS: [&str; 2] = ["2r-fifo", "2r++"];

/// 360 GB of 4 KiB pages.
const WRITES: u64 = 90_000_000;

/// 8 GiB on 2,048 blocks of 1,152 pages: 12.5% over-provisioning. The paper says 10%, which is what
/// remains if 80 blocks are held in reserve, as its emulator does.
const RESERVE_BLOCKS: u32 = 80;

/// Runs the six cells and prints them beside the published ones.
pub(crate) fn run() -> Result<(), Failure> {
    println!("{:6} {:8} {:>10} {:>9} {:>8}", "theta", "ftl", "published", "measured", "seconds");
    let start = Instant::now();
    for (theta, published) in PUBLISHED {
        let workload = Workload::parse(&format!("zipf:theta={theta}"), OpenOptions::default())?;
        let ftls = FTLS.iter().map(|ftl| ftl.parse()).collect::<Result<_, _>>()?;
        let experiment = Experiment {
            drive: DriveOptions {
                logical: Logical::Pages(1 << 21),
                pages_per_block: 1152,
                physical: Physical::Blocks(2048),
                reserve_blocks: RESERVE_BLOCKS,
                ..DriveOptions::default()
            },
            length: Length::Writes(WRITES),
            ..Experiment::new(workload, ftls)
        };
        let result = experiment.run(&mut ())?;
        for (run, published) in result.runs.iter().zip(published) {
            assert_eq!(run.host_writes, WRITES, "{}", run.ftl);
            println!(
                "{theta:6} {:8} {published:10.3} {:9.3} {:8.1}",
                run.ftl, run.waf, run.seconds
            );
        }
    }
    println!("{} host writes in {:.0} s", 6 * WRITES, start.elapsed().as_secs_f64());
    Ok(())
}
