//! Results as one HTML page, which needs neither network nor any other file.
//!
//! ```
//! use ftlab_sim::{DriveOptions, Experiment, Fill, Logical, Workload};
//!
//! let drive = DriveOptions { logical: Logical::Pages(4096), pages_per_block: 32, ..Default::default() };
//! let workload = Workload::parse("zipf:theta=0.9", Default::default())?;
//! let ftls = vec!["1r-greedy".parse()?, "2r++".parse()?];
//! let experiment =
//!     Experiment { drive, fill: Fill::Random, observe: true, ..Experiment::new(workload, ftls) };
//! let page = ftlab_report::page(&experiment.run(&mut ())?)?;
//! assert!(page.starts_with("<!doctype html>") && page.len() < ftlab_report::BYTES_MAX);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The text and the tables are written here ([`askama`] escapes what users named); charts and the picture of
//! the flash are drawn by the scripts in `assets/` from data that is bounded (`data.rs`), with
//! [uPlot](https://github.com/leeoniya/uPlot) for lines.

#![forbid(unsafe_code)]

mod data;
mod page;
mod tables;

pub use page::page;

use thiserror::Error;

/// Bytes of a page at most.
pub const BYTES_MAX: usize = 1_500_000;

/// FTLs that a page shows at most.
pub const FTLS_MAX: usize = 64;

/// Why there is no page.
#[derive(Debug, Error)]
pub enum ReportError {
    /// There are more FTLs than a page has room for.
    #[error(
        "a report of {ftls} FTLs would not be readable, and has room for {FTLS_MAX}: name fewer, or use \
         --json"
    )]
    TooManyFtls {
        /// How many.
        ftls: usize,
    },
    /// There is more of something else than a page has room for.
    #[error(
        "the report would have {bytes} bytes, more than {BYTES_MAX}: name fewer FTLs, or shorter names"
    )]
    TooLarge {
        /// How many.
        bytes: usize,
    },
    /// The page could not be put together.
    #[error("the report cannot be written: {0}")]
    Template(#[from] askama::Error),
    /// The data could not be put into it.
    #[error("the report cannot be written: {0}")]
    Data(#[from] serde_json::Error),
}

/// Refuses more FTLs than a page has room for: better known before a run than behind it.
pub fn check(ftls: usize) -> Result<(), ReportError> {
    if ftls > FTLS_MAX { Err(ReportError::TooManyFtls { ftls }) } else { Ok(()) }
}
