//! `ftlab record`: a trace of what a command writes.

use crate::error::CliError;
use crate::output::{aligned, print_json, say, too_short};
use clap::{ArgGroup, Args};
use ftlab_record::{
    DeviceComparison, FileStream, Observer, Options, RecordError, SectorCounts, State, Status,
    Summary, Target, record,
};
use ftlab_sim::format::{bytes, grouped};
use ftlab_spec::ByteSize;
use ftlab_trace::pages::SECTOR_BYTES;
use indicatif::{ProgressBar, ProgressStyle};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Runs a command and records what it writes: every request to a block device (as root), or every
/// call on files below a directory (with strace).
///
/// The exit status is that of the command. Ctrl-C ends the command, and the trace is completed; a
/// second Ctrl-C kills the command. The command may mark phases: echo run > "$FTLAB_PHASES".
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("target").required(true).args(["device", "dir"]))]
pub(crate) struct RecordArgs {
    /// The block device to record: a disk, partition or loop device. Requires root.
    #[arg(long, value_name = "DEVICE")]
    device: Option<PathBuf>,
    /// The directory whose files are recorded, placed side by side on a drive. Requires strace.
    ///
    /// Each write call counts as a write at once, as if there were no page cache; writes through
    /// memory mappings and io_uring cannot be seen, and are reported. Recording ends with the last
    /// child.
    #[arg(long, value_name = "DIRECTORY")]
    dir: Option<PathBuf>,
    /// The trace to write; .parquet stores device size, command, time and phases.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The stream (placement handle) of files: of those with a name such as *.sst, or of all below a directory, as wal/=1.
    /// The first pattern that matches counts; other files have stream 0. With --device, by where the files of a file system
    /// on it lie (ext4, XFS, F2FS), which requires filefrag.
    #[arg(long, value_name = "PATTERN=STREAM")]
    stream: Vec<FileStream>,
    /// Also records reads: of the device, or the calls that read files of the directory.
    #[arg(long)]
    reads: bool,
    #[command(flatten)]
    of_device: DeviceArgs,
    /// Writes the summary as JSON to standard output; the output of the command goes to standard
    /// error.
    #[arg(long)]
    json: bool,
    /// Shows neither progress nor summary; warnings remain.
    #[arg(long, short)]
    quiet: bool,
    /// The command and its arguments. Without a command, a device is recorded until Ctrl-C.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Options for recording a device.
#[derive(Debug, Args)]
struct DeviceArgs {
    /// Memory for events waiting to be read, per processor.
    #[arg(long, value_name = "SIZE", default_value = "8MiB", conflicts_with = "dir")]
    buffer: ByteSize,
    /// Does not write back what the command leaves in the page cache.
    #[arg(long, conflicts_with = "dir")]
    no_sync: bool,
}

impl From<RecordError> for CliError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Trace(error) => error.into(),
            error if error.is_usage() => Self::usage(error.to_string()),
            error => Self::failure(error.to_string()),
        }
    }
}

pub(crate) fn record_command(args: &RecordArgs) -> Result<u8, CliError> {
    let mut line = Line::new(args.quiet);
    let summary = record(&options(args)?, &mut line);
    line.bar.finish_and_clear();
    let summary = summary?;
    if !args.quiet {
        say(&describe(args, &summary));
    }
    for warning in &summary.warnings {
        say(&format!("warning: {warning}\n"));
    }
    if args.json {
        print_json(&summary)?;
    }
    Ok(summary.exit_code.unwrap_or(0))
}

fn options(args: &RecordArgs) -> Result<Options, CliError> {
    let target = match (&args.device, &args.dir) {
        (Some(path), _) => Target::Device {
            path: path.clone(),
            buffer_bytes: buffer(args.of_device.buffer)?,
            reads: args.reads,
            sync: !args.of_device.no_sync,
            streams: args.stream.clone(),
        },
        (None, Some(_)) if args.command.is_empty() => {
            return Err(CliError::usage(
                "--dir needs the command that writes, as in --dir data -- COMMAND; a device can be \
                 recorded without one",
            ));
        }
        (None, Some(directory)) => Target::Directory {
            path: directory.clone(),
            streams: args.stream.clone(),
            reads: args.reads,
        },
        (None, None) => return Err(CliError::usage("name a --device or a --dir")),
    };
    Ok(Options {
        target,
        out: args.out.clone(),
        command: args.command.clone(),
        stdout_to_stderr: args.json,
    })
}

fn buffer(size: ByteSize) -> Result<u64, CliError> {
    const MIN: u64 = 64 << 10;
    const MAX: u64 = 4 << 30;
    if (MIN..=MAX).contains(&size.0) {
        return Ok(size.0);
    }
    Err(CliError::usage(format!(
        "--buffer {} is not in 64KiB..=4GiB per processor; 8MiB has room for 110,000 events",
        bytes(size.0)
    )))
}

/// The progress line, on a terminal only.
struct Line {
    bar: ProgressBar,
}

impl Line {
    fn new(quiet: bool) -> Self {
        let hidden = quiet || !std::io::stderr().is_terminal();
        let bar = if hidden { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Self { bar }
    }
}

impl Observer for Line {
    fn update(&mut self, status: &Status) {
        let ending = match status.state {
            State::Recording => "",
            State::Ending => "  ending; Ctrl-C again kills the command",
        };
        self.bar.set_message(format!(
            "recording {:.0} s  {} page writes  {}/s  footprint {}{ending}",
            status.seconds,
            grouped(status.page_writes),
            grouped(status.page_writes_per_second as u64),
            bytes(status.footprint_bytes),
        ));
        self.bar.tick();
    }
}

fn describe(args: &RecordArgs, summary: &Summary) -> String {
    const PAGE_BYTES: u64 = 4096;
    let mut lines = vec![
        ("recorded", format!("{} for {:.1} s", summary.target, summary.seconds)),
        ("trace", format!("{}, {} requests", args.out.display(), grouped(summary.requests))),
        (
            "page writes",
            format!(
                "{} of 4 KiB to {} distinct pages ({})",
                grouped(summary.page_writes),
                grouped(summary.distinct_pages),
                bytes(summary.distinct_pages * PAGE_BYTES)
            ),
        ),
        ("drive", bytes(summary.device_bytes)),
    ];
    if let Some(device) = &summary.device {
        lines.push(("written", compared(device, |sectors| sectors.written)));
        if device.recorded.discarded > 0 || device.counted.is_some_and(|c| c.discarded > 0) {
            lines.push(("discarded", compared(device, |sectors| sectors.discarded)));
        }
        if device.reissued > 0 {
            lines.push(("reissued", format!("{} requests, recorded once", device.reissued)));
        }
        lines.push(("lost events", grouped(summary.lost_events)));
    }
    if let Some(files) = &summary.files {
        lines.push((
            "files",
            format!(
                "{} written, {} existed before; the calls wrote {}",
                grouped(files.files_written),
                grouped(files.files_at_start),
                bytes(files.bytes_written)
            ),
        ));
    }
    let page_bytes = summary.page_writes * PAGE_BYTES;
    lines.extend(too_short(page_bytes as f64 / summary.device_bytes.max(1) as f64));
    if let Some(code) = summary.exit_code {
        let by = if summary.interrupted { ", interrupted" } else { "" };
        lines.push(("command", format!("exit status {code}{by}")));
    }
    aligned(&lines)
}

/// Recorded sectors, compared with the device's own count.
fn compared(device: &DeviceComparison, of: impl Fn(&SectorCounts) -> u64) -> String {
    let recorded = of(&device.recorded);
    let size = bytes(recorded * SECTOR_BYTES);
    let Some(counted) = device.counted.as_ref().map(of) else {
        return format!("{} sectors ({size}); the device does not count", grouped(recorded));
    };
    let text = format!("{} sectors ({size}); the device counted ", grouped(recorded));
    if recorded == counted {
        return text + "as many";
    }
    let deviation = 100.0 * (recorded as f64 - counted as f64) / counted.max(1) as f64;
    format!("{text}{} ({deviation:+.3}%)", grouped(counted))
}
