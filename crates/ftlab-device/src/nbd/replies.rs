//! What is to be sent.

/// Memory for replies that is kept from request to request, up to this much.
const KEPT_BYTES: usize = 1 << 20;

/// With so much to send, it is sent before more requests are looked at.
const FULL_BYTES: usize = 256 << 10;

/// Bytes to be sent. Their memory is used again and again, so that a request allocates nothing.
#[derive(Debug, Default)]
pub struct Replies {
    /// Beyond `used` is memory for what comes.
    bytes: Vec<u8>,
    used: usize,
}

impl Replies {
    /// What is to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// Whether it should be sent now.
    pub fn is_full(&self) -> bool {
        self.used >= FULL_BYTES
    }

    /// Forgets everything: it has been sent.
    pub fn clear(&mut self) {
        self.used = 0;
        if self.bytes.len() > KEPT_BYTES {
            self.bytes.truncate(KEPT_BYTES);
            self.bytes.shrink_to_fit();
        }
    }

    /// Memory behind what is to be sent, with anything in it; [`take`](Self::take) makes it part of that.
    pub(super) fn room(&mut self, bytes: usize) -> &mut [u8] {
        let end = self.used + bytes;
        if end > self.bytes.len() {
            self.bytes.resize(end, 0);
        }
        &mut self.bytes[self.used..end]
    }

    /// The next `bytes` bytes of the room are to be sent.
    pub(super) fn take(&mut self, bytes: usize) {
        self.used += bytes;
        debug_assert!(self.used <= self.bytes.len());
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.take(bytes.len());
    }

    pub(super) fn put_u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    pub(super) fn put_u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    pub(super) fn put_u64(&mut self, value: u64) {
        self.put(&value.to_be_bytes());
    }
}
