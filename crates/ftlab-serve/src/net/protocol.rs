//! What a protocol is to a server: bytes in, bytes out, and no sockets.

use super::leases::{Lease, Leases};
use super::replies::Replies;
use super::slots::{Client, Slot};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// A protocol that a server speaks.
pub trait Protocol: Send + Sync {
    /// Its name, for messages and threads.
    fn name(&self) -> &'static str;
    /// Begins to talk to a client, whose greeting goes into `replies` if there is one.
    fn begin<'a>(&'a self, link: Link, replies: &mut Replies) -> Box<dyn Conversation + 'a>;
}

/// The conversation with one client.
pub trait Conversation {
    /// Processes received bytes, and returns how many it has used; the rest must be passed again,
    /// followed by newly received bytes. Stops when there is much to send.
    fn feed(&mut self, input: &[u8], replies: &mut Replies) -> usize;
    /// The maximum number of bytes that [`feed`](Self::feed) may need at once before it can process
    /// any.
    fn input_bytes(&self) -> usize;
    /// Whether the handshake is still in progress.
    fn is_handshake(&self) -> bool;
    /// Whether a request has been received in part.
    fn is_within_request(&self) -> bool;
    /// Whether the connection must be closed once the replies are sent.
    fn is_closed(&self) -> bool;
    /// What is wrong, if that is why the connection must be closed.
    fn problem(&self) -> Option<&str>;
    /// When [`wake`](Self::wake) is due, if the client sends nothing before that.
    fn wakes_at(&self) -> Option<Instant> {
        None
    }
    /// The time has come.
    fn wake(&mut self, replies: &mut Replies) {
        let _ = replies;
    }
    /// Whether the client is about to begin with TLS; nothing is processed before
    /// [`continue_encrypted`](Self::continue_encrypted).
    fn wants_tls(&self) -> bool {
        false
    }
    /// Continues with the handshake, of which nothing counts that came before TLS.
    fn continue_encrypted(&mut self) {}
}

/// What a conversation may know of its connection, and do to it.
#[derive(Clone, Default)]
pub struct Link {
    pub(super) slot: Option<Arc<Slot>>,
    pub(super) leases: Arc<Leases>,
    /// Whether clients must use TLS; `None` if the server cannot speak it.
    pub requires_tls: Option<bool>,
}

impl Link {
    /// The address that the client has connected to.
    pub fn local(&self) -> Option<SocketAddr> {
        self.slot.as_ref().and_then(|slot| slot.socket.local())
    }

    /// The client's machine, if it may be another one.
    pub fn peer(&self) -> Option<IpAddr> {
        self.slot.as_ref().and_then(|slot| slot.peer)
    }

    /// Says whose connection it is, and whether it is the first one of them.
    pub(crate) fn belongs_to(&self, client: &Arc<Client>, is_first: bool) {
        if let Some(slot) = &self.slot {
            slot.belongs_to(client, is_first);
        }
    }

    /// Memory for data that wait for the rest of their request, of which a connection has one lease at most.
    /// Waits until there is some.
    pub(crate) fn lease(&self, bytes: usize) -> Lease {
        self.leases.take(bytes, self.slot.clone())
    }

    /// Ends the connection, from any thread.
    pub fn close(&self) {
        if let Some(slot) = &self.slot {
            slot.close();
        }
    }
}
