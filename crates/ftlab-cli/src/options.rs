//! Options that several commands share.

use clap::Args;
use ftlab_spec::{ByteSize, SpecError};
use ftlab_trace::OpenOptions;

/// How a trace is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading a trace")]
pub(crate) struct ReadingArgs {
    /// Format of the trace, with parameters; by its content if not given. See `ftlab list formats`.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    pub(crate) format: Option<String>,
    /// Columns of a CSV file, such as ts:us=5,op=2,off:bytes=3,len:bytes=4.
    #[arg(long, value_name = "FIELD:UNIT=COLUMN,...")]
    pub(crate) map: Option<String>,
    /// Share of the lines that may be wrong, such as 1%; they are counted and passed over.
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = parse_percent)]
    pub(crate) skip_bad: f64,
}

impl ReadingArgs {
    pub(crate) fn open_options(&self, page_bytes: u32) -> OpenOptions {
        OpenOptions {
            format: self.format.clone(),
            map: self.map.clone(),
            page_bytes,
            skip_bad_percent: self.skip_bad,
            need_time: true,
        }
    }
}

/// A percentage with or without its sign.
fn parse_percent(text: &str) -> Result<f64, SpecError> {
    let number = text.strip_suffix('%').unwrap_or(text);
    number.parse().ok().filter(|percent| (0.0..=100.0).contains(percent)).ok_or_else(|| {
        SpecError::Quantity {
            text: text.into(),
            expects: "a percentage from 0% to 100%, such as 1%",
        }
    })
}

/// A page size in bytes.
pub(crate) fn parse_page_size(text: &str) -> Result<u32, String> {
    let size: ByteSize = text.parse().map_err(|error: SpecError| error.to_string())?;
    u32::try_from(size.0)
        .ok()
        .filter(|bytes| *bytes >= 512 && bytes.is_multiple_of(512))
        .ok_or_else(|| {
            format!("{size} is not a multiple of 512 bytes below 4GiB; 4KiB and 16KiB are usual")
        })
}
