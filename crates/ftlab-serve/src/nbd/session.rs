//! One client's side of the protocol, without its socket.

use super::handshake::Handshake;
use super::transmission::{Transmission, input_bytes};
use super::{Export, Step};
use crate::net::{Conversation, Link, Protocol, Replies};
use ftlab_drive::Store;
use ftlab_drive::latency::take_due;
use std::sync::Arc;

/// The NBD protocol for a store.
pub struct Nbd {
    store: Arc<dyn Store>,
    export: Export,
}

impl Nbd {
    /// Exports `store`.
    pub fn new(store: Arc<dyn Store>, export: Export) -> Self {
        Self { store, export }
    }
}

impl Protocol for Nbd {
    fn name(&self) -> &'static str {
        "nbd"
    }

    fn begin<'a>(&'a self, link: Link, replies: &mut Replies) -> Box<dyn Conversation + 'a> {
        let session = Session::begin(self.store.as_ref(), &self.export, replies);
        Box::new(session.with_tls(link.requires_tls))
    }
}

/// The conversation with one client: takes the bytes that it sends, executes its requests on a
/// store, and assembles the replies.
///
/// ```
/// use ftlab_serve::Ram;
/// use ftlab_serve::nbd::{Export, Session};
/// use ftlab_serve::net::{Conversation, Replies};
///
/// let (ram, export, mut replies) = (Ram::new(1 << 20), Export::default(), Replies::default());
/// let mut session = Session::begin(&ram, &export, &mut replies);
/// assert!(replies.bytes().starts_with(b"NBDMAGICIHAVEOPT"));
/// // The client's flags, and half of an option: the session waits for the rest of that.
/// assert_eq!(session.feed(b"\0\0\0\x03IHAVE", &mut replies), 4);
/// ```
pub struct Session<'a> {
    store: &'a dyn Store,
    phase: Phase<'a>,
    wants_tls: bool,
}

enum Phase<'a> {
    Handshake(Handshake<'a>),
    Transmission(Transmission<'a>),
    Closed { problem: Option<String> },
}

impl<'a> Session<'a> {
    /// Greets a client.
    pub fn begin(store: &'a dyn Store, export: &'a Export, replies: &mut Replies) -> Self {
        let phase = Phase::Handshake(Handshake::begin(store, export, replies));
        Self { store, phase, wants_tls: false }
    }

    /// Offers TLS to the client, or requires it.
    pub(super) fn with_tls(mut self, is_required: Option<bool>) -> Self {
        if let Phase::Handshake(handshake) = &mut self.phase {
            handshake.offer_tls(is_required);
        }
        self
    }

    fn transmit(&mut self) {
        let Phase::Handshake(handshake) = &self.phase else { return };
        let (structured, tells) = (handshake.is_structured(), handshake.tells_allocation());
        self.phase = Phase::Transmission(Transmission::new(self.store, structured, tells));
    }
}

impl Conversation for Session<'_> {
    fn feed(&mut self, input: &[u8], replies: &mut Replies) -> usize {
        let mut used = 0;
        while !replies.is_full() && !self.wants_tls {
            let rest = &input[used..];
            let step = match &mut self.phase {
                Phase::Handshake(handshake) => handshake.step(rest, replies),
                Phase::Transmission(transmission) => {
                    let start = replies.bytes().len();
                    let step = transmission.step(rest, replies);
                    // A large write is answered after its last piece.
                    if replies.bytes().len() > start
                        && let Some(due) = take_due()
                    {
                        replies.hold(start, due);
                    }
                    step
                }
                Phase::Closed { .. } => return input.len(),
            };
            match step {
                Step::Starved => break,
                Step::Used(bytes) => used += bytes,
                Step::Transmission(bytes) => {
                    used += bytes;
                    self.transmit();
                }
                Step::Tls(bytes) => {
                    used += bytes;
                    self.wants_tls = true;
                }
                Step::Close(problem) => self.phase = Phase::Closed { problem },
            }
        }
        used
    }

    fn input_bytes(&self) -> usize {
        input_bytes(self.store)
    }

    fn is_handshake(&self) -> bool {
        matches!(self.phase, Phase::Handshake(_))
    }

    fn is_within_request(&self) -> bool {
        matches!(&self.phase, Phase::Transmission(transmission) if transmission.is_within_request())
    }

    fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed { .. })
    }

    fn problem(&self) -> Option<&str> {
        match &self.phase {
            Phase::Closed { problem } => problem.as_deref(),
            _ => None,
        }
    }

    fn wants_tls(&self) -> bool {
        self.wants_tls
    }

    fn continue_encrypted(&mut self) {
        self.wants_tls = false;
    }
}
