//! Consecutive numbers and strings in a block of bytes.

/// Writes fields in order.
pub(crate) struct FieldWriter<'a>(&'a mut [u8]);

impl<'a> FieldWriter<'a> {
    pub(crate) fn new(bytes: &'a mut [u8]) -> Self {
        Self(bytes)
    }

    /// Panics if there is no space: the layout of a block determines its size.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> &mut Self {
        let (field, rest) = std::mem::take(&mut self.0).split_at_mut(bytes.len());
        field.copy_from_slice(bytes);
        self.0 = rest;
        self
    }

    pub(crate) fn u32(&mut self, number: u32) -> &mut Self {
        self.put(&number.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, number: u64) -> &mut Self {
        self.put(&number.to_le_bytes())
    }
}

/// Reads fields in order; `None` beyond the end.
pub(crate) struct FieldReader<'a>(&'a [u8]);

impl<'a> FieldReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(field)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N).and_then(|bytes| bytes.try_into().ok())
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let len = self.array().map(u16::from_le_bytes)?;
        self.take(len.into()).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }
}
