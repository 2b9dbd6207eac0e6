//! One connection: bytes between its socket and its conversation.

use super::limits::Limits;
use super::protocol::Conversation;
use super::replies::Replies;
use super::slots::{Phase, Slot};
use super::socket::{Stream, Wait};
use super::tls::Tls;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Size of the receive buffer, at least what the conversation needs; a queue of 32 requests of 4 KiB
/// fits.
const INPUT_BYTES: usize = 256 << 10;

/// What is received goes to a multiple of this, a line of the cache: processors that copy with `rep movsb`, as the system
/// does, take up to several times as long to an address in between.
const ALIGNMENT: usize = 64;

/// One client's connection.
pub(super) struct Connection<'a> {
    stream: Stream,
    conversation: Box<dyn Conversation + 'a>,
    replies: Replies,
    input: Input,
    slot: &'a Slot,
    limits: &'a Limits,
    tls: Option<&'a Tls>,
    /// When the handshake must be over.
    handshake_until: Instant,
    /// When the request that is being received must be complete.
    request_until: Option<Instant>,
}

impl<'a> Connection<'a> {
    /// Serves the client of `slot`, for which the conversation has put its greeting into `replies`.
    pub(super) fn new(
        slot: &'a Slot,
        conversation: Box<dyn Conversation + 'a>,
        replies: Replies,
        limits: &'a Limits,
        tls: Option<&'a Tls>,
    ) -> Self {
        Self {
            stream: Stream::new(Arc::clone(&slot.socket)),
            input: Input::new(INPUT_BYTES.max(conversation.input_bytes())),
            conversation,
            replies,
            slot,
            limits,
            tls,
            handshake_until: Instant::now() + limits.handshake,
            request_until: None,
        }
    }

    /// Serves the client until it disconnects. The error is that of its socket, its protocol
    /// violation, or the limit that it exceeds.
    pub(super) fn run(mut self) -> io::Result<()> {
        let result = self.converse();
        self.stream.finish();
        result
    }

    fn converse(&mut self) -> io::Result<()> {
        loop {
            let used = self.conversation.feed(self.input.bytes(), &mut self.replies);
            self.input.used(used);
            if used > 0 {
                self.request_until = None;
                self.enter(Phase::Working);
            }
            let was_full = self.replies.is_full();
            let next_due = self.replies.release();
            self.send()?;
            if self.conversation.is_closed() {
                self.drain()?;
                let problem = self.conversation.problem();
                return problem.map_or(Ok(()), |problem| Err(io::Error::other(problem)));
            }
            if self.conversation.wants_tls() {
                self.start_tls()?;
            }
            if self.replies.is_full() {
                // All its delayed replies wait for their time.
                thread::sleep(until(next_due));
            }
            if !was_full && !self.receive(next_due)? {
                return self.drain();
            }
        }
    }

    /// Says what the connection does now; before the end of the handshake, that is the handshake.
    fn enter(&self, phase: Phase) {
        if !self.conversation.is_handshake() {
            self.slot.enter(phase);
        }
    }

    /// Encrypts what follows. What a client sent before is not trusted.
    fn start_tls(&mut self) -> io::Result<()> {
        if !self.input.bytes().is_empty() {
            return Err(io::Error::other("the client sent plain data after asking for TLS"));
        }
        self.conversation.continue_encrypted();
        self.tls.map_or(Ok(()), |tls| self.stream.encrypt(tls))
    }

    /// Waits for more data, or until a delayed reply is due; false at the end of the connection.
    fn receive(&mut self, next_due: Option<Instant>) -> io::Result<bool> {
        loop {
            let limit = self.receiving_until();
            self.enter(if limit.is_some() { Phase::Stalled } else { Phase::Idle });
            let wakes_at = self.conversation.wakes_at();
            let may_block = limit.is_none() && next_due.is_none() && wakes_at.is_none();
            match self.input.receive(&mut self.stream, may_block) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                received => return received.map(|bytes| bytes > 0),
            }
            let until = next_due.into_iter().chain(limit).chain(wakes_at).min();
            if self.stream.wait(Wait::ToReceive, until)? {
                continue;
            }
            let is_past = |time: Instant| time <= Instant::now();
            if wakes_at.is_some_and(is_past) {
                self.conversation.wake(&mut self.replies);
                return Ok(true);
            }
            if next_due.is_some_and(is_past) {
                return Ok(true);
            }
            if self.conversation.is_handshake() {
                return Err(late("the handshake takes", self.limits.handshake));
            }
            return Err(late("receiving a request takes", self.limits.request));
        }
    }

    /// When the client must have sent more; there is no such time between requests.
    fn receiving_until(&mut self) -> Option<Instant> {
        if self.conversation.is_handshake() {
            return Some(self.handshake_until);
        }
        if self.input.bytes().is_empty() && !self.conversation.is_within_request() {
            return None;
        }
        let limit = self.limits.request;
        Some(*self.request_until.get_or_insert_with(|| Instant::now() + limit))
    }

    /// Sends the replies that are ready.
    fn send(&mut self) -> io::Result<()> {
        if self.replies.bytes().is_empty() {
            return Ok(());
        }
        let mut sent = 0;
        let mut until = None;
        loop {
            let rest = &self.replies.bytes()[sent..];
            let result = if rest.is_empty() {
                self.stream.flush()
            } else {
                self.stream.write(rest).map(|bytes| sent += bytes)
            };
            match result {
                Ok(()) if rest.is_empty() => break,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait_to_send(&mut until)?;
                }
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        self.replies.clear();
        Ok(())
    }

    fn wait_to_send(&mut self, until: &mut Option<Instant>) -> io::Result<()> {
        let limit = self.limits.reply;
        let until = *until.get_or_insert_with(|| {
            let until = Instant::now() + limit;
            if self.conversation.is_handshake() { until.min(self.handshake_until) } else { until }
        });
        self.enter(Phase::Stalled);
        if self.stream.wait(Wait::ToSend, Some(until))? {
            return Ok(());
        }
        Err(late("sending a reply takes", limit))
    }

    /// Sends delayed replies, when they are due, to a client that sends no more requests.
    fn drain(&mut self) -> io::Result<()> {
        while let Some(due) = self.replies.release() {
            self.send()?;
            thread::sleep(until(Some(due)));
        }
        self.send()
    }
}

fn late(what: &str, limit: Duration) -> io::Error {
    let message = format!("{what} more than {} seconds", limit.as_secs_f32());
    io::Error::new(io::ErrorKind::TimedOut, message)
}

/// The remaining time; none if there is nothing to wait for.
fn until(due: Option<Instant>) -> Duration {
    due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()))
}

/// Received data that has not been processed.
struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    /// Room for `bytes` bytes, wherever they begin.
    fn new(bytes: usize) -> Self {
        Self { buffer: vec![0; bytes + 2 * ALIGNMENT], start: 0, end: 0 }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn used(&mut self, bytes: usize) {
        self.start += bytes;
    }

    /// Receives more data, as far as there is any.
    fn receive(&mut self, stream: &mut Stream, may_block: bool) -> io::Result<usize> {
        self.make_room();
        let bytes = loop {
            match stream.receive(&mut self.buffer[self.end..], may_block) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.end += bytes;
        Ok(bytes)
    }

    /// Moves the beginning of a request to the front, so that what follows it is aligned; unless it is there, as when a
    /// large one arrives in many pieces.
    fn make_room(&mut self) {
        let rest = self.end - self.start;
        if rest > 0 && self.start < 2 * ALIGNMENT {
            return;
        }
        let first = self.buffer.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        let end = first + rest.next_multiple_of(ALIGNMENT);
        self.buffer.copy_within(self.start..self.end, end - rest);
        (self.start, self.end) = (end - rest, end);
    }
}

#[cfg(test)]
mod tests {
    use super::super::socket::Socket;
    use super::*;
    use std::os::unix::net::UnixStream;

    /// Receives `sizes` and uses the sizes beside them; the bytes and their order stay, and everything that is received
    /// after some was used begins at a line of the cache.
    fn receive_all(buffer_bytes: usize, sizes: &[(usize, usize)]) {
        let (mut host, ours) = UnixStream::pair().unwrap();
        let mut stream = Stream::new(Arc::new(Socket::Unix(ours)));
        let mut input = Input::new(buffer_bytes);
        let (mut sent, mut used) = (0_usize, 0_usize);
        for &(bytes, uses) in sizes {
            let data: Vec<u8> = (sent..sent + bytes).map(|at| (at % 251) as u8).collect();
            host.write_all(&data).unwrap();
            sent += bytes;
            let was_moved = input.bytes().is_empty() || input.start >= 2 * ALIGNMENT;
            assert_eq!(input.receive(&mut stream, true).unwrap(), bytes);
            let received = &input.bytes()[input.bytes().len() - bytes..];
            assert!(!was_moved || received.as_ptr().addr().is_multiple_of(ALIGNMENT));
            let expected: Vec<u8> = (used..sent).map(|at| (at % 251) as u8).collect();
            assert_eq!(input.bytes(), expected);
            input.used(uses);
            used += uses;
        }
    }

    #[test]
    fn what_is_received_is_aligned_and_the_rest_stays_before_it() {
        receive_all(
            8192,
            &[(4168, 4168), (5000, 4168), (3336, 4168), (72, 72), (100, 1), (4000, 0)],
        );
    }

    #[test]
    fn the_largest_request_fits_wherever_it_begins() {
        for before in [1, 63, 72, 127, 128, 129, 500] {
            // All but one byte of a request of the largest size, after one that has been used; then that byte.
            receive_all(1000, &[(before + 400, before), (599, 0), (1, 1000)]);
        }
    }
}
