//! One client's side of the protocol, without its socket.

use super::handshake::Handshake;
use super::replies::Replies;
use super::transmission::{Transmission, input_bytes};
use super::{Export, Step};
use crate::Store;
use crate::latency::take_due;

/// The conversation with one client: takes the bytes that it sends, executes its requests on a
/// store, and assembles the replies.
///
/// ```
/// use ftlab_device::Ram;
/// use ftlab_device::nbd::{Export, Replies, Session};
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

    /// Whether the client is about to begin with TLS; nothing is processed before
    /// [`continue_encrypted`](Self::continue_encrypted).
    pub(super) fn wants_tls(&self) -> bool {
        self.wants_tls
    }

    /// Continues with the handshake, of which nothing counts that came before TLS.
    pub(super) fn continue_encrypted(&mut self) {
        self.wants_tls = false;
    }

    /// Whether a request has been received in part.
    pub(super) fn is_within_request(&self) -> bool {
        matches!(&self.phase, Phase::Transmission(transmission) if transmission.is_within_request())
    }

    /// The maximum number of bytes that [`feed`](Self::feed) may need at once before it can process
    /// any.
    pub fn input_bytes(&self) -> usize {
        input_bytes(self.store)
    }

    /// Processes received bytes, and returns how many it has used; the rest must be passed again,
    /// followed by newly received bytes. Stops when there is much to send.
    pub fn feed(&mut self, input: &[u8], replies: &mut Replies) -> usize {
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

    fn transmit(&mut self) {
        let Phase::Handshake(handshake) = &self.phase else { return };
        let (structured, tells) = (handshake.is_structured(), handshake.tells_allocation());
        self.phase = Phase::Transmission(Transmission::new(self.store, structured, tells));
    }

    /// Whether the handshake is still in progress.
    pub fn is_handshake(&self) -> bool {
        matches!(self.phase, Phase::Handshake(_))
    }

    /// Whether the connection must be closed once the replies are sent.
    pub fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed { .. })
    }

    /// The client's protocol violation, if that is why the connection must be closed.
    pub fn problem(&self) -> Option<&str> {
        match &self.phase {
            Phase::Closed { problem } => problem.as_deref(),
            _ => None,
        }
    }
}
