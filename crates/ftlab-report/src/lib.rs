//! Results as one self-contained HTML page; and lessons, which show FTLs on a small drive step by step
//! ([`lesson_page`]), curves of advice and of load ([`curve_page`]), what is in a workload ([`inspection_page`]) and fleets ([`fleet_page`]).
//!
//! ```
//! use ftlab_sim::{DriveOptions, Experiment, Fill, Logical, Workload};
//!
//! let drive = DriveOptions { logical: Logical::Pages(4096), pages_per_block: Some(32), ..Default::default() };
//! let workload = Workload::parse("zipf:theta=0.9", Default::default())?;
//! let ftls = vec!["1r-greedy".parse()?, "2r++".parse()?];
//! let experiment =
//!     Experiment { drive, fill: Fill::Random, observe: true, ..Experiment::new(workload, ftls) };
//! let page = ftlab_report::page(&experiment.run(&mut ())?)?;
//! assert!(page.starts_with("<!doctype html>") && page.len() < ftlab_report::BYTES_MAX);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Text and tables are rendered here ([`askama`] escapes names given by users); charts and the
//! picture of the flash are drawn by the scripts in `assets/` from data of bounded size
//! (`data.rs`), with [uPlot](https://github.com/leeoniya/uPlot) for lines.

#![forbid(unsafe_code)]

mod curve;
mod data;
mod fleet;
mod handle_tables;
mod inspection;
mod lesson;
mod page;
mod tables;
mod text;
mod timeline;
mod times;
mod workload;

pub use curve::{CurvePage, curve_page};
pub use fleet::{FleetCell, FleetPage, fleet_page};
pub use inspection::{InspectionPage, inspection_page};
pub use lesson::lesson_page;
pub use page::page;

use thiserror::Error;

/// Maximum size of a page in bytes.
pub const BYTES_MAX: usize = 1_500_000;

/// The licence of the library among the scripts, which every copy must include.
const UPLOT_LICENCE: &str = include_str!("../assets/vendor/LICENSE-uPlot");

/// The style of pages with charts.
const CHART_STYLE: &str =
    concat!(include_str!("../assets/vendor/uPlot.min.css"), include_str!("../assets/style.css"));

/// An entry of the list of contents.
struct Link {
    id: &'static str,
    text: &'static str,
}

/// Maximum number of FTLs on a page.
pub const FTLS_MAX: usize = 64;

/// Why there is no page.
#[derive(Debug, Error)]
pub enum ReportError {
    /// There are more FTLs than a page has room for.
    #[error(
        "a report of {ftls} FTLs would not be readable, {FTLS_MAX} are allowed: name fewer, or use --json"
    )]
    TooManyFtls {
        /// The number of FTLs.
        ftls: usize,
    },
    /// Anything else takes more space than a page has.
    #[error(
        "the report would have {bytes} bytes, more than {BYTES_MAX}: name fewer FTLs, or shorter names"
    )]
    TooLarge {
        /// The size of the page.
        bytes: usize,
    },
    /// A lesson takes more space than a page has.
    #[error(
        "the lesson would have {bytes} bytes, more than {BYTES_MAX}: name fewer FTLs, or lower --writes"
    )]
    TooManySteps {
        /// The size of the page.
        bytes: usize,
    },
    /// The page could not be rendered.
    #[error("the report cannot be written: {0}")]
    Template(#[from] askama::Error),
    /// The data could not be serialised.
    #[error("the report cannot be written: {0}")]
    Data(#[from] serde_json::Error),
}

/// Refuses more FTLs than fit on a page; to be called before a run, not after it.
pub fn check(ftls: usize) -> Result<(), ReportError> {
    if ftls > FTLS_MAX { Err(ReportError::TooManyFtls { ftls }) } else { Ok(()) }
}
