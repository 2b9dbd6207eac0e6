//! Whether a Parquet footer can be what it says, before memory is allocated for it.
//!
//! A footer is a structure of the compact protocol of Apache Thrift, with lists that begin with their
//! length; the Parquet library allocates as much as a length claims. An item takes one byte or more.

use bytes::Bytes;
use parquet::file::reader::ChunkReader;

/// The length of the footer and the letters `PAR1`, which are the end of a file.
const TAIL_BYTES: u64 = 8;
/// Structures in structures; a footer has five levels.
const DEPTH_MAX: u32 = 32;

/// Returns why a file's footer cannot be what it says. A file without a footer passes: the library
/// reports that.
pub(super) fn check(file: &impl ChunkReader) -> Result<(), String> {
    footer(file).map_or(Ok(()), |(_, footer)| check_bytes(&footer))
}

pub(super) fn check_bytes(footer: &[u8]) -> Result<(), String> {
    let mut input = footer;
    skip(Kind::STRUCT, &mut input, 0).ok_or_else(|| {
        format!(
            "the footer claims more than its {} bytes can hold, near byte {}",
            footer.len(),
            footer.len() - input.len()
        )
    })
}

/// The footer at the end of a file, and where it begins.
pub(super) fn footer(file: &impl ChunkReader) -> Option<(u64, Bytes)> {
    ending_at(file, file.len())
}

/// The footer that ends there, its length and letters included, and where it begins.
pub(super) fn ending_at(file: &impl ChunkReader, end: u64) -> Option<(u64, Bytes)> {
    let tail_start = end.checked_sub(TAIL_BYTES)?;
    let tail = file.get_bytes(tail_start, TAIL_BYTES as usize).ok()?;
    let (length, letters) = tail.split_first_chunk()?;
    let length = u32::from_le_bytes(*length);
    let start = tail_start.checked_sub(length.into()).filter(|_| letters == b"PAR1")?;
    Some((start, file.get_bytes(start, length as usize).ok()?))
}

/// A type of the compact protocol.
struct Kind;

impl Kind {
    const TRUE: u8 = 1;
    const FALSE: u8 = 2;
    const BYTE: u8 = 3;
    const I16: u8 = 4;
    const I64: u8 = 6;
    const DOUBLE: u8 = 7;
    const BINARY: u8 = 8;
    const LIST: u8 = 9;
    const SET: u8 = 10;
    const MAP: u8 = 11;
    const STRUCT: u8 = 12;
}

/// Moves past a value; `None` if it is longer than the input.
fn skip(kind: u8, input: &mut &[u8], depth: u32) -> Option<()> {
    if depth > DEPTH_MAX {
        return None;
    }
    match kind {
        Kind::TRUE | Kind::FALSE => Some(()),
        Kind::BYTE => take(input, 1),
        Kind::I16..=Kind::I64 => varint(input).map(drop),
        Kind::DOUBLE => take(input, 8),
        Kind::BINARY => {
            let bytes = varint(input)?;
            take(input, bytes)
        }
        Kind::LIST | Kind::SET => {
            let header = byte(input)?;
            let items = if header >> 4 == 15 { varint(input)? } else { u64::from(header >> 4) };
            skip_items(items, &[header & 15], input, depth)
        }
        Kind::MAP => {
            let items = varint(input)?;
            let kinds = if items == 0 { 0 } else { byte(input)? };
            skip_items(items, &[kinds >> 4, kinds & 15], input, depth)
        }
        Kind::STRUCT => loop {
            match byte(input)? {
                0 => return Some(()),
                field => {
                    if field >> 4 == 0 {
                        varint(input)?;
                    }
                    skip(field & 15, input, depth + 1)?;
                }
            }
        },
        _ => None,
    }
}

/// Moves past items that consist of one value of each kind.
fn skip_items(items: u64, kinds: &[u8], input: &mut &[u8], depth: u32) -> Option<()> {
    if items > input.len() as u64 {
        return None;
    }
    for _ in 0..items {
        for kind in kinds {
            // Only as a field has a truth value no byte of its own.
            let kind = if *kind == Kind::FALSE { Kind::BYTE } else { (*kind).max(Kind::FALSE + 1) };
            skip(kind, input, depth + 1)?;
        }
    }
    Some(())
}

fn byte(input: &mut &[u8]) -> Option<u8> {
    let (first, rest) = input.split_first()?;
    *input = rest;
    Some(*first)
}

fn take(input: &mut &[u8], bytes: u64) -> Option<()> {
    *input = input.get(usize::try_from(bytes).ok()?..)?;
    Some(())
}

fn varint(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(input)?;
        value |= u64::from(next & 0x7f) << shift;
        if next & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is only a footer.
    fn check_footer(footer: &[u8]) -> Result<(), String> {
        let length = (footer.len() as u32).to_le_bytes();
        check(&Bytes::from([b"PAR1", footer, &length, b"PAR1"].concat()))
    }

    #[test]
    fn every_type_is_passed() {
        let structure = [
            &[0x15, 0x02][..],               // 1: i32
            &[0x11, 0x12],                   // 2, 3: true, false
            &[0x13, 0xff],                   // 4: byte
            &[0x17, 1, 2, 3, 4, 5, 6, 7, 8], // 5: double
            &[0x18, 2, b'o', b'k'],          // 6: binary
            &[0x19, 0x21, 1, 2],             // 7: list of two truth values
            &[0x19, 0x1c, 0x16, 0x7f, 0],    // 8: list of a structure of an i64
            &[0x1b, 1, 0x58, 3, 1, b'a'],    // 9: map of an i32 to a binary
            &[0x1b, 0],                      // 10: empty map
            &[0x0c, 0x80, 0x01, 0, 0],       // 64, in the long form: an empty structure
        ]
        .concat();
        assert_eq!(check_footer(&structure), Ok(()));
        for end in 0..structure.len() {
            assert!(check_footer(&structure[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn claims_beyond_the_footer_are_refused() {
        let deep = [[0x1c; 40], [0; 40]].concat();
        let claims: [&[u8]; 4] = [
            &[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0],
            &[0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 0],
            &[0x1b, 0xff, 0xff, 0x03, 0x55, 0, 0],
            &deep,
        ];
        for footer in claims {
            let error = check_footer(footer).unwrap_err();
            assert!(error.contains("claims more than its"), "{error}");
        }
    }

    #[test]
    fn what_has_no_footer_is_left_to_the_library() {
        for bytes in [&b""[..], b"PAR1", b"PAR1\xff\xff\xff\xffPAR1"] {
            assert_eq!(check(&Bytes::copy_from_slice(bytes)), Ok(()));
        }
    }
}
