//! What is in files, as hashes of all their bytes.
//!
//! A large file is read once: its hash is kept, in this program and for later ones, beside what would be different if
//! somebody had written to it since. A file that was written to a moment ago is read each time, since clocks of file
//! systems are coarse.

use crate::{TraceError, replace_file};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use twox_hash::XxHash3_128;

/// Files that are as large are worth a line; others are read as fast as the line.
const BYTES_MIN: u64 = 1 << 20;

/// Seconds for which a file has to be left alone before its times tell that it was.
const SETTLED: Duration = Duration::from_secs(2);

/// How often a file is read that is written to meanwhile.
const TRIES: u32 = 3;

/// Lines of the file of hashes, beyond which only the last ones are kept; and how many these are.
const LINES: (usize, usize) = (4096, 1024);

/// Bytes that are read at a time.
const READ_BYTES: usize = 1 << 20;

/// Hashes of whole files, each of which is read once.
#[derive(Debug, Default)]
pub struct Contents {
    /// Where they are kept for later programs.
    kept: Option<PathBuf>,
    known: Mutex<Option<Known>>,
}

type Known = HashMap<PathBuf, (Stamp, String)>;

/// What is different after somebody wrote to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    bytes: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    /// When anything about the file was changed; nobody sets this time back.
    changed: (i64, i64),
    inode: u64,
    device: u64,
}

/// A line of the file of hashes.
#[derive(Serialize, Deserialize)]
struct Line {
    path: PathBuf,
    stamp: Stamp,
    hash: String,
}

impl Stamp {
    /// That of a file, by its metadata.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
        }
    }

    /// Whether whatever is written after `now` makes another stamp.
    fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, nanoseconds) = self.modified.max(self.changed);
        let last = u64::try_from(seconds).ok().zip(u32::try_from(nanoseconds).ok());
        last.is_some_and(|(seconds, nanoseconds)| {
            now.checked_sub(Duration::new(seconds, nanoseconds)).is_some_and(|ago| ago >= SETTLED)
        })
    }
}

impl Contents {
    /// Hashes that this program alone remembers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Hashes that are kept in `file` for later programs. If it cannot be read or written, nothing is kept.
    pub fn kept_in(file: PathBuf) -> Self {
        Self { kept: Some(file), ..Self::default() }
    }

    /// Hashes that are kept in the user's folder for such things: `$XDG_CACHE_HOME/ftlab`, or `~/.cache/ftlab`.
    pub fn of_user() -> Self {
        let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
        let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
        cache.map_or_else(Self::new, |cache| Self::kept_in(cache.join("ftlab/contents.jsonl")))
    }

    /// The XXH3-128 of all bytes of a file, as 32 hexadecimal digits.
    pub fn of(&self, path: &Path) -> Result<String, TraceError> {
        let failed = |error| TraceError::io(&path.display().to_string(), error);
        let place = fs::canonicalize(path).map_err(failed)?;
        for _ in 0..TRIES {
            let now = SystemTime::now();
            let mut file = File::open(&place).map_err(failed)?;
            let stamp = Stamp::of(&file.metadata().map_err(failed)?);
            if let Some((of, hash)) = self.known().as_ref().and_then(|known| known.get(&place))
                && *of == stamp
            {
                return Ok(hash.clone());
            }
            let hash = hash(&mut file).map_err(failed)?;
            if Stamp::of(&file.metadata().map_err(failed)?) != stamp {
                continue;
            }
            if stamp.bytes >= BYTES_MIN && stamp.is_settled(now) {
                self.keep(Line { path: place, stamp, hash: hash.clone() });
            }
            return Ok(hash);
        }
        Err(TraceError::Unsupported {
            what: format!("{}, which somebody writes to,", path.display()),
            remedy: "give a file that is finished".into(),
        })
    }

    /// What is known, read at the first question.
    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = Some(self.kept.as_deref().map(read).unwrap_or_default());
        }
        known
    }

    fn keep(&self, line: Line) {
        if let Some(file) = &self.kept
            && let Ok(text) = serde_json::to_string(&line)
        {
            // Whoever cannot keep it reads the file again.
            let _ = append(file, &text);
        }
        let known = &mut *self.known();
        known.get_or_insert_default().insert(line.path, (line.stamp, line.hash));
    }
}

/// The hash of all that is left to read.
fn hash(file: &mut impl Read) -> io::Result<String> {
    let mut hasher = XxHash3_128::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(format!("{:032x}", hasher.finish_128())),
            Ok(bytes) => hasher.write(&buffer[..bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Adds a line at once, so that lines of several programs do not mix.
fn append(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::options().create(true).append(true).open(file)?;
    file.write_all(format!("\n{text}\n").as_bytes())
}

/// What is in a file of hashes; lines that are damaged are passed over. Of a file that has become long, only the end
/// is left.
fn read(file: &Path) -> Known {
    let bytes = fs::read(file).unwrap_or_default();
    let lines: Vec<&[u8]> =
        bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let (most, kept) = LINES;
    let last = if lines.len() > most { &lines[lines.len() - kept..] } else { &lines };
    if last.len() < lines.len() {
        let mut text = last.join(&b'\n');
        text.push(b'\n');
        let _ = replace_file(file, |file| file.write_all(&text));
    }
    let lines = last.iter().filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    lines.map(|line| (line.path, (line.stamp, line.hash))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::FileTimes;
    use std::os::unix::fs::FileExt;

    /// A file of 2 MiB, and a place for hashes beside it.
    fn large() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("trace");
        fs::write(&path, vec![7; 2 << 20]).unwrap();
        let kept = place.path().join("cache/contents.jsonl");
        (place, path, kept)
    }

    /// Waits until the file was left alone for long enough.
    fn settle(path: &Path) {
        while !Stamp::of(&fs::metadata(path).unwrap()).is_settled(SystemTime::now()) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The hashes that are kept, after `change` was applied to the only line.
    fn tamper(kept: &Path, change: impl FnOnce(&mut Line)) {
        let text = fs::read_to_string(kept).unwrap();
        let mut line: Line = serde_json::from_str(text.trim()).unwrap();
        change(&mut line);
        fs::write(kept, serde_json::to_string(&line).unwrap()).unwrap();
    }

    #[test]
    fn every_byte_counts_and_neither_name_nor_times_do() {
        let (place, path, _) = large();
        let contents = Contents::new();
        let hash = contents.of(&path).unwrap();
        assert_eq!(hash, format!("{:032x}", XxHash3_128::oneshot(&vec![7; 2 << 20])));
        let copy = place.path().join("copy");
        fs::copy(&path, &copy).unwrap();
        assert_eq!(contents.of(&copy).unwrap(), hash);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_times(FileTimes::new().set_modified(UNIX_EPOCH)).unwrap();
        assert_eq!(contents.of(&path).unwrap(), hash);
        // One byte in the middle, within the same moment.
        file.write_all_at(b"8", 1 << 20).unwrap();
        assert_ne!(contents.of(&path).unwrap(), hash);
    }

    #[test]
    fn a_large_file_is_read_once_by_all_programs_unless_it_was_just_written_or_anything_differs() {
        let (_place, path, kept) = large();
        let hash = Contents::kept_in(kept.clone()).of(&path).unwrap();
        assert!(!kept.exists(), "it was written a moment ago");
        settle(&path);
        assert_eq!(Contents::kept_in(kept.clone()).of(&path).unwrap(), hash);
        let line = fs::read_to_string(&kept).unwrap();
        let is_read = || Contents::kept_in(kept.clone()).of(&path).unwrap() == hash;
        let told = |change: fn(&mut Line)| {
            fs::write(&kept, &line).unwrap();
            tamper(&kept, change);
            is_read()
        };
        assert!(!told(|line| line.hash = "other".into()), "the kept hash is what counts");
        assert!(told(|line| (line.hash, line.stamp.bytes) = ("other".into(), 1)));
        assert!(told(|line| (line.hash, line.stamp.modified.1) = ("other".into(), 1)));
        assert!(told(|line| (line.hash, line.stamp.changed.1) = ("other".into(), 1)));
        assert!(told(|line| (line.hash, line.stamp.inode) = ("other".into(), 1)));
        assert!(told(|line| (line.hash, line.stamp.device) = ("other".into(), 1 << 40)));
        fs::write(&kept, &line).unwrap();
        // With its time of modification set back, too.
        let (accessed, modified) = {
            let metadata = fs::metadata(&path).unwrap();
            (metadata.accessed().unwrap(), metadata.modified().unwrap())
        };
        let file = File::options().write(true).open(&path).unwrap();
        file.write_all_at(b"8", 1 << 20).unwrap();
        file.set_times(FileTimes::new().set_accessed(accessed).set_modified(modified)).unwrap();
        assert!(!is_read(), "it has another content");
    }

    #[test]
    fn damaged_lines_and_places_that_cannot_be_written_do_no_harm() {
        let (place, path, kept) = large();
        settle(&path);
        let hash = Contents::new().of(&path).unwrap();
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::write(&kept, b"{\"path\":\"/x\n\xff\xfe{}").unwrap();
        assert_eq!(Contents::kept_in(kept.clone()).of(&path).unwrap(), hash);
        assert_eq!(read(&kept).len(), 1, "a new line begins after what was torn");
        assert_eq!(Contents::kept_in(path.join("below")).of(&path).unwrap(), hash);
        let missing = Contents::new().of(&place.path().join("missing")).unwrap_err().to_string();
        assert!(missing.contains("missing"), "{missing}");
    }

    #[test]
    fn a_long_file_of_hashes_is_cut() {
        let place = tempfile::tempdir().unwrap();
        let kept = place.path().join("contents.jsonl");
        let stamp = Stamp { bytes: 1, modified: (2, 3), changed: (4, 5), inode: 6, device: 7 };
        let line = |number: usize| {
            let path = PathBuf::from(format!("/{number}"));
            serde_json::to_string(&Line { path, stamp, hash: number.to_string() }).unwrap()
        };
        let (most, left) = LINES;
        let lines: Vec<_> = (0..=most).map(line).collect();
        fs::write(&kept, lines.join("\n")).unwrap();
        let known = read(&kept);
        assert!(known.len() == left && known.contains_key(Path::new(&format!("/{most}"))));
        assert_eq!(read(&kept), known);
        assert!(fs::read_to_string(&kept).unwrap().lines().count() == left);
    }
}
