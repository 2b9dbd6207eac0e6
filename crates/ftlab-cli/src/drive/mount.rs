//! `ftlab drive mount`.

use super::place::{OWN_PREFIX, clear_dead_mount, is_mounted, require_empty};
use super::serve::stop_fuse;
use super::serving::{CompanionArgs, Interrupts, Serving};
use crate::error::CliError;
use crate::output::say;
use clap::{Args, ValueEnum};
use ftlab_serve::FuseMount;
use rustix::mount::{UnmountFlags, unmount};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Mounts the file system on a drive until Ctrl-C; requires root.
///
/// Serves the drive as a file, turns that into a block device (losetup), and mounts it with discard.
/// All of this is undone at the end, whatever the reason.
#[derive(Debug, Args)]
pub(crate) struct MountArgs {
    /// The drive.
    file: PathBuf,
    /// Where to mount: an empty directory.
    directory: PathBuf,
    /// Mounts even on a directory that is not empty; what is in it is hidden until the end.
    #[arg(long)]
    nonempty: bool,
    /// Creates this file system first, if the drive has none.
    #[arg(long, value_name = "KIND")]
    mkfs: Option<FileSystem>,
    /// Further mount options, such as noatime.
    #[arg(long, short, value_name = "OPTION,...")]
    options: Option<String>,
    #[command(flatten)]
    companions: CompanionArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FileSystem {
    Ext4,
    Xfs,
}

impl FileSystem {
    fn make(self, device: &str) -> Result<(), CliError> {
        let (program, quiet) = match self {
            Self::Ext4 => ("mkfs.ext4", "-q"),
            Self::Xfs => ("mkfs.xfs", "-q"),
        };
        run(program, &[quiet, device]).map(drop)
    }
}

pub(crate) fn mount(args: &MountArgs) -> Result<(), CliError> {
    if !rustix::process::geteuid().is_root() {
        return Err(CliError::usage(
            "mounting needs root; put sudo in front, or serve the drive over NBD",
        ));
    }
    clear_dead_mount(&args.directory);
    require_empty(&args.directory, args.nonempty)?;
    // Memory for this process must not wait for writes that go through it. Best effort: only root
    // may.
    let _ = rustix::process::configure_io_flusher_behavior(true);
    let mut interrupts = Interrupts::listen()?;
    let serving = Serving::start(&args.file, &args.companions, false)?;
    let mounted = Stack::build(args, &serving).map(|stack| {
        say(&format!("mounted on {}; Ctrl-C unmounts it\n", args.directory.display()));
        interrupts.wait(|| !is_mounted(&args.directory));
        stack.take_down(&mut interrupts);
    });
    let stopped = serving.stop();
    mounted.and(stopped)
}

/// The layers of a mounted drive, the topmost first: dropped in this order if something fails.
struct Stack {
    mounted: Option<Mounted>,
    device: Option<LoopDevice>,
    fuse: Option<FuseMount>,
    /// Where the file is shown.
    _directory: EmptyDirectory,
}

impl Stack {
    fn build(args: &MountArgs, serving: &Serving) -> Result<Self, CliError> {
        let directory = EmptyDirectory::new()?;
        let fuse = serving.show(&directory.0, 2)?;
        let file = fuse.file().to_owned();
        let mut stack =
            Self { mounted: None, device: None, fuse: Some(fuse), _directory: directory };
        let device = stack.device.insert(LoopDevice::over(&file)?).0.clone();
        match (file_system_on(&device)?, args.mkfs) {
            (Some(kind), Some(_)) => say(&format!("the drive already has {kind}, which is kept\n")),
            (Some(_), None) => {}
            (None, Some(kind)) => kind.make(&device)?,
            (None, None) => {
                return Err(CliError::usage(
                    "there is no file system on the drive; create one with --mkfs ext4 or --mkfs xfs",
                ));
            }
        }
        let more = args.options.iter().flat_map(|options| [",", options.as_str()]);
        let options: String = std::iter::once("discard").chain(more).collect();
        let target = args.directory.display().to_string();
        run("mount", &["-o", &options, &device, &target])?;
        stack.mounted = Some(Mounted(args.directory.clone()));
        Ok(stack)
    }

    /// Undoes all of it, and waits until it is no longer in use.
    fn take_down(mut self, interrupts: &mut Interrupts) {
        if let Some(mounted) = self.mounted.take() {
            let name = mounted.0.display().to_string();
            interrupts.insist(
                &name,
                || mounted.unmount(UnmountFlags::empty()),
                || {
                    // Current users keep it; there can be no new ones.
                    let _ = mounted.unmount(UnmountFlags::DETACH);
                },
            );
        }
        drop(self.device.take());
        if let Some(fuse) = self.fuse.take() {
            stop_fuse(fuse, interrupts);
        }
    }
}

/// A mounted file system, unmounted when dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn unmount(&self, flags: UnmountFlags) -> std::io::Result<()> {
        if is_mounted(&self.0) { Ok(unmount(&self.0, flags)?) } else { Ok(()) }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = self.unmount(UnmountFlags::DETACH);
    }
}

/// Our own loop device, detached when dropped, or by the kernel once it is no longer in use.
struct LoopDevice(String);

impl LoopDevice {
    fn over(file: &Path) -> Result<Self, CliError> {
        let file = file.display().to_string();
        // Sectors as large as pages (a loop device has none larger), so that there are no partial
        // page writes.
        let how = ["--find", "--show", "--direct-io=on", "--sector-size=4096"];
        let output = run("losetup", &[&how[..], &[&file]].concat())?;
        Ok(Self(String::from_utf8_lossy(&output.stdout).trim().to_owned()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = run("losetup", &["--detach", &self.0]);
    }
}

/// Our own directory, removed when dropped.
struct EmptyDirectory(PathBuf);

impl EmptyDirectory {
    fn new() -> Result<Self, CliError> {
        let path = std::env::temp_dir().join(format!("{OWN_PREFIX}{}", std::process::id()));
        fs::create_dir(&path)
            .map_err(|error| CliError::failure(format!("{}: {error}", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for EmptyDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// The kind of file system on a device, if there is one, or any other content worth keeping.
fn file_system_on(device: &str) -> Result<Option<String>, CliError> {
    /// blkid found nothing.
    const NOTHING: i32 = 2;
    let output = output("blkid", &["--probe", "--output", "value", "--match-tag", "TYPE", device])?;
    if !output.stderr.is_empty() {
        return Err(failed("blkid", &output));
    }
    match output.status.code() {
        Some(0) => {
            let kind = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            Ok(Some(if kind.is_empty() { "something".to_owned() } else { kind }))
        }
        // It reports the same for a device that it cannot read.
        Some(NOTHING) => readable_ends(device).map(|()| None),
        _ => Err(failed("blkid", &output)),
    }
}

/// Reads the parts of a device where file systems have their signatures.
fn readable_ends(device: &str) -> Result<(), CliError> {
    const END_BYTES: u64 = 1 << 20;
    let read = || {
        let mut file = File::open(device)?;
        let bytes = file.seek(SeekFrom::End(0))?;
        for start in [0, bytes.saturating_sub(END_BYTES)] {
            file.seek(SeekFrom::Start(start))?;
            io::copy(&mut (&file).take(END_BYTES), &mut io::sink())?;
        }
        Ok(())
    };
    read().map_err(|error: io::Error| {
        CliError::failure(format!(
            "{device} cannot be read ({error}), so its content is unknown: see ftlab drive check"
        ))
    })
}

fn output(program: &str, arguments: &[&str]) -> Result<Output, CliError> {
    Command::new(program).args(arguments).output().map_err(|error| {
        CliError::failure(format!(
            "{program}: {error}; install it (util-linux, e2fsprogs, xfsprogs)"
        ))
    })
}

fn run(program: &str, arguments: &[&str]) -> Result<Output, CliError> {
    let output = output(program, arguments)?;
    if output.status.success() { Ok(output) } else { Err(failed(program, &output)) }
}

fn failed(program: &str, output: &Output) -> CliError {
    CliError::failure(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
