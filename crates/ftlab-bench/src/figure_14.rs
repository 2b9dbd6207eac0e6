//! Figure 14 of the 2R paper: 2R beside LFS and DAC. The bars have no numbers in print; the text says
//! in which order they stand, and that is what is looked for.
//!
//! The captured traces are looked for in `$FTLAB_SHARED/traces`.

use crate::Failure;
use ftlab_sim::{DriveOptions, Experiment, ExperimentResult, Fill, Length, Logical, Workload};
use ftlab_trace::OpenOptions;
use std::path::PathBuf;
use std::time::Instant;

/// The paper's six, and ours behind them.
const FTLS: [&str; 8] = [
    "1r-greedy",
    "2r-greedy",
    "lfs-cb",
    "2r-fifo",
    "dac-cb",
    "dac-greedy",
    "2r++",
    "2r++:victims=cost-benefit",
];

/// Whether something that the paper says holds.
type Claim = fn(&Wafs) -> bool;

/// What the paper says of its six.
const CLAIMS: [(&str, Claim); 3] = [
    ("2r-fifo < lfs-cb < 2r-greedy", |waf| {
        waf.of("2r-fifo") < waf.of("lfs-cb") && waf.of("lfs-cb") < waf.of("2r-greedy")
    }),
    ("dac-cb best of the six", |waf| FTLS[..6].iter().all(|ftl| waf.of("dac-cb") <= waf.of(ftl))),
    ("2r-greedy < dac-greedy", |waf| waf.of("2r-greedy") < waf.of("dac-greedy")),
];

/// A generator and how much of it, or a captured trace on a drive of its own size, trims ignored.
enum Source {
    Zipf { logical_pages: u64, writes: u64 },
    Captured(&'static str),
}

/// The paper's 90 M page writes over 8 GB, and the same drive writes over an eighth of it. It says
/// zipf 1.0, which fio does not have.
const ZIPF: &str = "zipf:theta=0.99";
const ZIPF_FULL: Source = Source::Zipf { logical_pages: 1 << 21, writes: 90_000_000 };
const ZIPF_EIGHTH: Source = Source::Zipf { logical_pages: 1 << 18, writes: 11_250_000 };
const CAPTURED: [Source; 2] =
    [Source::Captured("tpcc-mariadb"), Source::Captured("linkbench-mariadb")];

/// Pages per block: the paper's, and one that gives a drive of 1 GiB as many blocks as the paper's
/// has.
const PAGES_PER_BLOCK: [u32; 2] = [1024, 128];

impl Source {
    fn name(&self) -> String {
        match self {
            Self::Zipf { logical_pages, .. } => format!("{ZIPF}, {} GiB", logical_pages >> 18),
            Self::Captured(name) => (*name).to_owned(),
        }
    }

    /// Logical size, workload and length; `None` where the trace is absent.
    fn open(&self) -> Result<Option<(Logical, Workload, Length)>, Failure> {
        let (text, logical, length) = match self {
            Self::Zipf { logical_pages, writes } => {
                (ZIPF.to_owned(), Logical::Pages(*logical_pages), Length::Writes(*writes))
            }
            Self::Captured(name) => {
                let shared = std::env::var_os("FTLAB_SHARED").map(PathBuf::from);
                let path = shared.map(|shared| shared.join(format!("traces/{name}.parquet")));
                let Some(path) = path.filter(|path| path.exists()) else { return Ok(None) };
                (path.display().to_string(), Logical::OfWorkload, Length::OfWorkload)
            }
        };
        Ok(Some((logical, Workload::parse(&text, OpenOptions::default())?, length)))
    }
}

/// The write amplification of each FTL.
struct Wafs(ExperimentResult);

impl Wafs {
    fn of(&self, ftl: &str) -> f64 {
        self.0.runs.iter().find(|run| run.ftl == ftl).map_or(f64::NAN, |run| run.waf)
    }
}

/// Measures and prints a row; false if its trace is absent.
fn row(source: &Source, fill: Fill, pages_per_block: u32) -> Result<bool, Failure> {
    let Some((logical, workload, length)) = source.open()? else { return Ok(false) };
    let ftls = FTLS.iter().map(|ftl| ftl.parse()).collect::<Result<_, _>>()?;
    let experiment = Experiment {
        drive: DriveOptions { logical, pages_per_block, ..DriveOptions::default() },
        length,
        fill,
        ignore_trims: true,
        ..Experiment::new(workload, ftls)
    };
    let wafs = Wafs(experiment.run(&mut ())?);
    print!("{:22} {:10} {pages_per_block:5}", source.name(), fill.to_string());
    for ftl in FTLS {
        print!(" {:10.3}", wafs.of(ftl));
    }
    for (_, holds) in CLAIMS {
        print!(" {:>4}", if holds(&wafs) { "yes" } else { "no" });
    }
    println!();
    Ok(true)
}

/// Runs every row and prints the eight write amplifications, and which claims of the paper hold.
pub(crate) fn run() -> Result<(), Failure> {
    let start = Instant::now();
    for (letter, (claim, _)) in ('A'..).zip(CLAIMS) {
        println!("{letter}  {claim}");
    }
    print!("\n{:22} {:10} {:>5}", "workload", "fill", "pages");
    for ftl in FTLS {
        print!(" {:>10}", ftl.replace(":victims=cost-benefit", " cb"));
    }
    println!("    A    B    C");
    row(&ZIPF_FULL, Fill::None, PAGES_PER_BLOCK[0])?;
    for source in std::iter::once(&ZIPF_EIGHTH).chain(&CAPTURED) {
        let mut is_there = true;
        for pages_per_block in PAGES_PER_BLOCK {
            for fill in [Fill::None, Fill::Sequential] {
                is_there = is_there && row(source, fill, pages_per_block)?;
            }
        }
        if !is_there {
            println!(
                "SKIPPED: {}; set FTLAB_SHARED to the folder that holds traces/{}.parquet",
                source.name(),
                source.name()
            );
        }
    }
    println!("{:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}
