//! Stands in for `ftlab-fio` in a program that was built without it: no jobs can be read, so none are there.

use ftlab_spec::Value;
use ftlab_trace::{ClosedLoop, Issued, RequestBatch, Space, TraceError, TraceSource, Turn};
use std::fmt;
use std::path::Path;

/// Jobs of fio: none.
#[derive(Debug, Clone)]
pub enum JobFile {}

/// The requests of jobs: none.
pub(crate) enum JobRequests {}

/// Jobs with a clock: none.
pub enum Hosts {}

/// Which jobs are asked for; nobody looks at it.
#[expect(dead_code, reason = "there is nothing to take it from")]
pub(crate) struct Taken {
    pub(crate) device: Option<String>,
    pub(crate) capacity: Option<u64>,
    pub(crate) version: Option<Version>,
}

/// A version of fio; nobody looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version;

/// Opens what a job replays.
type OpenReplay = fn(&str, &Space) -> Result<Box<dyn TraceSource>, TraceError>;

/// The error of asking for jobs.
fn absent<T>() -> Result<T, TraceError> {
    Err(TraceError::Unsupported {
        what:
            "jobs of fio are not part of this binary, which was built without the feature \"fio\""
                .into(),
        remedy: "build it with `make build`, or `cargo build --release --features ftlab-cli/lab`"
            .into(),
    })
}

impl JobFile {
    pub(crate) fn read_for(_path: &Path, _taken: &Taken) -> Result<Self, TraceError> {
        absent()
    }

    pub(crate) fn command(_words: &[String], _taken: &Taken) -> Result<Self, TraceError> {
        absent()
    }

    pub(crate) fn parse(_text: &str, _name: &str) -> Result<Self, TraceError> {
        absent()
    }

    pub(crate) fn has_end(&self) -> bool {
        match *self {}
    }

    /// Whether any job can write.
    pub fn writes(&self) -> bool {
        match *self {}
    }

    /// Whether all jobs end where there is a clock.
    pub fn has_end_by_the_clock(&self) -> bool {
        match *self {}
    }

    pub(crate) fn drive_bytes(&self) -> Option<u64> {
        match *self {}
    }

    /// Whether any job has sizes in bytes.
    pub fn has_sizes(&self) -> bool {
        match *self {}
    }

    /// The drive that these are for.
    pub fn capacity(&self) -> Option<u64> {
        match *self {}
    }

    pub(crate) fn said(&self) -> String {
        match *self {}
    }

    pub(crate) fn replays(&self) -> std::iter::Empty<&str> {
        match *self {}
    }

    pub(crate) fn requests(&self, _space: &Space) -> Result<JobRequests, TraceError> {
        match *self {}
    }

    /// The jobs for a clock.
    pub fn hosts(
        &self,
        _space: &Space,
        _open: OpenReplay,
        _reads_take_time: bool,
    ) -> Result<Hosts, TraceError> {
        match *self {}
    }
}

impl JobRequests {
    pub(crate) fn fill(&mut self, _batch: &mut RequestBatch) -> Result<bool, TraceError> {
        match *self {}
    }

    pub(crate) fn notes(&self) -> &[(&'static str, String)] {
        match *self {}
    }
}

impl ClosedLoop for Hosts {
    fn notes(&self) -> Vec<(&'static str, String)> {
        match *self {}
    }

    fn begin_at(&mut self, _now_ns: u64) {
        match *self {}
    }

    fn turn(&mut self) -> Result<Turn, TraceError> {
        match *self {}
    }

    fn issue(&mut self, _batch: &mut RequestBatch) -> Option<Issued> {
        match *self {}
    }

    fn complete(&mut self, _host: u32, _done_ns: u64) {
        match *self {}
    }
}

impl Value for Version {
    fn expects() -> String {
        "a version of fio such as 3.42".into()
    }

    fn parse(_text: &str) -> Option<Self> {
        Some(Self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("of fio")
    }
}
