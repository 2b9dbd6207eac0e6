//! What bytes are packed in, by their beginning, and what is in it.

use super::content::{Content, HEAD_BYTES, Packed, Progress, READ_BYTES, Stream, Torn, read_up_to};
use crate::{PartialFile, TraceError};
use lz4_flex::frame::FrameDecoder;
use std::io::{self, BufRead, Cursor, Read};

/// Containers in containers; more are a sign of a file that is made to unpack without end.
const LAYERS_MAX: usize = 4;

/// How the bytes of a file are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, with one or more members.
    Gzip,
    /// Zstandard, with one or more frames.
    Zstd,
    /// LZ4, with one or more frames.
    Lz4,
    /// bzip2, with one or more streams.
    Bzip2,
    /// XZ, with one or more streams.
    Xz,
    /// A tar archive.
    Tar,
    /// A ZIP archive.
    Zip,
}

/// What is packed in nothing more.
pub(super) struct Unpacked {
    /// What follows the head.
    pub(super) bytes: Stream,
    pub(super) head: Vec<u8>,
    /// What was on the outside.
    pub(super) compression: Compression,
    /// The name in the innermost archive.
    pub(super) member: Option<String>,
}

/// Packers by how their files begin, with how they are unpacked by hand: those that are not read.
const UNREAD: [(&[u8], &str, &str); 8] = [
    (b"\x5d\0\0\x80\0\xff\xff\xff\xff", "LZMA", "lzma -d"),
    (b"\x02\x21\x4c\x18", "LZ4 in its old form", "lz4 -d"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip", "7z x"),
    (b"Rar!\x1a\x07", "RAR", "unrar x"),
    (b"LZIP\x01", "lzip", "lzip -d"),
    (b"\x89LZO\x00\r\n\x1a\n", "lzop", "lzop -d"),
    (b"\xff\x06\x00\x00sNaPpY", "framed Snappy", "snzip -d"),
    (b"\x1f\x9d\x90", "compress", "uncompress"),
];

impl Compression {
    /// What a file that begins with `head` is packed in.
    fn of(head: &[u8]) -> Self {
        const BZIP2_BLOCK: &[u8] = &[0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
        const BZIP2_END: &[u8] = &[0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
        let is_skippable = |head: &[u8]| head[0] & 0xf0 == 0x50 && head[1..] == [0x2a, 0x4d, 0x18];
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ if head.len() >= 4 && is_skippable(&head[..4]) => Self::Zstd,
            [0x04, 0x22, 0x4d, 0x18, ..] => Self::Lz4,
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
                if rest.starts_with(BZIP2_BLOCK) || rest.starts_with(BZIP2_END) =>
            {
                Self::Bzip2
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            _ if is_tar(head) => Self::Tar,
            _ => Self::None,
        }
    }
}

/// Whether `head` begins with the header of a file in a tar archive, which has a sum of its bytes.
fn is_tar(head: &[u8]) -> bool {
    const SUM: std::ops::Range<usize> = 148..156;
    let Some(header) = head.get(..512).filter(|header| header[0] != 0) else { return false };
    let digits = header[SUM].trim_ascii().iter().take_while(|byte| **byte != 0 && **byte != b' ');
    let told = digits.clone().try_fold(0_u64, |sum, digit| {
        (b'0'..=b'7').contains(digit).then(|| sum * 8 + u64::from(digit - b'0'))
    });
    let sum = |range: &[u8]| range.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    let blanks = SUM.len() as u64 * u64::from(b' ');
    digits.count() > 0 && told == Some(sum(header) - sum(&header[SUM]) + blanks)
}

/// Takes off everything that `bytes` are packed in; `whole` is where they can be read in any order.
pub(super) fn unpack(
    name: &str,
    mut bytes: Stream,
    whole: Option<&Content>,
    progress: &Progress,
) -> Result<Unpacked, TraceError> {
    let io_error = |error| TraceError::io(name, error);
    let mut head = read_up_to(&mut bytes, HEAD_BYTES).map_err(io_error)?;
    let may_be_torn = PartialFile::is_provisional(name);
    let mut layers = Vec::new();
    let mut member = None;
    loop {
        let layer = Compression::of(&head);
        if layer == Compression::None {
            break;
        }
        if layers.len() == LAYERS_MAX {
            return Err(TraceError::Unsupported {
                what: format!("{name} is packed more than {LAYERS_MAX} times"),
                remedy: "unpack it first".into(),
            });
        }
        let whole = whole.filter(|_| layers.is_empty());
        let packed: Stream = Box::new(Cursor::new(head).chain(bytes));
        let packed = Packed::with_capacity(READ_BYTES, packed);
        let (unpacked, inner) = layer.open(name, packed, whole, progress)?;
        member = inner.or(member);
        layers.push(layer);
        bytes = if may_be_torn { Box::new(Torn(unpacked)) } else { unpacked };
        head = read_up_to(&mut bytes, HEAD_BYTES).map_err(io_error)?;
    }
    refuse_unread(name, &head)?;
    let compression = layers.first().copied().unwrap_or(Compression::None);
    Ok(Unpacked { bytes, head, compression, member })
}

fn refuse_unread(name: &str, head: &[u8]) -> Result<(), TraceError> {
    match UNREAD.iter().find(|(magic, ..)| head.starts_with(magic)) {
        None => Ok(()),
        Some((_, packer, command)) => Err(TraceError::Unsupported {
            what: format!("{name} is packed with {packer}, which is not read"),
            remedy: format!("unpack it first: {command} {name}"),
        }),
    }
}

impl Compression {
    /// What is in `packed`, with its name if that is told.
    fn open(
        self,
        name: &str,
        packed: Packed,
        whole: Option<&Content>,
        progress: &Progress,
    ) -> Result<(Stream, Option<String>), TraceError> {
        let bytes: Stream = match self {
            Self::None => Box::new(packed),
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            #[cfg(feature = "zstd")]
            Self::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(packed);
                Box::new(decoder.map_err(|error| TraceError::io(name, error))?)
            }
            Self::Lz4 => Box::new(Frames(FrameDecoder::new(packed))),
            #[cfg(not(feature = "zstd"))]
            Self::Zstd => return self.open_container(name, packed, whole, progress),
            Self::Bzip2 | Self::Xz | Self::Tar | Self::Zip => {
                return self.open_container(name, packed, whole, progress);
            }
        };
        Ok((bytes, None))
    }

    #[cfg(feature = "containers")]
    fn open_container(
        self,
        name: &str,
        packed: Packed,
        whole: Option<&Content>,
        progress: &Progress,
    ) -> Result<(Stream, Option<String>), TraceError> {
        use super::archive;
        match self {
            Self::Bzip2 => Ok((Box::new(bzip2::bufread::MultiBzDecoder::new(packed)), None)),
            Self::Tar => archive::open_tar(name, Box::new(packed)),
            Self::Zip => archive::open_zip(name, whole, progress),
            _ => Ok((Box::new(lzma_rust2::XzReader::new(packed, true)), None)),
        }
    }

    #[cfg(not(feature = "containers"))]
    fn open_container(
        self,
        name: &str,
        _packed: Packed,
        _whole: Option<&Content>,
        _progress: &Progress,
    ) -> Result<(Stream, Option<String>), TraceError> {
        let (packer, command) = match self {
            Self::Bzip2 => ("bzip2", "bzip2 -dk"),
            Self::Tar => ("tar", "tar xf"),
            Self::Zip => ("ZIP", "unzip"),
            Self::Zstd => ("Zstandard", "zstd -d"),
            _ => ("XZ", "xz -dk"),
        };
        Err(TraceError::Unsupported {
            what: format!(
                "{name} is packed with {packer}, and this build of ftlab leaves that out"
            ),
            remedy: format!(
                "unpack it first ({command} {name}), or build ftlab with everything: cargo install \
                 --path crates/ftlab-cli --features full"
            ),
        })
    }
}

/// All frames of LZ4.
struct Frames<R: Read>(FrameDecoder<R>);

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let bytes = self.0.read(buffer)?;
            if bytes > 0 || buffer.is_empty() || self.0.get_mut().fill_buf()?.is_empty() {
                return Ok(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;
    use std::io::Write;

    fn read(bytes: Vec<u8>) -> Result<(String, Compression), String> {
        let input = Input::from_bytes("t", bytes).map_err(|error| error.to_string())?;
        let compression = input.compression();
        let mut text = String::new();
        input.into_reader().read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok((text, compression))
    }

    fn lz4(text: &str) -> Vec<u8> {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn all_frames_of_lz4_are_read() {
        let frames = [lz4("op,off\n"), lz4(&"W,4096\n".repeat(20_000))].concat();
        let (text, compression) = read(frames).unwrap();
        assert_eq!((text.len(), compression), (7 + 7 * 20_000, Compression::Lz4));
    }

    #[test]
    fn layers_are_taken_off_and_counted() {
        let mut packed = b"W,4096\n".to_vec();
        for layer in 1..=LAYERS_MAX {
            packed = zstd::encode_all(&packed[..], 1).unwrap();
            assert_eq!(read(packed.clone()).unwrap().0, "W,4096\n", "{layer}");
        }
        let error = read(zstd::encode_all(&packed[..], 1).unwrap()).unwrap_err();
        assert_eq!(error, "t is packed more than 4 times; unpack it first");
    }

    #[test]
    fn what_is_not_read_is_named() {
        for (magic, packer, command) in UNREAD {
            let error = read([magic, &[0; 64]].concat()).unwrap_err();
            assert!(error.contains(packer) && error.ends_with(&format!("{command} t")), "{error}");
        }
    }

    #[cfg(not(feature = "containers"))]
    #[test]
    fn what_is_left_out_is_named_with_its_remedies() {
        let error = read(b"BZh91AY&SY\0".to_vec()).unwrap_err();
        assert!(
            error.contains("packed with bzip2, and this build of ftlab leaves that out"),
            "{error}"
        );
        assert!(error.contains("bzip2 -dk t") && error.contains("--features full"), "{error}");
    }
}
