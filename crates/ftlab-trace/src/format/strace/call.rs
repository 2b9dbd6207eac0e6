//! The anatomy of a line of strace.

use crate::format::fields::{decimal, fixed_point, is_blank};
use memchr::memmem;

/// A line: process, time, and what happened.
pub(super) struct Line<'a> {
    /// 0 where strace traced one process and did not number it.
    pub(super) process: u64,
    pub(super) time_us: u64,
    pub(super) text: &'a [u8],
}

impl<'a> Line<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        let line = line.trim_ascii();
        // "[pid 41] 17.25 ..." on a terminal, "41 17.25 ..." in a file, "17.25 ..." of one process.
        let line = line.strip_prefix(b"[pid").map_or(line, <[u8]>::trim_ascii_start);
        let (first, rest) = word(line)?;
        let (process, time, text) = match decimal(first.strip_suffix(b"]").unwrap_or(first)) {
            Some(process) => {
                let (time, text) = word(rest)?;
                (process, time, text)
            }
            None => (0, first, rest),
        };
        memchr::memchr(b'.', time)?;
        Some(Self { process, time_us: fixed_point(time, 6)?, text })
    }

    /// The beginning of a call that is interrupted.
    pub(super) fn unfinished(&self) -> Option<&'a [u8]> {
        self.text.strip_suffix(b"<unfinished ...>").map(<[u8]>::trim_ascii_end)
    }

    /// The rest of a call that was interrupted: `<... pwrite64 resumed>) = 4096`.
    pub(super) fn resumed(&self) -> Option<&'a [u8]> {
        self.text.strip_prefix(b"<... ")?;
        let end = memmem::find(self.text, b" resumed>")?;
        Some(&self.text[end + b" resumed>".len()..])
    }
}

/// The first word, and what follows the blanks after it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| is_blank(*byte))?;
    Some((&text[..end], text[end..].trim_ascii_start()))
}

/// A call that has returned.
pub(super) struct Call<'a> {
    pub(super) name: &'a [u8],
    pub(super) arguments: &'a [u8],
    /// The first word of the result.
    pub(super) result: &'a [u8],
}

impl<'a> Call<'a> {
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let open = memchr::memchr(b'(', text)?;
        let name = &text[..open];
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if name.is_empty() || !name.iter().all(is_name) {
            return None;
        }
        // What was written is shown before the result, and may hold anything.
        let equals = memmem::rfind(text, b" = ")?;
        let arguments = text.get(open + 1..equals)?.trim_ascii_end().strip_suffix(b")")?;
        let result = text[equals + 3..].trim_ascii_start();
        let end = result.iter().position(|byte| is_blank(*byte)).unwrap_or(result.len());
        Some(Self { name, arguments, result: &result[..end] })
    }

    /// The result as a number; `None` where the call failed.
    pub(super) fn result(&self) -> Option<u64> {
        decimal(self.result)
    }

    /// The argument that is `index` before the last.
    pub(super) fn last_but(&self, index: usize) -> Option<&'a [u8]> {
        let mut rest = self.arguments;
        for _ in 0..index {
            rest = &rest[..memmem::rfind(rest, b", ")?];
        }
        let start = memmem::rfind(rest, b", ").map_or(0, |comma| comma + 2);
        Some(&rest[start..])
    }

    /// The first argument as an open file.
    pub(super) fn file(&self) -> Option<OpenFile<'a>> {
        OpenFile::parse(self.arguments)
    }
}

/// `7</d/ib>`: a number that stands for an open file, and its path.
#[derive(Clone, Copy)]
pub(super) struct OpenFile<'a> {
    pub(super) number: u64,
    pub(super) path: &'a [u8],
}

impl<'a> OpenFile<'a> {
    /// Reads the open file that `text` begins with. Paths end at `>`; `<` begins what `-yy` adds.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let open = memchr::memchr(b'<', text)?;
        let number = decimal(&text[..open])?;
        let rest = &text[open + 1..];
        let end = memchr::memchr2(b'>', b'<', rest)?;
        Some(Self { number, path: &rest[..end] })
    }
}
