//! Figure 8 of the FASTer paper: FAST, FASTer and page mapping by skew and log space.
//!
//! The figure has no numbers; the text says what it shows. Pages are drawn by `iozone`, with hot pages
//! among cold ones and with hot pages together, since the paper does not say where they lie.

use crate::Failure;
use crate::log_space::{Cell, LOG_PERCENT, measure, pass};

const SKEWS: [(u32, u32); 4] = [(90, 10), (80, 20), (70, 30), (60, 40)];

const FTLS: [&str; 3] = ["fast:sw=off", "faster", "page"];

/// What FASTer gains over FAST in percent, by log space.
type Gains = [f64; 6];

/// One skew: the mean response times of the three FTLs in ms, by log space.
type Means = [[f64; 6]; 3];

/// Runs every cell and prints the means, the gains, and what the text says beside what was found.
pub(crate) fn run() -> Result<(), Failure> {
    for hot in ["together", "scattered"] {
        println!("hot pages {hot}: FAST / FASTer / page mapping, mean ms, and the gain over FAST");
        print!("{:8}", "log");
        for percent in LOG_PERCENT {
            print!("{percent:>19}%");
        }
        println!();
        let skews =
            SKEWS.map(|skew| means(hot, skew)).into_iter().collect::<Result<Vec<_>, _>>()?;
        for ((x, y), means) in SKEWS.iter().zip(&skews) {
            print_skew(&format!("{x}/{y}"), means);
        }
        print_claims(&skews);
        println!();
    }
    Ok(())
}

fn means(hot: &str, (x, y): (u32, u32)) -> Result<Means, Failure> {
    let pass = pass(&format!("iozone:x={x},y={y},hot={hot}"))?;
    let mut means = [[0.0; 6]; 3];
    for (ftl, row) in FTLS.iter().zip(&mut means) {
        for (percent, mean) in LOG_PERCENT.iter().zip(row) {
            *mean = measure(ftl, *percent, &pass).map(|cell: Cell| cell.mean_ms())?;
        }
    }
    Ok(means)
}

fn gains([fast, faster, _]: &Means) -> Gains {
    std::array::from_fn(|column| 100.0 * (1.0 - faster[column] / fast[column]))
}

fn print_skew(skew: &str, means: &Means) {
    print!("{skew:8}");
    for column in 0..LOG_PERCENT.len() {
        let [fast, faster, page] = means.map(|row| row[column]);
        print!("{:>20}", format!("{fast:.2} / {faster:.2} / {page:.2}"));
    }
    print!("\n{:8}", "");
    for gain in gains(means) {
        print!("{:>20}", format!("{gain:.0}%"));
    }
    println!();
}

/// The log spaces at which `holds` does.
fn where_it_holds(holds: impl Fn(usize) -> bool) -> String {
    let columns = (0..LOG_PERCENT.len()).filter(|&column| holds(column));
    let percents: Vec<_> = columns.map(|column| format!("{}%", LOG_PERCENT[column])).collect();
    if percents.is_empty() { "nowhere".into() } else { format!("at {}", percents.join(", ")) }
}

/// Whether something holds at a log space, by its place in [`LOG_PERCENT`].
type Claim<'a> = Box<dyn Fn(usize) -> bool + 'a>;

fn print_claims(skews: &[Means]) {
    let hottest = &skews[0];
    let gains: Vec<Gains> = skews.iter().map(gains).collect();
    let claims: [(&str, Claim<'_>); 3] = [
        ("the gain grows with skew", Box::new(|c| gains.windows(2).all(|g| g[0][c] > g[1][c]))),
        ("90/10: FASTer beats page mapping", Box::new(|c| hottest[1][c] < hottest[2][c])),
        (
            "90/10: FAST is within 15% of page mapping",
            Box::new(|c| (hottest[0][c] / hottest[2][c] - 1.0).abs() < 0.15),
        ),
    ];
    for (claim, holds) in claims {
        println!("published: {claim}; found {}", where_it_holds(holds));
    }
}
