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

/// The FTLs of docs/notes/sampling-cells.md, whose numbers these are, but for the trace of RocksDB.
pub const MEASURED: [MeasuredError; 13] = [
    of("1r-greedy", 0.009, 0.032),
    of("fifo", 0.016, 0.112),
    of("2r-fifo", 0.01, 0.053),
    of("2r++", 0.01, 0.042),
    of("lfs-cb", 0.017, 0.061),
    of("dac-cb", 0.009, 0.071),
    of("sepbit", 0.009, 0.054),
    of("multilog/cost-benefit", 0.011, 0.038),
    of("sfs/cost-benefit", 0.013, 0.095),
    of("fk", 0.022, 0.813),
    of("wolf", 0.052, 0.496),
    of("midas", 0.008, 0.058),
    of("hazard", 0.017, 0.084),
];

/// Pages of a write request from which on runs of pages are written and given up together, which samples do not show: our
/// choice, between the captured traces of databases (2 to 10) and that of RocksDB (104).
const LONG_REQUEST: f64 = 32.0;

/// How far estimates of such a workload were off.
const LONG_ERROR: f64 = 0.41;

/// What estimates of most FTLs are within.
const USUAL: f64 = 0.08;

fn measured(ftl: &str) -> Option<&'static MeasuredError> {
    let name = ftl.split(':').next().unwrap_or_default();
    MEASURED.iter().find(|of| of.ftl == name)
}

/// The share of WAF - 1 that an interval has to both sides at least, since estimates of the FTL or of a workload with so
/// many pages a request were further off than what samples show.
pub fn least_half(ftl: &str, pages_per_request: f64) -> f64 {
    let of_ftl = measured(ftl).map_or(0.0, |of| of.most);
    let of_ftl = if of_ftl > USUAL { of_ftl } else { 0.0 };
    if pages_per_request >= LONG_REQUEST { of_ftl.max(LONG_ERROR) } else { of_ftl }
}

/// What to keep in mind of FTLs whose estimates are known to be further off than others, or not known at all, and of
/// workloads whose requests have this many pages.
pub(super) fn caveats(curves: &[FtlCurve], pages_per_request: f64) -> Vec<String> {
    let of = |curve: &FtlCurve| match measured(&curve.ftl) {
        None => Some(format!(
            "{} is not among the FTLs whose samples were held against whole runs",
            curve.ftl
        )),
        Some(of) if of.most > USUAL => Some(format!(
            "samples of {} were off by up to {} of WAF - 1 in 95 cells of 100",
            of.ftl,
            percent(of.most)
        )),
        Some(_) => None,
    };
    let long = (pages_per_request >= LONG_REQUEST).then(|| {
        format!(
            "write requests have {} pages on average, which are often given up together: samples of such a trace were \
             off by up to {} of WAF - 1",
            significant(pages_per_request, 2),
            percent(LONG_ERROR)
        )
    });
    long.into_iter().chain(curves.iter().filter_map(of)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_far_off_is_said_and_widens_intervals() {
        let curve = |ftl: &str| FtlCurve { ftl: ftl.into(), points: Vec::new(), refused: None };
        let curves = ["sepbit", "wolf:groups=4", "lfs-greedy"].map(curve);
        let said = caveats(&curves, 3.0);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("samples of wolf were off by up to "), "{said:?}");
        assert!(said[1].starts_with("lfs-greedy is not among"), "{said:?}");
        assert!(caveats(&curves[..1], 40.0)[0].starts_with("write requests have 40 pages"));
        let halves = [("sepbit", 3.0), ("sepbit", 40.0), ("lfs-greedy", 3.0)];
        assert_eq!(halves.map(|(ftl, pages)| (100.0 * least_half(ftl, pages)) as u32), [0, 41, 0]);
        assert!(least_half("wolf:groups=4", 3.0) > USUAL);
    }
}
