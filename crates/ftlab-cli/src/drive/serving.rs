//! A drive that is served: opened, monitored, and closed in the right order.

use super::scrubber::Scrubber;
use super::token::TokenArgs;
use crate::error::CliError;
use crate::ftls::Ftls;
use crate::options::parse;
use crate::output::say;
use clap::Args;
use ftlab_drive::{Drive, Notice, OpenOptions, Recovery, Store, Timing, check_openable};
use ftlab_serve::http::{Copies, Dashboard, DashboardOptions};
use ftlab_serve::{
    AllowList, CompanionOptions, Companions, FuseMount, Monitor, Observed, Paced, ServeError,
    Watched,
};
use ftlab_sim::format::grouped;
use ftlab_spec::{ByteSize, Spec};
use ftlab_trace::{check_file, check_unfinished};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Interval of checks for signals.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Requests that a file can have pending if replies are delayed.
const PACED_THREADS: usize = 32;

/// Companions of the drive.
#[derive(Debug, Args)]
pub(crate) struct CompanionArgs {
    /// Serves a dashboard at http://HOST:PORT, with /metrics for Prometheus and /api.
    #[arg(long, value_name = "HOST:PORT")]
    http: Option<String>,
    #[command(flatten)]
    token: TokenArgs,
    /// Machines that may connect over TCP, as addresses or networks: 10.0.0.0/8,192.168.1.7. All by
    /// default.
    #[arg(long, value_name = "CIDR,...")]
    allow: Option<AllowList>,
    /// Serves the drive for reading only: nothing is written to its file.
    #[arg(long, conflicts_with_all = ["record", "shadow", "scrub"])]
    read_only: bool,
    /// Reads all pages from the medium again and again, at RATE bytes a second, such as 20MB, and writes again what
    /// is damaged there but can still be read.
    #[arg(long, value_name = "RATE")]
    scrub: Option<ByteSize>,
    /// Lets clients of the dashboard copy the drive as it is at one moment into this directory
    /// (`ftlab drive copy http://HOST:PORT NAME`).
    #[arg(long, value_name = "DIR", requires = "http")]
    copies: Option<PathBuf>,
    /// Program/erase cycles that a block endures: adds the share of its life that the drive has used to its health.
    #[arg(long, value_name = "CYCLES", value_parser = parse::<NonZeroU32>)]
    endurance: Option<NonZeroU32>,
    /// Records the host's operations as a trace; .parquet stores the most detail.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// FTLs that carry out the same operations without data, for comparison:
    /// 1r-greedy,2r-fifo:blk-util=0.4.
    #[arg(long, value_name = "FTL,...")]
    shadow: Vec<Ftls>,
    /// Delays replies as this flash would: a preset with parameters (`ftlab list timings`).
    #[arg(long, value_name = "TIMING")]
    emulate_latency: Option<Spec>,
}

impl CompanionArgs {
    /// Machines that may connect.
    pub(crate) fn allow(&self) -> AllowList {
        self.allow.clone().unwrap_or_default()
    }

    /// Makes sure that what the companions write has a place.
    fn check_paths(&self) -> Result<(), CliError> {
        if let Some(trace) = &self.record {
            check_file(trace)?;
            check_unfinished(trace)?;
        }
        match self.copies.as_ref().filter(|copies| !copies.is_dir()) {
            Some(other) => {
                Err(CliError::usage(format!("--copies {}: not a directory", other.display())))
            }
            None => Ok(()),
        }
    }

    /// The flash that replies are delayed for, if they are.
    fn timing(&self) -> Result<Option<Timing>, CliError> {
        let timing = self.emulate_latency.as_ref().map(Timing::from_spec).transpose()?;
        if timing.as_ref().is_some_and(|timing| !timing.is_foreseeable()) {
            return Err(CliError::usage(
                "--emulate-latency: when the flash would be done has to be known in advance; leave out \
                 priority=read-first and write-buffer, which are for simulations",
            ));
        }
        Ok(timing)
    }
}

impl From<ServeError> for CliError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Trace(error) => error.into(),
            error if error.is_usage() => Self::usage(error.to_string()),
            error => Self::failure(error.to_string()),
        }
    }
}

/// Tells the user at once what the drive has to say.
pub(crate) fn notice() -> Notice {
    Arc::new(|text: &str| say(&format!("drive: {text}\n")))
}

pub(crate) struct Serving {
    scrubber: Option<Scrubber>,
    dashboard: Option<Dashboard>,
    companions: Arc<Companions>,
    store: Arc<dyn Store>,
    drive: Arc<Drive>,
    /// Whether replies are delayed.
    is_paced: bool,
}

impl Serving {
    /// Opens the drive, and starts its companions; a front end may name streams.
    pub(crate) fn start(
        file: &Path,
        args: &CompanionArgs,
        names_streams: bool,
    ) -> Result<Self, CliError> {
        let address = args.http.as_deref().map(http_address).transpose()?;
        check_openable(file)?;
        args.check_paths()?;
        let options = CompanionOptions {
            record: args.record.clone(),
            shadows: Ftls::all(&args.shadow),
            names_streams,
            emulated_latency: args.emulate_latency.as_ref().map(ToString::to_string),
        };
        let (prepared, observer) = options.prepare();
        let timing = args.timing()?;
        let is_paced = timing.is_some();
        let (read_only, notice) = (args.read_only, Some(notice()));
        let options = OpenOptions {
            observer,
            notice,
            read_only,
            timing,
            endurance_cycles: args.endurance,
            ..OpenOptions::default()
        };
        let drive = Drive::open(file, options)?;
        say(&recovered(file, drive.recovery()));
        if let Some(reason) = drive.read_only() {
            say(&format!("the drive is served for reading only: {reason}\n"));
        }
        let companions = Arc::new(prepared.start(&drive, self::notice())?);
        let drive = Arc::new(drive);
        let page_bytes = drive.block_bytes();
        let scrubber = args.scrub.map(|rate| Scrubber::start(&drive, rate, page_bytes));
        let mut serving = Self {
            scrubber,
            dashboard: None,
            companions,
            store: Arc::clone(&drive) as _,
            drive,
            is_paced,
        };
        if let Some(address) = address {
            serving.show_dashboard(address, args)?;
        }
        Ok(serving)
    }

    /// Starts the dashboard, which sees every request from now on.
    fn show_dashboard(
        &mut self,
        address: SocketAddr,
        args: &CompanionArgs,
    ) -> Result<(), CliError> {
        let watched = Arc::new(Watched::new(Arc::clone(&self.store)));
        self.store = Arc::clone(&watched) as _;
        let observed = Arc::clone(&self.drive) as Arc<dyn Observed>;
        let status = Arc::clone(&self.companions) as _;
        let monitor = Arc::new(Monitor::new(observed, watched, status));
        let copies = args.copies.clone();
        let copies = copies.map(|at| Arc::new(Copies::new(Arc::clone(&self.drive), at)));
        let options = DashboardOptions { token: args.token.token()?, allow: args.allow(), copies };
        let dashboard = Dashboard::start(address, options, monitor)?;
        say(&format!("dashboard at http://{}\n", dashboard.address()));
        if !address.ip().is_loopback() {
            say("warning: other machines can reach the dashboard, and what it shows and the \
                 token pass unencrypted\n");
        }
        self.dashboard = Some(dashboard);
        Ok(())
    }

    /// The store that front ends serve.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// The drive, which reports its state.
    pub(crate) fn drive(&self) -> Arc<dyn Observed> {
        Arc::clone(&self.drive) as _
    }

    /// Exposes the drive as a file; `threads` serve requests, and many more if these have to wait.
    pub(crate) fn show(&self, directory: &Path, threads: usize) -> Result<FuseMount, CliError> {
        let mount = if self.is_paced {
            FuseMount::start(directory, Arc::new(Paced(self.store())), PACED_THREADS)
        } else {
            FuseMount::start(directory, self.store(), threads)
        };
        Ok(mount?)
    }

    /// Closes the drive, which no front end may hold any more, and reports what it did.
    pub(crate) fn stop(self) -> Result<(), CliError> {
        drop((self.scrubber, self.dashboard, self.store));
        let drive = Arc::into_inner(self.drive)
            .ok_or_else(|| CliError::failure("the drive is still in use: this is a bug"))?;
        let snapshot = drive.snapshot();
        // A read-only drive cannot be closed; its recording is kept all the same.
        let closed = drive.close();
        let waf = snapshot.waf().map_or_else(|| "-".to_owned(), |waf| format!("{waf:.3}"));
        let written = grouped(snapshot.counters.host_writes);
        if closed.is_ok() {
            say(&format!("closed; {written} page writes since creation, WAF {waf}\n"));
        }
        let companions = Arc::into_inner(self.companions)
            .ok_or_else(|| CliError::failure("the companions are still in use: this is a bug"))?;
        if let Some(recording) = companions.finish()? {
            let operations = grouped(recording.operations);
            say(&format!("{}: {operations} operations recorded\n", recording.path));
        }
        Ok(closed?)
    }
}

/// What opening a drive has found and done, a line each.
pub(super) fn recovered(file: &Path, recovery: &Recovery) -> String {
    let mut lines = Vec::new();
    if let Some(format) = recovery.older_format {
        let file = file.display();
        lines.push(format!(
            "{file}: upgraded from format {format}; earlier versions cannot open it"
        ));
    }
    if let Some(why) = &recovery.by_map {
        lines
            .push(format!("pages were searched for, and the FTL learns from the beginning: {why}"));
    }
    if recovery.repeated > 0 {
        let how = if recovery.by_map.is_some() { "found in the journal" } else { "replayed" };
        let repeated = grouped(recovery.repeated);
        let file = file.display();
        lines.push(format!("{file}: had not been closed; {repeated} operations {how}"));
    }
    if recovery.dropped > 0 {
        let dropped = grouped(recovery.dropped);
        lines.push(format!(
            "{dropped} operations are discarded: their data had not reached the drive"
        ));
    }
    if let Some(reason) = &recovery.failed {
        lines.push(format!("the FTL could not execute the last one, and may fail again: {reason}"));
    }
    if recovery.damaged_pages > 0 {
        let pages = grouped(recovery.damaged_pages);
        lines.push(format!("warning: {pages} pages are damaged; reading them is an error"));
    }
    lines.extend(recovery.damage.iter().map(|damage| format!("warning: {damage}")));
    lines.extend(recovery.healed.iter().map(|healed| format!("healed: {healed}")));
    lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect()
}

fn http_address(text: &str) -> Result<SocketAddr, CliError> {
    use std::net::ToSocketAddrs;
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| {
        CliError::usage(format!("--http {text:?} is not HOST:PORT, such as 127.0.0.1:8080"))
    })
}

/// Ctrl-C and similar signals, from now on.
pub(crate) struct Interrupts {
    signals: Signals,
    count: u32,
}

impl Interrupts {
    pub(crate) fn listen() -> Result<Self, CliError> {
        Ok(Self { signals: Signals::new([SIGINT, SIGTERM, SIGHUP])?, count: 0 })
    }

    /// The number received so far.
    pub(crate) fn count(&mut self) -> u32 {
        self.count += self.signals.pending().count() as u32;
        self.count
    }

    /// Waits for the first signal, or until `is_over`.
    pub(crate) fn wait(&mut self, mut is_over: impl FnMut() -> bool) {
        while self.count() == 0 && !is_over() {
            std::thread::sleep(TICK);
        }
    }

    /// Tries `step` until it succeeds. While it fails, reports why and what the next interrupt
    /// does: `forces` is called for each interrupt.
    pub(crate) fn insist<E: std::fmt::Display>(
        &mut self,
        what: &str,
        mut step: impl FnMut() -> Result<(), E>,
        mut force: impl FnMut(),
    ) {
        let before = self.count();
        let mut forced = before;
        let mut has_said = false;
        while let Err(error) = step() {
            if !has_said {
                say(&format!("{what}: {error}; waiting until it is free (Ctrl-C detaches it)\n"));
                has_said = true;
            }
            if self.count() > forced {
                forced = self.count();
                force();
            }
            std::thread::sleep(TICK);
        }
    }
}
