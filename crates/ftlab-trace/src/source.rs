//! What a trace is to the rest of the laboratory: batches of requests, and what is known of them.

use crate::{RequestBatch, Skipped, TraceError};
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

    /// When a phase begins, or an error that says which phases `trace` has.
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
}
