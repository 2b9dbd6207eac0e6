//! A recording from start to end.

use crate::capture::{Captured, Stop};
use crate::command::{self, Running, Signals};
use crate::footprint::Footprint;
use crate::phases::{self, Phases};
use crate::streams::FileStream;
use crate::summary::Summary;
use crate::{RecordError, device, files};
use ftlab_trace::pages::expand;
use ftlab_trace::{CreateOptions, Op, RequestBatch, TraceSink, check_unfinished, create};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime};

/// The time to wait for requests before checking the command again.
const TICK: Duration = Duration::from_millis(20);
/// Interval between progress reports.
const REPORT: Duration = Duration::from_millis(250);
const PAGE_BYTES: u64 = 4096;
const PAGE_SECTORS: u32 = 8;

/// What to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Every request that reaches this block device.
    Device {
        /// Its name, such as `/dev/sda`.
        path: PathBuf,
        /// Buffer for events waiting to be read, per processor.
        buffer_bytes: u64,
        /// Whether to record reads too.
        reads: bool,
        /// Whether to write back the page cache at the end.
        sync: bool,
        /// The streams of the files on it, by where they lie; requests name none if there are none.
        streams: Vec<FileStream>,
    },
    /// Every call by which the command writes files below a directory, or reads them.
    Directory {
        /// The directory.
        path: PathBuf,
        /// The streams of its files; requests name none if there are none.
        streams: Vec<FileStream>,
        /// Whether to record reads too.
        reads: bool,
    },
}

/// What is recorded, while what runs, and where it goes.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whose writes become requests of the trace.
    pub target: Target,
    /// The trace to write, in the format of its extension.
    pub out: PathBuf,
    /// The command and its arguments. None records a device until a signal is received.
    pub command: Vec<OsString>,
    /// Sends the output of the command to standard error, so that standard output stays free.
    pub stdout_to_stderr: bool,
}

/// Whether a recording still takes new requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The command runs.
    Recording,
    /// A signal was received, and the command is ending.
    Ending,
}

/// The progress of a recording.
#[derive(Debug, Clone, Copy)]
pub struct Status {
    /// The current state.
    pub state: State,
    /// Seconds since the start.
    pub seconds: f64,
    /// Page writes so far.
    pub page_writes: u64,
    /// Page writes per second since the last report.
    pub page_writes_per_second: f64,
    /// Bytes of the pages written at least once.
    pub footprint_bytes: u64,
}

/// Is notified of progress.
pub trait Observer {
    /// About four times a second.
    fn update(&mut self, status: &Status);
}

/// Runs the command of `options` and records its writes in a trace; the `exit_code` of the summary
/// is that of the command.
///
/// An error of the recording ends the command, because continuing would be pointless.
pub fn record(options: &Options, observer: &mut dyn Observer) -> Result<Summary, RecordError> {
    check_unfinished(&options.out)?;
    let sink = create(&options.out, &CreateOptions::default().recording())?;
    let (sender, receiver) = channel();
    // Before anything can be seen of the recording, so that none is missed.
    let signals = command::signals()?;
    let start = Instant::now();
    let (mut capture, command) = match &options.target {
        Target::Device { path, buffer_bytes, reads, sync, streams } => {
            let options_of_device = device::Options {
                buffer_bytes: *buffer_bytes,
                reads: *reads,
                sync: *sync,
                streams,
                out: &options.out,
            };
            device::start(path, &options_of_device, start, sender, &options.command)?
        }
        Target::Directory { path, streams, reads } => {
            let options_of_files = files::Options { streams, reads: *reads };
            files::start(path, &options_of_files, start, sender, &options.command)?
        }
    };
    let recording = Recording::start(options, start, sink, signals, command);
    let recording = recording.and_then(|mut recording| {
        recording.describe(options, capture.properties);
        recording.follow(&receiver, capture.stop.as_mut(), observer)
    });
    // In any case, the capture ends and cleans up.
    drop((capture.stop, receiver));
    let captured = capture.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let mut recording = recording?;
    if captured.is_err() {
        recording.running.terminate();
    }
    recording.finish(options, captured?)
}

/// The state kept during a recording.
struct Recording {
    sink: Box<dyn TraceSink>,
    start: Instant,
    footprint: Footprint,
    /// Whether there was more than flushes; writing back the page cache causes a flush.
    has_data: bool,
    /// Whether a request had a stream other than 0.
    has_stream: bool,
    running: Running,
    /// Time and number of page writes at the last report.
    last_report: (Instant, u64),
    /// Phases named by the command, and the implicit ones.
    named_phases: Phases,
    phases: Vec<(String, u64)>,
}

impl Recording {
    /// Starts the command.
    fn start(
        options: &Options,
        start: Instant,
        sink: Box<dyn TraceSink>,
        signals: Signals,
        command: Option<Command>,
    ) -> Result<Self, RecordError> {
        let named_phases = Phases::new(start)?;
        let command = command.map(|command| prepared(command, options, &named_phases));
        let adopts = matches!(options.target, Target::Directory { .. });
        let running = Running::start(signals, command, &first_word(&options.command), adopts)?;
        let begins_us = start.elapsed().as_micros() as u64;
        Ok(Self {
            sink,
            start,
            footprint: Footprint::default(),
            has_data: false,
            has_stream: false,
            running,
            last_report: (start, 0),
            named_phases,
            phases: vec![("command".to_owned(), begins_us)],
        })
    }

    /// Notes what is known at the start, so that even a trace that ends early says where it comes from.
    fn describe(&mut self, options: &Options, properties: BTreeMap<String, String>) {
        for (key, value) in properties {
            self.sink.annotate(&key, value);
        }
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        self.sink.annotate("recorded_by", ftlab_spec::written_by());
        self.sink.annotate("kernel", kernel());
        self.sink.annotate("started", started);
        if !options.command.is_empty() {
            self.sink.annotate("command", command::typed(&options.command));
        }
    }

    /// Processes requests until the capture ends, and ends it when the command has ended.
    fn follow(
        mut self,
        receiver: &Receiver<RequestBatch>,
        stop: &mut dyn Stop,
        observer: &mut dyn Observer,
    ) -> Result<Self, RecordError> {
        let result = self.take_all(receiver, stop, observer);
        if result.is_err() {
            self.running.terminate();
        }
        result.map(|()| self)
    }

    fn take_all(
        &mut self,
        receiver: &Receiver<RequestBatch>,
        stop: &mut dyn Stop,
        observer: &mut dyn Observer,
    ) -> Result<(), RecordError> {
        let mut stopped = false;
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(batch) => self.take(&batch)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if !self.running.is_running()? && !stopped {
                let last = stop.last_phase().map(|name| (name.to_owned(), self.elapsed_us()));
                self.phases.extend(last);
                stop.stop()?;
                stopped = true;
            }
            self.report(observer);
        }
    }

    fn elapsed_us(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    fn take(&mut self, batch: &RequestBatch) -> Result<(), RecordError> {
        self.has_data |= batch.op.iter().any(|op| *op != Op::Flush);
        self.has_stream |= batch.stream.iter().any(|stream| *stream > 0);
        expand(batch, PAGE_SECTORS, &mut self.footprint)?;
        Ok(self.sink.write(batch)?)
    }

    fn report(&mut self, observer: &mut dyn Observer) {
        let (last, writes_then) = self.last_report;
        let passed = last.elapsed();
        if passed < REPORT {
            return;
        }
        let Footprint { page_writes, distinct_pages, .. } = self.footprint;
        self.last_report = (Instant::now(), page_writes);
        let interrupted = self.running.is_interrupted();
        observer.update(&Status {
            state: if interrupted { State::Ending } else { State::Recording },
            seconds: self.start.elapsed().as_secs_f64(),
            page_writes,
            page_writes_per_second: (page_writes - writes_then) as f64 / passed.as_secs_f64(),
            footprint_bytes: distinct_pages * PAGE_BYTES,
        });
    }

    /// Completes the trace.
    fn finish(mut self, options: &Options, mut captured: Captured) -> Result<Summary, RecordError> {
        // A capture may end by itself, just before its command does.
        while self.running.is_running()? {
            std::thread::sleep(TICK);
        }
        let mut phases_us = std::mem::take(&mut self.phases);
        phases_us.push(("end".to_owned(), self.elapsed_us()));
        phases_us.extend(self.named_phases.finish());
        phases_us.sort_by_key(|(_, start_us)| *start_us);
        let (target, remedy) = target(&options.target);
        let requests = self.sink.requests();
        if !self.has_data {
            return Err(RecordError::NothingWritten { target, remedy });
        }
        if !self.has_stream && !streams(&options.target).is_empty() {
            captured.warnings.push(
                "no request was of a file that a --stream names; check the patterns, and that the file system is ext4, XFS \
                 or F2FS on this very device"
                    .into(),
            );
        }
        let exit_code = self.running.exit().map(command::exit_code);
        let mut say = |key: &str, value: String| self.sink.annotate(key, value);
        say("lost_events", captured.lost_events.to_string());
        say("phases_us", serde_json::to_string(&phases_us).unwrap_or_default());
        if let Some(code) = exit_code {
            say("exit_code", code.to_string());
        }
        if !captured.warnings.is_empty() {
            say("warnings", captured.warnings.join("; "));
        }
        say("device_bytes", captured.device_bytes.to_string());
        self.sink.finish()?;
        Ok(Summary {
            target,
            command: (!options.command.is_empty()).then(|| command::typed(&options.command)),
            exit_code,
            interrupted: self.running.is_interrupted(),
            seconds: phases_us.last().map_or(0.0, |(_, end_us)| *end_us as f64 / 1e6),
            requests,
            page_writes: self.footprint.page_writes,
            distinct_pages: self.footprint.distinct_pages,
            device_bytes: captured.device_bytes,
            lost_events: captured.lost_events,
            phases_us,
            device: captured.device,
            files: captured.files,
            warnings: captured.warnings,
        })
    }
}

/// The command with its environment.
fn prepared(mut command: Command, options: &Options, phases: &Phases) -> Command {
    command.env(phases::VARIABLE, phases.path());
    if options.stdout_to_stderr {
        command.stdout(io::stderr());
    }
    command.stdin(Stdio::inherit());
    command
}

fn first_word(command: &[OsString]) -> String {
    command.first().map_or_else(String::new, |word| word.to_string_lossy().into_owned())
}

fn streams(target: &Target) -> &[FileStream] {
    match target {
        Target::Device { streams, .. } | Target::Directory { streams, .. } => streams,
    }
}

fn target(target: &Target) -> (String, &'static str) {
    match target {
        Target::Device { path, .. } => (
            path.display().to_string(),
            "check that the command writes to a file system on this very device (findmnt, lsblk)",
        ),
        Target::Directory { path, .. } => (
            path.display().to_string(),
            "check that the command itself writes below this directory: a server that is already \
             running is not its child",
        ),
    }
}

/// The kernel's release and architecture.
fn kernel() -> String {
    let name = rustix::system::uname();
    [name.release(), name.machine()].map(|text| text.to_string_lossy().into_owned()).join(" ")
}
