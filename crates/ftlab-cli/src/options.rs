//! Options that several commands share.

use clap::Args;
#[cfg(feature = "lab")]
use ftlab_spec::Value;
use ftlab_spec::{ByteSize, SpecError};
use ftlab_trace::{Layout, OpenOptions};
#[cfg(feature = "lab")]
use std::{fmt::Debug, ops::RangeBounds};

/// Options for reading a trace.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading a trace")]
pub(crate) struct ReadingArgs {
    /// Format of the trace, with parameters; by default detected from its content. See
    /// `ftlab list formats`.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    pub(crate) format: Option<String>,
    /// Columns of a CSV file, such as ts:us=5,op=2,off:bytes=3,len:bytes=4.
    #[arg(long, value_name = "FIELD:UNIT=COLUMN,...")]
    pub(crate) map: Option<String>,
    /// Share of the lines that may be invalid, such as 1%; they are counted and skipped.
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = parse_percent)]
    pub(crate) skip_bad: f64,
    /// Treats every request of a format without operations (oracle-general) as a write.
    #[arg(long)]
    pub(crate) assume_write: bool,
    /// Keeps only this volume of a trace of several; may be repeated. Of jobs of fio on several devices, keeps those of
    /// this one.
    #[arg(long, value_name = "NAME")]
    pub(crate) volume: Vec<String>,
    /// Places the volumes of a trace side by side, in pieces of this size in order of first use.
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true,
          default_missing_value = "1GiB", conflicts_with = "compact")]
    pub(crate) side_by_side: Option<ByteSize>,
    /// Removes addresses that are never written or read, in pieces of this size; by default a page.
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true,
          default_missing_value = "page", value_parser = parse_piece)]
    pub(crate) compact: Option<Piece>,
}

/// The size of the pieces of `--compact`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece {
    Page,
    Bytes(u64),
}

fn parse_piece(text: &str) -> Result<Piece, SpecError> {
    if text == "page" {
        Ok(Piece::Page)
    } else {
        text.parse().map(|size: ByteSize| Piece::Bytes(size.0))
    }
}

impl ReadingArgs {
    pub(crate) fn open_options(&self, page_bytes: u32) -> OpenOptions {
        OpenOptions {
            format: self.format.clone(),
            map: self.map.clone(),
            page_bytes,
            skip_bad_percent: self.skip_bad,
            need_time: true,
            volumes: self.volume.clone(),
            layout: self.layout(page_bytes),
            assume_write: self.assume_write,
        }
    }

    /// The options as they are typed.
    #[cfg(feature = "lab")]
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        option("--format", self.format.clone());
        option("--map", self.map.clone());
        option("--skip-bad", (self.skip_bad > 0.0).then(|| format!("{}%", self.skip_bad)));
        for volume in &self.volume {
            option("--volume", Some(volume.clone()));
        }
        words.extend(self.assume_write.then(|| "--assume-write".to_owned()));
        words.extend(self.side_by_side.map(|size| format!("--side-by-side={size}")));
        words.extend(self.compact.map(|piece| match piece {
            Piece::Page => "--compact".to_owned(),
            Piece::Bytes(bytes) => format!("--compact={}", ByteSize(bytes)),
        }));
        words
    }

    /// Whether several volumes get places in one address space.
    #[cfg(feature = "lab")]
    pub(crate) fn lays_out(&self) -> bool {
        self.side_by_side.is_some() || self.compact.is_some()
    }

    fn layout(&self, page_bytes: u32) -> Layout {
        match (self.compact, self.side_by_side) {
            (Some(Piece::Page), _) => Layout::Pieces(u64::from(page_bytes)),
            (Some(Piece::Bytes(bytes)), _) => Layout::Pieces(bytes),
            (None, Some(size)) => Layout::Pieces(size.0),
            (None, None) => Layout::ByFormat,
        }
    }
}

/// A percentage, with or without `%`.
fn parse_percent(text: &str) -> Result<f64, SpecError> {
    let number = text.strip_suffix('%').unwrap_or(text);
    number.parse().ok().filter(|percent| (0.0..=100.0).contains(percent)).ok_or_else(|| {
        SpecError::Quantity {
            text: text.into(),
            expects: "a percentage from 0% to 100%, such as 1%",
        }
    })
}

/// A value, parsed like parameters of FTLs.
#[cfg(feature = "lab")]
pub(crate) fn parse<T: Value>(text: &str) -> Result<T, String> {
    T::parse(text).ok_or_else(|| format!("{text:?} is not {}", T::expects_for(text)))
}

/// Such a value, within `range`.
#[cfg(feature = "lab")]
pub(crate) fn parse_in<T: Value + PartialOrd, R>(
    range: R,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    R: RangeBounds<T> + Debug + Clone + Send + Sync + 'static,
{
    move |text| {
        let value = parse::<T>(text)?;
        let is_within = range.contains(&value);
        is_within
            .then_some(value)
            .ok_or_else(|| format!("{text} is not {} in {range:?}", T::expects()))
    }
}

/// A number above 0.
#[cfg(feature = "lab")]
pub(crate) fn parse_positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| format!("{text:?} is not a positive number"))
}
