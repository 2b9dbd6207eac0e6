//! The recorded command: starting it, forwarding signals, and its exit.

use crate::RecordError;
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// The time that a command may take to end after a signal.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running command, or none: then Ctrl-C ends the recording.
pub(crate) struct Running {
    child: Option<Child>,
    exit: Option<ExitStatus>,
    signals: Signals,
    interrupts: u32,
    /// Whether orphaned children of the command become ours, and are waited for.
    adopts: bool,
}

/// The signals that end a recording, and their senders.
pub(crate) type Signals = SignalsInfo<WithOrigin>;

/// Starts listening.
pub(crate) fn signals() -> Result<Signals, RecordError> {
    SignalsInfo::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| RecordError::io("listening for signals", error))
}

impl Running {
    /// Starts `command`, which is called `name` in messages, and forwards `signals` to it. With
    /// `adopts`, they also reach its orphaned children.
    pub(crate) fn start(
        signals: Signals,
        command: Option<Command>,
        name: &str,
        adopts: bool,
    ) -> Result<Self, RecordError> {
        if adopts {
            set_child_subreaper(Some(getpid()))
                .map_err(|error| RecordError::io("adopting children", error))?;
        }
        let child = command.map(|mut command| command.spawn()).transpose();
        let child =
            child.map_err(|source| RecordError::Command { command: name.to_owned(), source })?;
        Ok(Self { child, exit: None, signals, interrupts: 0, adopts })
    }

    /// Forwards signals; returns whether the command is still running.
    ///
    /// The first signal reaches the command too: from a terminal it has already received it,
    /// because both are in the foreground; otherwise it is forwarded. The second one kills the
    /// command and its children.
    pub(crate) fn is_running(&mut self) -> Result<bool, RecordError> {
        for origin in self.signals.pending().collect::<Vec<_>>() {
            self.interrupts += 1;
            let second = self.interrupts > 1;
            self.pass_on(&origin, second);
        }
        let Some(child) = &mut self.child else { return Ok(self.interrupts == 0) };
        if self.exit.is_none() {
            let exit = child.try_wait();
            self.exit = exit.map_err(|error| RecordError::io("waiting for the command", error))?;
        }
        Ok(self.exit.is_none())
    }

    fn pass_on(&self, origin: &Origin, kill: bool) {
        let orphans = self.exit.is_some();
        let is_sent = matches!(origin.cause, Cause::Sent(_));
        let Some(signal) = Signal::from_named_raw(origin.signal) else { return };
        match self.family() {
            family if kill => family.into_iter().for_each(|pid| send(pid, Signal::KILL)),
            family if orphans => family.into_iter().for_each(|pid| send(pid, signal)),
            family if is_sent => family.into_iter().take(1).for_each(|pid| send(pid, signal)),
            _ => {}
        }
    }

    /// Ends the command, when nothing more can be recorded.
    pub(crate) fn terminate(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        self.family().into_iter().take(1).for_each(|pid| send(pid, Signal::TERM));
        while self.is_running().unwrap_or(false) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.family().into_iter().for_each(|pid| send(pid, Signal::KILL));
    }

    /// The command and its children; once it has ended, its orphaned children.
    fn family(&self) -> Vec<u32> {
        match &self.child {
            Some(child) if self.exit.is_none() => descendants(child.id()),
            Some(_) if self.adopts => {
                let orphans = descendants(std::process::id()).into_iter().skip(1);
                orphans.filter(|pid| !is_strace(*pid)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a signal was received.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupts > 0
    }

    /// How the command ended.
    pub(crate) fn exit(&self) -> Option<ExitStatus> {
        self.exit
    }
}

fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have just ended by itself.
        let _ = kill_process(pid, signal);
    }
}

fn is_strace(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "strace")
}

/// A process and all below it.
fn descendants(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut next = 0;
    while let Some(pid) = all.get(next) {
        next += 1;
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    all
}

/// The exit status as reported by a shell: 128 plus the signal for a command that was killed.
pub(crate) fn exit_code(exit: ExitStatus) -> u8 {
    let code = exit.code().or_else(|| exit.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// The command in a form that can be typed again.
pub(crate) fn typed(command: &[OsString]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let quoted = command.iter().map(|argument| {
        let argument = argument.to_string_lossy();
        if !argument.is_empty() && argument.chars().all(is_plain) {
            argument.into_owned()
        } else {
            format!("'{}'", argument.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_can_be_typed() {
        let command = ["sh", "-c", "echo it's > x", ""].map(OsString::from);
        assert_eq!(typed(&command), r"sh -c 'echo it'\''s > x' ''");
    }

    #[test]
    fn a_process_and_its_children_are_found() {
        let mut child = Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let family = loop {
            let family = descendants(child.id());
            if family.len() == 2 {
                break family;
            }
        };
        for pid in family {
            send(pid, Signal::KILL);
        }
        assert_eq!(exit_code(child.wait().unwrap()), 137);
    }
}
