//! Servers to compare.

use super::fio::{self, Measured};
use super::programs::{Programs, is_installed};
use crate::common::Failure;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How the client reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// NBD over a unix socket.
    Nbd,
    /// A loop device over a FUSE file.
    Loop,
}

/// A way to serve a drive.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) over: Over,
    /// Whether ours are compared with it.
    pub(crate) is_peer: bool,
    /// Third-party programs that it needs.
    needs: &'static [&'static str],
    /// The commands that serve, in a shell, where `$OWN` is the directory of our binaries and
    /// `$DIR` a fresh directory: NBD servers listen at `$DIR/s`, those for a loop device expose
    /// `$DIR/m/NAME`.
    commands: &'static [&'static str],
    /// A command to run first.
    prepare: &'static str,
}

pub(crate) static CONTENDERS: &[Contender] = &[
    Contender {
        name: "nbdkit memory",
        over: Over::Nbd,
        is_peer: true,
        needs: &["nbdkit"],
        commands: &["exec nbdkit -f -U $DIR/s memory 4G"],
        prepare: "true",
    },
    Contender {
        name: "ftlab, memory instead of a drive",
        over: Over::Nbd,
        is_peer: false,
        needs: &[],
        commands: &["exec $OWN/examples/nbd_ram $DIR/s 4294967296 > /dev/null"],
        prepare: "true",
    },
    Contender {
        name: "ftlab drive, 2r-fifo",
        over: Over::Nbd,
        is_peer: false,
        needs: &[],
        commands: &["exec $OWN/ftlab drive serve $DIR/f --nbd $DIR/s 2> /dev/null"],
        prepare: "$OWN/ftlab drive create $DIR/f --size 8GiB --op 10% --ftl 2r-fifo > /dev/null",
    },
    Contender {
        name: "nbdkit memory + nbdfuse",
        over: Over::Loop,
        is_peer: true,
        needs: &["nbdkit", "nbdfuse"],
        commands: &[
            "exec nbdkit -f -U $DIR/s memory 4G",
            "mkdir $DIR/m; until [ -S $DIR/s ]; do sleep 0.02; done; \
             exec nbdfuse $DIR/m/drive nbd+unix:///?socket=$DIR/s",
        ],
        prepare: "true",
    },
    Contender {
        name: "ftlab drive, 2r-fifo, FUSE",
        over: Over::Loop,
        is_peer: false,
        needs: &[],
        commands: &["mkdir $DIR/m; exec $OWN/ftlab drive serve $DIR/f --fuse $DIR/m 2> /dev/null"],
        prepare: "$OWN/ftlab drive create $DIR/f --size 8GiB --op 10% --ftl 2r-fifo > /dev/null",
    },
];

impl Contender {
    /// The reason why it cannot be measured here, if any.
    pub(crate) fn missing(&self, programs: &Programs) -> Option<String> {
        if let Some(program) = self.needs.iter().find(|program| !is_installed(program)) {
            return Some(format!("{program} is not installed: make setup-drive"));
        }
        for own in ["ftlab", "examples/nbd_ram"] {
            let is_used =
                self.commands.iter().any(|command| command.contains(&format!("$OWN/{own} ")));
            if is_used && !programs.own.join(own).is_file() {
                return Some(format!("{own} is not built: make bench-drive"));
            }
        }
        let is_root = rustix::process::getuid().is_root();
        (self.over == Over::Loop && !is_root).then(|| "loop devices need root".to_owned())
    }

    /// Starts it, lets fio write, and stops it.
    pub(crate) fn measure(
        &self,
        programs: &Programs,
        queue_depth: u32,
        seconds: u32,
    ) -> Result<Measured, Failure> {
        let directory = Directory::new()?;
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).env("DIR", &directory.0).env("OWN", &programs.own);
            command
        };
        if !shell(self.prepare).status()?.success() {
            return Err(format!("{}: {} failed", self.name, self.prepare).into());
        }
        let mut serving = Serving { children: Vec::new(), device: None, directory: &directory.0 };
        for command in self.commands {
            serving.children.push(shell(command).stdin(Stdio::piped()).spawn()?);
        }
        let target = match self.over {
            Over::Nbd => {
                let socket = directory.0.join("s");
                wait_for(&socket, self.name)?;
                let uri = format!("--uri=nbd+unix:///?socket={}", socket.display());
                vec!["--ioengine=nbd".to_owned(), uri]
            }
            Over::Loop => {
                let file = directory.0.join("m/drive");
                wait_for(&file, self.name)?;
                let device = serving.attach(&file)?;
                let file = format!("--filename={device}");
                vec!["--ioengine=libaio".to_owned(), "--direct=1".to_owned(), file]
            }
        };
        let pids: Vec<u32> = serving.children.iter().map(Child::id).collect();
        fio::run(&target, queue_depth, seconds, &pids)
    }
}

fn wait_for(path: &Path, name: &str) -> Result<(), Failure> {
    let begin = Instant::now();
    while !path.exists() {
        if begin.elapsed() > Duration::from_secs(10) {
            return Err(format!("{name} does not expose {}", path.display()).into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// The directory of the drives: memory.
const DIRECTORY: &str = "/dev/shm";

/// A directory in memory, removed when dropped.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Result<Self, Failure> {
        let path = Path::new(DIRECTORY).join(format!("ftlab-bench-{}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // If it cannot be removed, it stays visible, and is lost at the next boot.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The processes of a server, and the loop device on it: ended when dropped, in the right order.
struct Serving<'a> {
    children: Vec<Child>,
    device: Option<String>,
    directory: &'a Path,
}

impl Serving<'_> {
    fn attach(&mut self, file: &Path) -> Result<String, Failure> {
        let losetup = Command::new("losetup")
            .args(["--find", "--show", "--direct-io=on", "--sector-size=4096"])
            .arg(file)
            .output()?;
        if !losetup.status.success() {
            return Err(format!("losetup: {}", String::from_utf8_lossy(&losetup.stderr)).into());
        }
        let device = String::from_utf8(losetup.stdout)?.trim().to_owned();
        self.device = Some(device.clone());
        Ok(device)
    }
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        if let Some(device) = &self.device {
            let _ = Command::new("losetup").args(["--detach", device]).status();
            let _ =
                Command::new("umount").arg(self.directory.join("m")).stderr(Stdio::null()).status();
        }
        for child in self.children.iter_mut().rev() {
            if let Some(pid) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}
