//! What a trace is to the rest of the laboratory: batches of requests, and what is known of them.

use crate::{Input, Layout, RequestBatch, Skipped, TraceError, format};
use ftlab_spec::Spec;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What is known of a trace before its first request is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TraceMetadata {
    /// The format with its parameters, or the generator with its own, as they can be typed again.
    pub format: String,
    /// Size of the drive that the trace was taken from, where the file says so.
    pub device_bytes: Option<u64>,
    /// Requests in the trace, where the file says so.
    pub requests: Option<u64>,
    /// Whatever else the file says of itself: software, command lines, marks.
    pub properties: BTreeMap<String, String>,
}

impl TraceMetadata {
    /// Named moments in microseconds, from the property `phases_us`: a JSON list of `[name, time]`.
    /// Empty where there are none.
    pub fn phases_us(&self) -> Vec<(String, u64)> {
        self.properties
            .get("phases_us")
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    /// The time at which the named phase begins, in microseconds.
    pub fn phase_us(&self, name: &str) -> Option<u64> {
        self.phases_us().into_iter().find(|(phase, _)| phase == name).map(|(_, start_us)| start_us)
    }

    /// The same, or an error that says which phases `trace` has.
    pub fn phase_start_us(&self, trace: &Path, name: &str) -> Result<u64, TraceError> {
        self.phase_us(name).ok_or_else(|| {
            let known: Vec<_> = self.phases_us().into_iter().map(|(phase, _)| phase).collect();
            TraceError::Unsupported {
                what: format!("{} has no phase {name:?}", trace.display()),
                remedy: match known.as_slice() {
                    [] => "it names none".into(),
                    known => format!("it has {}", known.join(", ")),
                },
            }
        })
    }
}

/// A stream of requests: a trace file or a generator.
pub trait TraceSource: Send {
    /// What is known of the trace.
    fn metadata(&self) -> &TraceMetadata;

    /// Clears `batch` and fills it with the next requests, about [`RequestBatch::limit`] of them.
    ///
    /// Returns `false` at the end, with an empty batch; most generators have no end. After an error the
    /// source must not be read further. A source keeps filling the same columns from the first
    /// batch to the last.
    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError>;

    /// What has been passed over so far.
    fn skipped(&self) -> &Skipped;

    /// Names of the volumes of [`RequestBatch::volume`] by number, as far as read; empty where the
    /// number is the name.
    fn volumes(&self) -> &[String] {
        &[]
    }

    /// Share of the file read so far, in 0..=1; `None` where there is no end or it is not known.
    fn progress(&self) -> Option<f64> {
        None
    }
}

/// How to open a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenOptions {
    /// `NAME` or `NAME:key=value,...` of a [format](crate::format::FORMATS); by content if `None`.
    pub format: Option<String>,
    /// Columns of a CSV file; see [`mod@crate::format::csv`]. Implies `format` "csv".
    pub map: Option<String>,
    /// Bytes per page, for formats that count in pages.
    pub page_bytes: u32,
    /// Percentage of lines that may be wrong; they are counted and passed over.
    pub skip_bad_percent: f64,
    /// Whether the caller looks at times. Readers may leave `time_us` empty where this is off.
    pub need_time: bool,
    /// Volumes to keep, by name; all if empty.
    pub volumes: Vec<String>,
    /// What is done with the addresses of several volumes.
    pub layout: Layout,
    /// Takes every request of a format without operations for a write. Implies `format`
    /// "oracle-general".
    pub assume_write: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            format: None,
            map: None,
            page_bytes: 4096,
            skip_bad_percent: 0.0,
            need_time: true,
            volumes: Vec::new(),
            layout: Layout::ByFormat,
            assume_write: false,
        }
    }
}

impl OpenOptions {
    /// The format that is asked for, if one is.
    pub(crate) fn format_spec(&self) -> Result<Option<Spec>, TraceError> {
        let implied = [("csv", self.map.is_some()), ("oracle-general", self.assume_write)];
        let implied = implied.into_iter().find(|(_, is_implied)| *is_implied);
        let mut spec = match (&self.format, implied) {
            (None, None) => return Ok(None),
            (None, Some((name, _))) => Spec::bare(name),
            (Some(text), _) => text.parse()?,
        };
        if let Some(map) = &self.map {
            add(&mut spec, "--map", ("csv", "map"), map.replace(',', ";"))?;
        }
        if self.assume_write {
            add(&mut spec, "--assume-write", ("oracle-general", "assume-write"), "on".into())?;
        }
        Ok(Some(spec))
    }
}

/// Adds what an option says to the parameters of the format that it belongs to.
fn add(
    spec: &mut Spec,
    option: &str,
    (format, key): (&str, &str),
    value: String,
) -> Result<(), TraceError> {
    if spec.name != format || spec.get(key).is_some() {
        return Err(TraceError::Unsupported {
            what: format!("{option} cannot be combined with --format {spec}"),
            remedy: format!("use {option} with --format {format} or alone"),
        });
    }
    spec.arguments.push((key.into(), value));
    Ok(())
}

/// Opens the trace at `path` (`-` is standard input).
///
/// gzip and zstd are recognised by content and unpacked on the way; so is the format, unless
/// `options` names one.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Box<dyn TraceSource>, TraceError> {
    open_input(Input::open(path)?, options)
}

/// Opens a trace that is not (or not yet) a file.
pub fn open_input(input: Input, options: &OpenOptions) -> Result<Box<dyn TraceSource>, TraceError> {
    format::open(input, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_read_from_the_properties() {
        let mut metadata = TraceMetadata::default();
        assert_eq!(metadata.phase_us("run"), None);
        metadata.properties.insert("phases_us".into(), r#"[["mkfs", 0], ["run", 25]]"#.into());
        assert_eq!((metadata.phase_us("run"), metadata.phase_us("load")), (Some(25), None));
        metadata.properties.insert("phases_us".into(), "[".into());
        assert!(metadata.phases_us().is_empty());
    }

    #[test]
    fn a_map_is_for_csv_only() {
        let options = |format: Option<&str>| OpenOptions {
            format: format.map(Into::into),
            map: Some("off=1,len=2".into()),
            ..OpenOptions::default()
        };
        let spec = options(None).format_spec().unwrap().unwrap();
        assert_eq!(spec.to_string(), "csv:map=off=1;len=2");
        let error = options(Some("blkparse")).format_spec().unwrap_err().to_string();
        assert!(error.contains("use --map with --format csv or alone"), "{error}");
    }
}
