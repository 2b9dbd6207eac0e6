//! Archives: the one file in them.

use super::content::{Content, Counted, Packed, Progress, READ_BYTES, Stream};
use crate::TraceError;
use bytes::Bytes;
use flate2::Crc;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use tar::{Archive, EntryType};
use zip::{CompressionMethod, ZipArchive};

const BLOCK_BYTES: u64 = 512;
/// Names of files that a message shows.
const SHOWN: usize = 5;

/// The file of an archive, and its name there.
type Found = (Stream, Option<String>);

/// Whether a file of this name only accompanies others: macOS adds such.
fn is_companion(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    name.starts_with("__MACOSX/") || file.starts_with("._") || file == ".DS_Store"
}

/// What is wrong with an archive of several files.
fn several(files: &[String]) -> String {
    let more = if files.len() > SHOWN { ", ..." } else { "" };
    let shown = files[..files.len().min(SHOWN)].join(", ");
    format!("holds several files ({shown}{more}), and a trace is one")
}

fn has_several(name: &str, files: &[String], command: &str) -> TraceError {
    TraceError::Unsupported {
        what: format!("{name} {}", several(files)),
        remedy: format!("unpack it and name the one that you mean: {command} {name}"),
    }
}

fn has_none(name: &str) -> TraceError {
    TraceError::Damaged {
        name: name.into(),
        what: "the archive holds no file".into(),
        remedy: "check that it is complete".into(),
    }
}

/// The file in a tar archive.
pub(super) fn open_tar(name: &str, packed: Stream) -> Result<Found, TraceError> {
    let mut archive = Archive::new(packed);
    let file = next_file(&mut archive).map_err(|error| TraceError::io(name, error))?;
    let Some((member, bytes)) = file else { return Err(has_none(name)) };
    let data = Some(archive.into_inner().take(bytes));
    let file = OnlyFile { member: member.clone(), bytes, data };
    Ok((Box::new(file), Some(member)))
}

/// The name and size of the next file; its bytes come next.
fn next_file<R: Read>(archive: &mut Archive<R>) -> io::Result<Option<(String, u64)>> {
    for entry in archive.entries()? {
        let entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        match entry.header().entry_type() {
            EntryType::GNUSparse => {
                return Err(io::Error::other(format!(
                    "{name} has holes; unpack the archive first"
                )));
            }
            EntryType::Regular | EntryType::Continuous if !is_companion(&name) => {
                return Ok(Some((name, entry.size())));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The bytes of a file in a tar archive; an error after them if there is another file.
struct OnlyFile {
    member: String,
    bytes: u64,
    /// Until its end.
    data: Option<io::Take<Stream>>,
}

impl Read for OnlyFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(data) = &mut self.data else { return Ok(0) };
        let bytes = data.read(buffer)?;
        if bytes > 0 || buffer.is_empty() {
            return Ok(bytes);
        }
        if data.limit() > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let rest = self.data.take().map(io::Take::into_inner);
        rest.map_or(Ok(0), |rest| self.check_rest(rest).map(|()| 0))
    }
}

impl OnlyFile {
    /// An error if there is another file in what follows.
    fn check_rest(&self, mut rest: Stream) -> io::Result<()> {
        let padding = self.bytes.next_multiple_of(BLOCK_BYTES) - self.bytes;
        io::copy(&mut rest.by_ref().take(padding), &mut io::sink())?;
        match next_file(&mut Archive::new(rest))? {
            None => Ok(()),
            Some((other, _)) => {
                let files = [self.member.clone(), other];
                let what = several(&files);
                Err(io::Error::other(format!(
                    "it {what}; unpack it and name the one that you mean: tar xf"
                )))
            }
        }
    }
}

/// Bytes in any order.
trait AnyOrder: Read + Seek + Send {}

impl<T: Read + Seek + Send> AnyOrder for T {}

/// The file in a ZIP archive, which is read in any order: its list of files is at the end.
pub(super) fn open_zip(
    name: &str,
    whole: Option<&Content>,
    progress: &Progress,
) -> Result<Found, TraceError> {
    let damaged = |error: String| TraceError::Damaged {
        name: name.into(),
        what: format!("not a readable ZIP archive: {error}"),
        remedy: "check that it is complete, or unpack it first".into(),
    };
    let bytes: Box<dyn AnyOrder> = match whole {
        Some(Content::File(file)) => Box::new(BufReader::new(clone(file, name)?)),
        Some(Content::Memory(bytes)) => Box::new(Cursor::new(Bytes::clone(bytes))),
        _ => {
            return Err(TraceError::Unsupported {
                what: format!(
                    "{name}: a ZIP archive cannot be read from a stream, or in another container"
                ),
                remedy: "unpack it to a file first: unzip".into(),
            });
        }
    };
    let mut archive = ZipArchive::new(bytes).map_err(|error| damaged(error.to_string()))?;
    let files: Vec<_> = archive.file_names().map(str::to_owned).collect();
    let is_file = |file: &String| !file.ends_with('/') && !is_companion(file);
    let files: Vec<_> = files.into_iter().filter(is_file).collect();
    let [member] = &files[..] else {
        return Err(if files.is_empty() {
            has_none(name)
        } else {
            has_several(name, &files, "unzip")
        });
    };
    let index = archive.index_for_name(member).unwrap_or(0);
    let entry = archive.by_index_raw(index).map_err(|error| damaged(error.to_string()))?;
    if entry.encrypted() {
        return Err(TraceError::Unsupported {
            what: format!("{name}: {member} is encrypted"),
            remedy: "unpack it first: unzip".into(),
        });
    }
    let (method, sum, packed_bytes) = (entry.compression(), entry.crc32(), entry.compressed_size());
    let Some(start) = entry.data_start() else {
        return Err(damaged(format!("it does not say where {member} begins")));
    };
    drop(entry);
    let mut bytes = archive.into_inner();
    bytes.seek(SeekFrom::Start(start)).map_err(|error| TraceError::io(name, error))?;
    let packed: Stream = Box::new(Counted::new(bytes.take(packed_bytes), progress.clone().reset()));
    let bytes = unpacked(Packed::with_capacity(READ_BYTES, packed), method, name, member)?;
    Ok((Box::new(Checked { bytes, crc: Crc::new(), sum }), Some(member.clone())))
}

/// What a member of a ZIP archive holds, which is packed by one of several methods.
fn unpacked(
    packed: Packed,
    method: CompressionMethod,
    name: &str,
    member: &str,
) -> Result<Stream, TraceError> {
    Ok(match method {
        CompressionMethod::STORE => Box::new(packed),
        CompressionMethod::DEFLATE => Box::new(flate2::bufread::DeflateDecoder::new(packed)),
        CompressionMethod::BZIP2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
        CompressionMethod::XZ => Box::new(lzma_rust2::XzReader::new(packed, true)),
        CompressionMethod::ZSTD => {
            let unpacked = zstd::stream::read::Decoder::with_buffer(packed);
            Box::new(unpacked.map_err(|error| TraceError::io(name, error))?)
        }
        other => {
            return Err(TraceError::Unsupported {
                what: format!(
                    "{name}: {member} is packed by a method of ZIP that is not read ({other})"
                ),
                remedy: "unpack it first: unzip".into(),
            });
        }
    })
}

fn clone(file: &File, name: &str) -> Result<File, TraceError> {
    file.try_clone().map_err(|error| TraceError::io(name, error))
}

/// Bytes whose checksum is known.
struct Checked {
    bytes: Stream,
    crc: Crc,
    sum: u32,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.read(buffer)?;
        self.crc.update(&buffer[..bytes]);
        if bytes == 0 && !buffer.is_empty() && self.crc.sum() != self.sum {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the checksum of the file in the archive is wrong; it is damaged",
            ));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Compression, Input};
    use std::io::{Cursor, Read, Write};

    fn read(bytes: Vec<u8>) -> Result<(String, Compression, String), String> {
        let input = Input::from_bytes("t", bytes).map_err(|error| error.to_string())?;
        let (compression, name) = (input.compression(), input.inner_name().to_owned());
        let mut text = String::new();
        input.into_reader().read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok((text, compression, name))
    }

    fn tar(files: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, text) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            let is_folder = name.ends_with('/');
            header.set_entry_type(if is_folder {
                tar::EntryType::Directory
            } else {
                tar::EntryType::Regular
            });
            builder.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn zip(files: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in files {
            let options = zip::write::SimpleFileOptions::default()
                .compression_method(zip::CompressionMethod::STORE);
            writer.start_file(*name, options).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    const LONG: &str = "a/very/long/name/of/a/trace/that/does/not/fit/into/the/hundred/bytes/that/a/header/of/an/archive/has.csv";

    #[test]
    fn the_one_file_of_an_archive_is_read() {
        let text = "W,4096\n".repeat(30_000);
        for name in ["t.csv", LONG] {
            let files =
                [("folder/", ""), ("._t.csv", "macOS"), (name, text.as_str()), ("__MACOSX/t", "x")];
            let plain = tar(&files);
            assert_eq!(
                read(gzip(&plain)).unwrap(),
                (text.clone(), Compression::Gzip, name.to_owned())
            );
            assert_eq!(read(plain).unwrap(), (text.clone(), Compression::Tar, name.to_owned()));
            let packed = zip(&files[1..]);
            assert_eq!(read(packed).unwrap(), (text.clone(), Compression::Zip, name.to_owned()));
        }
    }

    #[test]
    fn several_files_or_none_are_refused() {
        let big = "W,4096\n".repeat(30_000);
        for second in ["W,0\n", big.as_str()] {
            let files = [("a.csv", second), ("b.csv", "W,4096\n")];
            for (bytes, command) in [(tar(&files), "tar xf"), (zip(&files), "unzip")] {
                let error = read(bytes).unwrap_err();
                assert!(
                    error.contains(" holds several files (a.csv, b.csv), and a trace is one"),
                    "{error}"
                );
                assert!(error.contains(command), "{error}");
            }
        }
        for bytes in [tar(&[("folder/", "")]), zip(&[])] {
            let error = read(bytes).unwrap_err();
            assert!(error.contains("the archive holds no file"), "{error}");
        }
    }

    #[test]
    fn damaged_archives_are_errors() {
        let files = [("t.csv", "W,4096\n")];
        let plain = tar(&files);
        read(plain[..515].to_vec()).unwrap_err();
        let packed = zip(&files);
        let error = read(packed[..packed.len() - 10].to_vec()).unwrap_err();
        assert!(error.contains("not a readable ZIP archive"), "{error}");
        let at = packed.windows(7).position(|bytes| bytes == b"W,4096\n").unwrap();
        let mut other = packed;
        other[at] = b'R';
        let error = read(other).unwrap_err();
        assert!(error.contains("the checksum of the file in the archive is wrong"), "{error}");
    }

    #[test]
    fn a_zip_archive_is_no_stream() {
        let packed = zip(&[("t.csv", "W,4096\n")]);
        for bytes in [gzip(&packed), zstd::encode_all(&packed[..], 1).unwrap()] {
            let error = read(bytes).unwrap_err();
            assert!(error.contains("a ZIP archive cannot be read from a stream"), "{error}");
        }
        let error = Input::from_reader("t", Cursor::new(packed)).err().unwrap().to_string();
        assert!(error.contains("a ZIP archive cannot be read from a stream"), "{error}");
    }

    #[test]
    fn what_bzip2_and_xz_write_is_read() {
        const BZIP2: &[u8] = b"BZh91AY&SY\xc0\x9cZ\xce\x00\x00\t[\x80\x00\x10\x00\x04E \x00\x80\x03\x05\xc0\
            \x00 \x001\x00\xd0\x01\rC\xd4\xf5=G\xa9\xd2\x8b\x8b\x81\x97\xe57\x01\xcf\xc5\xdc\x91N\x14$0'\x16\xb3\x80";
        const XZ: &[u8] = b"\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\x02\x00!\x01\x16\x00\x00\x00t/\xe5\xa3\x01\x00\x13\
            op,off,len\nW,0,4096\n\x00\xa5\xbb\x91\x12U\xaeA\xfc\x00\x01,\x14\xf8\nm\x03\x1f\xb6\xf3}\
            \x01\x00\x00\x00\x00\x04YZ";
        let text = b"op,off,len\nW,0,4096\n";
        for packed in [BZIP2, XZ] {
            let twice = [packed, packed].concat();
            assert_eq!(read(packed.to_vec()).unwrap().0.as_bytes(), text);
            assert_eq!(read(twice).unwrap().0.len(), 2 * text.len());
        }
    }
}
