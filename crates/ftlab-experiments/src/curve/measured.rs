//! How far samples were off, by FTL.

use super::curves::FtlCurve;
use ftlab_sim::format::{percent, significant};

/// How far estimates of an FTL were off, as shares of WAF - 1 of the whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredError {
    /// The FTL by its name.
    pub ftl: &'static str,
    /// Half of the cells were off by less.
    pub median: f64,
    /// And 95% of them.
    pub most: f64,
}

const fn of(ftl: &'static str, median: f64, most: f64) -> MeasuredError {
    MeasuredError { ftl, median, most }
}

/// The FTLs of docs/notes/sampling-cells.md, whose numbers these are.
pub const MEASURED: [MeasuredError; 13] = [
    of("1r-greedy", 0.006, 0.036),
    of("fifo", 0.011, 0.101),
    of("2r-fifo", 0.014, 0.053),
    of("2r++", 0.007, 0.038),
    of("lfs-cb", 0.014, 0.024),
    of("dac-cb", 0.009, 0.042),
    of("sepbit", 0.01, 0.026),
    of("multilog/cost-benefit", 0.01, 0.042),
    of("sfs/cost-benefit", 0.017, 0.044),
    of("fk", 0.004, 0.016),
    of("wolf", 0.052, 0.251),
    of("midas", 0.008, 0.356),
    of("hazard", 0.014, 0.069),
];

/// Pages of a write request from which on runs of pages are written and given up together, which samples do not show: our
/// choice, between the captured traces of databases (2 to 10) and that of RocksDB (104).
const LONG_REQUEST: f64 = 32.0;

/// What to keep in mind of FTLs whose estimates are known to be further off than others, or not known at all, and of
/// workloads whose requests have so many pages.
pub(super) fn caveats(curves: &[FtlCurve], pages_per_request: f64) -> Vec<String> {
    /// What estimates of most FTLs are within.
    const USUAL: f64 = 0.06;
    let of = |curve: &FtlCurve| {
        let name = curve.ftl.split(':').next().unwrap_or_default();
        match MEASURED.iter().find(|of| of.ftl == name) {
            None => Some(format!(
                "{name} is not among the FTLs whose samples were held against whole runs"
            )),
            Some(of) if of.most > USUAL => Some(format!(
                "samples of {name} were off by up to {} of WAF - 1 in 95 cells of 100",
                percent(of.most)
            )),
            Some(_) => None,
        }
    };
    let long = (pages_per_request >= LONG_REQUEST).then(|| {
        format!(
            "write requests have {} pages on average, which are often given up together: samples of such a trace were \
             off by up to 41% of WAF - 1",
            significant(pages_per_request, 2)
        )
    });
    long.into_iter().chain(curves.iter().filter_map(of)).collect()
}
