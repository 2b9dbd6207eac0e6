//! Numbers and texts at offsets in a block of bytes.

/// Reads fields; what is beyond the end of a structure reads as zeros.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    #[inline]
    fn array<const N: usize>(self, at: usize) -> [u8; N] {
        if let Some(bytes) = self.0.get(at..).and_then(<[u8]>::first_chunk) {
            return *bytes;
        }
        let mut bytes = [0; N];
        for (to, from) in bytes.iter_mut().zip(self.0.get(at..).unwrap_or_default()) {
            *to = *from;
        }
        bytes
    }

    pub(crate) fn u8(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    pub(crate) fn u16(self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    pub(crate) fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    pub(crate) fn u64(self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }

    pub(crate) fn u128(self, at: usize) -> u128 {
        u128::from_le_bytes(self.array(at))
    }

    /// The text that begins at `at`, up to a zero or the end of its field of `bytes` bytes.
    pub(crate) fn text(self, at: usize, bytes: usize) -> &'a str {
        let field = self.0.get(at..).unwrap_or_default();
        let field = &field[..field.len().min(bytes)];
        let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
        str::from_utf8(&field[..end]).unwrap_or_default()
    }
}

/// Writes fields; the layout of a block determines its size, so there is room for them.
pub(crate) struct Writer<'a>(pub(crate) &'a mut [u8]);

impl Writer<'_> {
    pub(crate) fn bytes(&mut self, at: usize, bytes: &[u8]) -> &mut Self {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    pub(crate) fn u8(&mut self, at: usize, value: u8) -> &mut Self {
        self.bytes(at, &[value])
    }

    pub(crate) fn u16(&mut self, at: usize, value: u16) -> &mut Self {
        self.bytes(at, &value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, at: usize, value: u32) -> &mut Self {
        self.bytes(at, &value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, at: usize, value: u64) -> &mut Self {
        self.bytes(at, &value.to_le_bytes())
    }

    pub(crate) fn u128(&mut self, at: usize, value: u128) -> &mut Self {
        self.bytes(at, &value.to_le_bytes())
    }

    /// ASCII that fills a field of `bytes` bytes with spaces at its end (base 2.1, 1.4.2).
    pub(crate) fn padded(&mut self, at: usize, bytes: usize, text: &str) -> &mut Self {
        self.0[at..at + bytes].fill(b' ');
        let text = &text.as_bytes()[..text.len().min(bytes)];
        self.bytes(at, text)
    }
}
