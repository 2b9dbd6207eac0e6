//! One connection: bytes between its socket and its session.

use super::Export;
use super::replies::Replies;
use super::session::Session;
use crate::Store;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

/// Size of the receive buffer, at least what the session needs; a queue of 32 requests of 4 KiB
/// fits.
const INPUT_BYTES: usize = 256 << 10;

/// Serves a client until it disconnects. The error is that of its socket, or its protocol
/// violation.
///
/// `established` is called once, when the handshake is over.
pub(super) fn serve<S: Read + Write + AsFd>(
    mut socket: S,
    store: &dyn Store,
    export: &Export,
    established: impl FnOnce(&S) -> io::Result<()>,
) -> io::Result<()> {
    let mut replies = Replies::default();
    let mut session = Session::begin(store, export, &mut replies);
    let mut established = Some(established);
    let mut input = Input::new(INPUT_BYTES.max(session.input_bytes()));
    loop {
        input.used(session.feed(input.bytes(), &mut replies));
        let was_full = replies.is_full();
        let next_due = replies.release();
        if !replies.bytes().is_empty() {
            socket.write_all(replies.bytes())?;
            replies.clear();
        }
        if session.is_closed() {
            drain(socket, replies)?;
            return session.problem().map_or(Ok(()), |problem| Err(io::Error::other(problem)));
        }
        if !session.is_handshake()
            && let Some(established) = established.take()
        {
            established(&socket)?;
        }
        if replies.is_full() {
            // All its delayed replies wait for their time.
            thread::sleep(until(next_due));
        }
        if was_full || !wait_for(&socket, next_due)? {
            continue;
        }
        if !input.receive(&mut socket)? {
            return drain(socket, replies);
        }
    }
}

/// Waits until there is data to receive, or a delayed reply is due; false in the latter case.
fn wait_for(socket: &impl AsFd, due: Option<Instant>) -> io::Result<bool> {
    let Some(due) = due else { return Ok(true) };
    let left = until(Some(due));
    // The remaining time is limited to what the type can hold.
    let timeout = Timespec::try_from(left).ok();
    match poll(&mut [PollFd::new(socket, PollFlags::IN)], timeout.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The remaining time; none if there is nothing to wait for.
fn until(due: Option<Instant>) -> Duration {
    due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()))
}

/// Sends delayed replies, when they are due, to a client that sends no more requests.
fn drain(mut socket: impl Write, mut replies: Replies) -> io::Result<()> {
    while let Some(due) = replies.release() {
        socket.write_all(replies.bytes())?;
        replies.clear();
        thread::sleep(until(Some(due)));
    }
    socket.write_all(replies.bytes())
}

/// Received data that has not been processed.
struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    fn new(bytes: usize) -> Self {
        Self { buffer: vec![0; bytes], start: 0, end: 0 }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn used(&mut self, bytes: usize) {
        self.start += bytes;
    }

    /// Waits for more data; false at the end of the connection.
    fn receive(&mut self, socket: &mut impl Read) -> io::Result<bool> {
        // The rest is the beginning of a request.
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let bytes = loop {
            match socket.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.end += bytes;
        Ok(bytes > 0)
    }
}
