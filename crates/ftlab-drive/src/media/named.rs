//! A block of bytes whose fields have names: a magic, the version of the format, and a JSON text.
//!
//! ```text
//! magic, 8 bytes | version, 4 | length of the text, 4 | text | zeros | checksum, 4
//! ```

use crate::media::fields::{FieldReader, FieldWriter};
use crate::media::layout::HEADER_BYTES;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version of the format that this code writes.
pub(crate) const VERSION: u32 = 3;

/// That of a drive whose map is on flash, which has the map in its owners.
pub(crate) const NEWEST: u32 = 4;

/// The oldest version that it reads.
pub(crate) const OLDEST: u32 = 2;

/// Offset of the checksum of a block.
pub(crate) const CHECKSUM_AT: usize = HEADER_BYTES - 4;

/// Bytes before the text.
const TEXT_AT: usize = 16;

/// The block without its checksum, of a version of the format; `None` if the fields do not fit.
pub(crate) fn encode(magic: [u8; 8], version: u32, fields: &impl Serialize) -> Option<Vec<u8>> {
    let text = serde_json::to_vec(fields).ok()?;
    if text.len() > CHECKSUM_AT - TEXT_AT {
        return None;
    }
    let mut bytes = vec![0; HEADER_BYTES];
    let mut writer = FieldWriter::new(&mut bytes[..CHECKSUM_AT]);
    writer.put(&magic).u32(version).u32(text.len() as u32).put(&text);
    Some(bytes)
}

/// The fields of a block, whose checksum has been verified; `None` if one is missing. Fields that this version does not
/// know are passed over.
pub(crate) fn decode<T: DeserializeOwned>(magic: [u8; 8], bytes: &[u8]) -> Option<T> {
    let mut reader = FieldReader::new(bytes.get(..CHECKSUM_AT)?);
    if reader.take(8)? != magic || !(VERSION..=NEWEST).contains(&reader.u32()?) {
        return None;
    }
    let length = reader.u32()?;
    serde_json::from_slice(reader.take(length as usize)?).ok()
}

/// The version that a block states.
pub(crate) fn version(bytes: &[u8]) -> Option<u32> {
    FieldReader::new(bytes.get(8..)?).u32()
}
