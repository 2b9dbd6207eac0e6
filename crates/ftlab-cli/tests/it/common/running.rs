//! A program that goes on while a test talks to it.

use super::Place;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// `ftlab` at work, and what it says on standard error.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: Receiver<String>,
    all: String,
}

impl Running {
    pub(crate) fn start(place: &Place, arguments: &str) -> Self {
        let mut command = place.command(arguments);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let (sender, lines) = channel();
        let read = BufReader::new(child.stderr.take().unwrap()).lines();
        std::thread::spawn(move || read.map_while(Result::ok).try_for_each(|l| sender.send(l)));
        Self { child, lines, all: String::new() }
    }

    /// Waits until it says something with `part` in it, and returns that line.
    pub(crate) fn says(&mut self, part: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(120));
            let line = line.unwrap_or_else(|_| panic!("{part:?} is not reported; {}", self.all));
            self.all.push_str(&line);
            self.all.push('\n');
            if line.contains(part) {
                return line;
            }
        }
    }

    pub(crate) fn interrupt(&self) {
        program("kill", &["-INT", &self.child.id().to_string()]);
    }

    /// Interrupts it, and asserts that it ends well; its whole output.
    pub(crate) fn stop(mut self) -> String {
        self.interrupt();
        let code = self.child.wait().unwrap().code();
        self.all.extend(self.lines.iter().map(|line| line + "\n"));
        assert_eq!(code, Some(0), "{}", self.all);
        std::mem::take(&mut self.all)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only if the test has failed: it takes everything down.
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.interrupt();
            let _ = self.child.wait();
        }
    }
}

/// Writes `pages` pages of 512 bytes, one after the other, over NBD.
pub(crate) fn write_pages(socket: &Path, pages: u64) {
    const AT_ONCE: u64 = 256;
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0").unwrap();
    stream.read_exact(&mut [0; 18 + 3 * 20 + 12 + 14]).unwrap();
    for first in (0..pages).step_by(AT_ONCE as usize) {
        let bytes = 512 * AT_ONCE;
        let mut request = b"\x25\x60\x95\x13\0\0\0\x01\0\0\0\0\0\0\0\0".to_vec();
        request.extend((512 * first).to_be_bytes());
        request.extend((bytes as u32).to_be_bytes());
        request.resize(request.len() + bytes as usize, 7);
        stream.write_all(&request).unwrap();
        stream.read_exact(&mut [0; 16]).unwrap();
    }
}

#[track_caller]
pub(crate) fn program(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(name).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{name} {arguments:?}: {text}");
    text
}

/// Whether programs are here, and we are root if that is needed; says so if not.
pub(crate) fn have(programs: &[&str], needs_root: bool) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = |name: &str| std::env::split_paths(&path).any(|path| path.join(name).is_file());
    let mut missing: Vec<_> = programs.iter().copied().filter(|name| !found(name)).collect();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    if needs_root && !status.lines().any(|line| line.starts_with("Uid:\t0\t0\t")) {
        missing.push("root");
    }
    if needs_root && !fs::exists("/dev/fuse").unwrap() {
        missing.push("/dev/fuse");
    }
    if !missing.is_empty() {
        let message = format!("SKIPPED: without {} (make setup-drive)\n", missing.join(", "));
        std::io::stderr().write_all(message.as_bytes()).unwrap();
    }
    missing.is_empty()
}
