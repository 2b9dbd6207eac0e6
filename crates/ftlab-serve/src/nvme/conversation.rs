//! Queues as conversations of a server: when to go on, and when to end.

use super::UNIT_BYTES_MAX;
use super::output::DIGEST_BYTES;
use super::queue::{Phase, Queue, Step};
use super::subsystem::Subsystem;
use crate::net::{Conversation, Link, Protocol, Replies};
use ftlab_drive::latency::take_due;
use std::time::{Duration, Instant};

/// How often it is looked whether there is an event to tell.
const EVENT_INTERVAL: Duration = Duration::from_secs(1);

impl Protocol for Subsystem {
    fn name(&self) -> &'static str {
        "nvme"
    }

    fn begin<'a>(&'a self, link: Link, _replies: &mut Replies) -> Box<dyn Conversation + 'a> {
        Box::new(Queue::new(self, link))
    }
}

impl Drop for Queue<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Conversation for Queue<'_> {
    fn feed(&mut self, input: &[u8], replies: &mut Replies) -> usize {
        let mut used = 0;
        while !replies.is_full() {
            if self.is_closed() {
                used = input.len();
                break;
            }
            if self.connected().is_some_and(|connected| connected.controller.is_over()) {
                self.close(None);
                continue;
            }
            let start = replies.bytes().len();
            let step = if self.reading.is_some() {
                self.read_piece(replies);
                Step::Used(0)
            } else {
                self.unit(&input[used..], replies)
            };
            if replies.bytes().len() > start
                && let Some(due) = take_due()
            {
                replies.hold(start, due);
            }
            match step {
                Step::Starved => break,
                Step::Used(bytes) => {
                    used += bytes;
                    // This is not delayed with the answers.
                    self.ask(replies);
                }
                Step::Close(problem) => self.close(problem),
            }
        }
        if self.subsystem.tallies.take(&mut self.moved)
            && let Some(connected) = self.connected()
        {
            connected.controller.client.note_use();
        }
        used
    }

    fn input_bytes(&self) -> usize {
        // A header, a digest, data after up to 255 bytes, and another digest.
        256 + UNIT_BYTES_MAX as usize + DIGEST_BYTES
    }

    fn is_handshake(&self) -> bool {
        matches!(self.phase, Phase::Greeting | Phase::Connecting)
    }

    fn is_within_request(&self) -> bool {
        self.transfers.has_asked()
    }

    fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed(_))
    }

    fn problem(&self) -> Option<&str> {
        match &self.phase {
            Phase::Closed(problem) => problem.as_deref(),
            _ => None,
        }
    }

    fn wakes_at(&self) -> Option<Instant> {
        let connected = self.connected().filter(|connected| connected.queue == 0)?;
        let is_waiting = connected.controller.state().events.is_waiting();
        let looks_at = is_waiting.then_some(self.looks_at);
        self.silent_until().into_iter().chain(looks_at).min()
    }

    fn wake(&mut self, replies: &mut Replies) {
        let now = Instant::now();
        if self.silent_until().is_some_and(|until| until <= now) {
            let problem = "the host's keep alive timer has expired";
            return self.close(Some(problem.to_owned()));
        }
        if self.looks_at <= now {
            self.looks_at = now + EVENT_INTERVAL;
            self.look();
            self.tell_events(replies);
        }
    }
}
