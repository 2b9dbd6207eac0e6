//! Text as programs write it: with a byte order mark or without, in UTF-8 or UTF-16, with the line ends of any system.

use super::content::Stream;
use std::borrow::Cow;
use std::io::{self, Read};

/// Bytes that decide on the encoding of a text.
const LOOKED_AT: usize = 4096;
const CHUNK_BYTES: usize = 64 * 1024;

const UTF8_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
const UTF16_LITTLE_MARK: &[u8] = &[0xff, 0xfe];
const UTF16_BIG_MARK: &[u8] = &[0xfe, 0xff];

/// What a text needs to become UTF-8 with the line ends of Unix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8 after a mark.
    MarkedUtf8,
    /// UTF-16, after a mark of this many bytes.
    Utf16 { is_big: bool, mark: usize },
    /// Lines that end with a carriage return alone.
    CarriageReturns,
}

impl Encoding {
    /// Steps at most: what has a mark may have line ends to be replaced, too.
    pub(super) const STEPS: usize = 2;

    /// What a text that begins with `head` needs; `None` for what is right as it is, or is no text.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        let head = &head[..head.len().min(LOOKED_AT)];
        if let Some(text) = head.strip_prefix(UTF8_MARK) {
            return is_text(text).then_some(Self::MarkedUtf8);
        }
        for (is_big, mark) in [(false, UTF16_LITTLE_MARK), (true, UTF16_BIG_MARK)] {
            if let Some(text) = head.strip_prefix(mark) {
                let units = units(text, is_big);
                return units.is_text().then_some(Self::Utf16 { is_big, mark: mark.len() });
            }
        }
        let wide = [false, true].into_iter().find(|is_big| is_wide_ascii(head, *is_big));
        if let Some(is_big) = wide {
            return Some(Self::Utf16 { is_big, mark: 0 });
        }
        let ends_by_returns = head.contains(&b'\r') && !head.contains(&b'\n');
        (ends_by_returns && is_text(head)).then_some(Self::CarriageReturns)
    }

    /// The text of `reader` from its start in UTF-8.
    pub(super) fn decode(self, mut reader: Stream) -> io::Result<Stream> {
        let mark = match self {
            Self::MarkedUtf8 => UTF8_MARK.len(),
            Self::Utf16 { mark, .. } => mark,
            Self::CarriageReturns => 0,
        };
        reader.read_exact(&mut [0; 3][..mark])?;
        Ok(match self {
            Self::MarkedUtf8 => reader,
            Self::Utf16 { is_big, .. } => Box::new(Utf16::new(reader, is_big)),
            Self::CarriageReturns => Box::new(NewLines(reader)),
        })
    }
}

/// Whether `bytes` have no sign that a text has not.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| is_control(u16::from(*byte)))
}

/// A sign that moves nothing and shows nothing.
fn is_control(sign: u16) -> bool {
    sign < 0x20 && !matches!(sign, 0x09 | 0x0a | 0x0c | 0x0d | 0x1a | 0x1b)
}

/// Units of UTF-16.
struct Units<'a> {
    bytes: &'a [u8],
    is_big: bool,
}

fn units(bytes: &[u8], is_big: bool) -> Units<'_> {
    Units { bytes, is_big }
}

impl Units<'_> {
    fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.bytes.chunks_exact(2).map(|unit| {
            let unit = [unit[0], unit[1]];
            if self.is_big { u16::from_be_bytes(unit) } else { u16::from_le_bytes(unit) }
        })
    }

    /// Whether all of them are signs of a text; the last may be the first half of one.
    fn is_text(&self) -> bool {
        let last = self.bytes.len() / 2;
        let mut decoded = char::decode_utf16(self.iter().take(last.saturating_sub(1)));
        let is_right = |result: Result<char, _>| {
            result.is_ok_and(|sign| u16::try_from(u32::from(sign)).map_or(true, |s| !is_control(s)))
        };
        last > 0 && decoded.all(is_right)
    }
}

/// Whether `head` is lines of ASCII in UTF-16 without a mark.
fn is_wide_ascii(head: &[u8], is_big: bool) -> bool {
    let is_ascii = |unit: u16| matches!(unit, 0x09 | 0x0a | 0x0d | 0x20..=0x7e);
    let units = units(head, is_big);
    head.len() >= 8 && units.iter().all(is_ascii) && units.iter().any(|unit| unit == 0x0a)
}

/// Makes UTF-8 of UTF-16; what is no sign becomes U+FFFD.
struct Utf16<R> {
    inner: R,
    is_big: bool,
    /// Bytes that are no whole sign yet.
    raw: Vec<u8>,
    text: String,
    used: usize,
}

impl<R: Read> Utf16<R> {
    fn new(inner: R, is_big: bool) -> Self {
        Self { inner, is_big, raw: Vec::new(), text: String::new(), used: 0 }
    }

    /// Decodes what comes next; false at the end.
    fn refill(&mut self) -> io::Result<bool> {
        let kept = self.raw.len();
        self.raw.resize(kept + CHUNK_BYTES, 0);
        let read = self.inner.read(&mut self.raw[kept..]);
        self.raw.truncate(kept + *read.as_ref().unwrap_or(&0));
        let is_end = read? == 0;
        self.text.clear();
        self.used = 0;
        let mut whole = self.raw.len() / 2 * 2;
        let last = units(&self.raw[..whole], self.is_big).iter().last();
        if !is_end && last.is_some_and(|unit| (0xd800..0xdc00).contains(&unit)) {
            whole -= 2;
        }
        let units = units(&self.raw[..whole], self.is_big);
        let signs = char::decode_utf16(units.iter());
        self.text.extend(signs.map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER)));
        self.raw.drain(..whole);
        if is_end && !self.raw.is_empty() {
            self.raw.clear();
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        Ok(!is_end || !self.text.is_empty())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.used == self.text.len() {
            if !self.refill()? {
                return Ok(0);
            }
        }
        let bytes = (&self.text.as_bytes()[self.used..]).read(buffer)?;
        self.used += bytes;
        Ok(bytes)
    }
}

/// Makes line feeds of carriage returns.
struct NewLines<R>(R);

impl<R: Read> Read for NewLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.read(buffer)?;
        buffer[..bytes].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(bytes)
    }
}

/// The text that `bytes` are, without a byte order mark: UTF-8, UTF-16, or else Latin-1, in which every byte is a
/// sign. Lines that end with a carriage return alone end with a line feed instead.
///
/// ```
/// use ftlab_trace::decode_text;
/// assert_eq!(decode_text(b"\xef\xbb\xbfa;b\r\n"), "a;b\r\n");
/// assert_eq!(decode_text(b"\xff\xfea\0\n\0"), "a\n");
/// assert_eq!(decode_text(b"1\xa0000"), "1\u{a0}000");
/// ```
pub fn decode_text(bytes: &[u8]) -> String {
    let mut text = Cow::Borrowed(bytes);
    for _ in 0..Encoding::STEPS {
        let Some(decoded) = decoded(&text) else { break };
        text = Cow::Owned(decoded);
    }
    let latin = || text.iter().map(|byte| char::from(*byte)).collect();
    std::str::from_utf8(&text).map_or_else(|_| latin(), str::to_owned)
}

/// The next step of what `bytes` need to become a text, if they need one.
fn decoded(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let reader = Encoding::of(bytes)?.decode(Box::new(io::Cursor::new(bytes.to_vec())));
    reader.ok()?.read_to_end(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;
    use proptest::prelude::*;

    /// `text` in UTF-16, after a mark if it is to have one.
    fn wide(text: &str, is_big: bool, is_marked: bool) -> Vec<u8> {
        let mark = if is_marked { "\u{feff}" } else { "" };
        let all = mark.to_owned() + text;
        let units = all.encode_utf16();
        units
            .flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() })
            .collect()
    }

    /// Hands out one byte at a time.
    struct Trickle(io::Cursor<Vec<u8>>);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(1);
            self.0.read(&mut buffer[..most])
        }
    }

    #[test]
    fn a_text_is_the_same_in_every_encoding() {
        let text = "op,off\nW,4096\n";
        let marked = [UTF8_MARK, text.as_bytes()].concat();
        let returns = text.replace('\n', "\r").into_bytes();
        let wide_returns = wide(&text.replace('\n', "\r"), true, true);
        let plain = text.as_bytes().to_vec();
        let wides = [(false, false), (false, true), (true, false), (true, true)];
        let wides = wides.map(|(is_big, is_marked)| wide(text, is_big, is_marked));
        for bytes in [plain, marked, returns, wide_returns].into_iter().chain(wides) {
            assert_eq!(decode_text(&bytes), text, "{bytes:02x?}");
            let input = Input::from_bytes("t", bytes.clone()).unwrap();
            assert_eq!(input.head(), text.as_bytes(), "{bytes:02x?}");
            let mut read = String::new();
            input.into_reader().read_to_string(&mut read).unwrap();
            assert_eq!(read, text, "{bytes:02x?}");
        }
    }

    #[test]
    fn numbers_are_no_text() {
        // Page numbers of `lpn-u32` that begin as marks do.
        for first in [0x0000_feff_u32, 0x0001_fffe, 0x00bf_bbef, 0x0a0d_0a0d] {
            let bytes: Vec<u8> =
                [first, 7, 300, 70_000].into_iter().flat_map(u32::to_le_bytes).collect();
            assert_eq!(Encoding::of(&bytes), None, "{first:x}");
        }
        assert_eq!(Encoding::of(b""), None);
        assert_eq!(Encoding::of(b"one line without end"), None);
    }

    proptest! {
        #[test]
        fn utf16_does_not_depend_on_the_sizes_of_reads(text in "[a-z\\n\u{a0}\u{20ac}\u{1f600}]{1,40}") {
            let marked = wide(&text, true, true);
            let mut read = String::new();
            Utf16::new(Trickle(io::Cursor::new(marked)), true).read_to_string(&mut read).unwrap();
            prop_assert_eq!(read, format!("\u{feff}{text}"));
        }

        #[test]
        fn any_bytes_are_some_text(bytes in prop::collection::vec(any::<u8>(), 0..40), wide in any::<bool>()) {
            let marked = [if wide { UTF16_LITTLE_MARK } else { &[] }, &bytes].concat();
            decode_text(&marked);
        }
    }
}
