//! Table 2 of the FASTer paper: response time of a write, mean and standard deviation, by log space; and
//! how fast that is simulated.
//!
//! The paper's trace cannot be had. The generator `oltp` has what the paper states of it; with two
//! more assumptions, which were fitted to this very table, it comes closer. Both are shown.

use crate::Failure;
use crate::log_space::{Cell, LOG_PERCENT, measure, pass};

const WORKLOADS: [(&str, &str); 2] = [
    ("oltp", "what the paper states of its trace, and nothing else"),
    (FITTED, "two assumptions more, fitted to this table"),
];

const FITTED: &str = "oltp:window=0.28,blocks=0.68";

/// An FTL, and the published means and standard deviations in ms.
struct Row {
    ftl: &'static str,
    mean: [f64; 6],
    deviation: [f64; 6],
}

const FAST_MEAN: [f64; 6] = [3.59, 2.64, 1.71, 1.33, 1.12, 1.00];
const FAST_DEVIATION: [f64; 6] = [27.6, 19.9, 12.2, 9.01, 7.20, 6.19];

const ROWS: [Row; 5] = [
    Row { ftl: "fast:sw=off", mean: FAST_MEAN, deviation: FAST_DEVIATION },
    Row { ftl: "fast:sw=on", mean: FAST_MEAN, deviation: FAST_DEVIATION },
    Row {
        ftl: "faster:isolation=off",
        mean: [3.11, 2.11, 1.24, 0.92, 0.76, 0.66],
        deviation: [38.9, 30.8, 21.6, 17.3, 14.6, 12.7],
    },
    Row {
        ftl: "faster",
        mean: [3.04, 2.08, 1.20, 0.90, 0.75, 0.66],
        deviation: [5.99, 5.00, 3.66, 3.02, 2.64, 2.40],
    },
    Row {
        ftl: "page",
        mean: [3.00, 2.05, 1.20, 0.89, 0.72, 0.61],
        deviation: [5.73, 4.74, 3.44, 2.77, 2.32, 2.01],
    },
];

/// Runs every cell and prints it beside the published one.
pub(crate) fn run() -> Result<(), Failure> {
    for (workload, remark) in WORKLOADS {
        let pass = pass(workload)?;
        println!("{workload}: {remark}; ms, in brackets published");
        print!("{:31}", "log space");
        for percent in LOG_PERCENT {
            print!("{percent:>14}%");
        }
        println!();
        let mut table = Vec::new();
        for row in &ROWS {
            let cells = LOG_PERCENT.map(|percent| measure(row.ftl, percent, &pass));
            let cells = cells.into_iter().collect::<Result<Vec<_>, _>>()?;
            print_line(row.ftl, "mean", &row.mean, cells.iter().map(Cell::mean_ms));
            print_line("", "deviation", &row.deviation, cells.iter().map(Cell::deviation_ms));
            print_speed(&cells);
            table.push(cells);
        }
        println!();
        verify(workload, &table);
    }
    Ok(())
}

fn print_line(ftl: &str, what: &str, published: &[f64; 6], found: impl Iterator<Item = f64>) {
    print!("{ftl:21}{what:10}");
    for (published, ms) in published.iter().zip(found) {
        print!(" {:>6} {:>7}", three_digits(ms), format!("({})", three_digits(*published)));
    }
    println!();
}

fn print_speed(cells: &[Cell]) {
    print!("{:21}{:10}", "", "M writes/s");
    for Cell { million_writes: [plain, timed], .. } in cells {
        print!(" {plain:>6.2} {:>7}", format!("t{timed:.2}"));
    }
    println!();
}

/// What the paper claims, and holds with either workload.
fn verify(workload: &str, table: &[Vec<Cell>]) {
    let [fast, _, _, faster, page] = table else { panic!("five rows") };
    for (column, percent) in LOG_PERCENT.iter().enumerate() {
        let cell = format!("{workload} at {percent}%");
        let (fast, faster, page) = (&fast[column], &faster[column], &page[column]);
        assert!(faster.mean_ms() < fast.mean_ms(), "{cell}: FASTer is ahead of FAST");
        let ratio = faster.deviation_ms() / fast.deviation_ms();
        assert!(ratio < 0.45, "{cell}: FASTer's deviation is {ratio:.2} times FAST's");
        let off = faster.mean_ms() / page.mean_ms() - 1.0;
        assert!(workload != FITTED || off.abs() < 0.1, "{cell}: {off:.3} from page mapping");
    }
}

fn three_digits(ms: f64) -> String {
    format!("{ms:.*}", if ms < 10.0 { 2 } else { 1 })
}
