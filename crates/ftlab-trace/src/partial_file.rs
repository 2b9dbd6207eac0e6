//! Files that appear under their name only when they are complete.

use crate::error::{TraceError, room};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What follows the name of a file until it is complete.
const ENDING: &str = ".partial";

/// A file that takes long to write: under a provisional name (`NAME.partial`), removed again unless
/// it is completed. One process at a time writes it; a second one is refused.
///
/// What cannot be written a second time, such as a recording, is not removed if the disk is full.
///
/// Completing it replaces a regular file, and nothing else: devices, pipes and directories are
/// refused, and a symbolic link stays and gives way to the file that it leads to.
#[derive(Debug)]
pub struct PartialFile {
    name: String,
    path: PathBuf,
    partial_path: PathBuf,
    /// Locked; the system unlocks it even if the process is killed.
    file: Option<File>,
    /// Whether a part is better than nothing.
    keeps_part: bool,
}

impl PartialFile {
    /// Begins the file that will be at `path`.
    pub fn create(path: &Path) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let path = regular(path)?;
        let partial_path = regular(&Self::provisional(&path))?;
        let file = lock(&partial_path, &name)?;
        file.set_len(0).map_err(|error| TraceError::io(&name, error))?;
        Ok(Self { name, path, partial_path, file: Some(file), keeps_part: false })
    }

    /// Keeps what is written of it even if it cannot be completed.
    #[cfg(feature = "write")]
    #[must_use]
    pub(crate) fn keeping_part(mut self, keeps_part: bool) -> Self {
        self.keeps_part = keeps_part;
        self
    }

    /// Whether that is so.
    #[cfg(feature = "write")]
    pub(crate) fn keeps_part(&self) -> bool {
        self.keeps_part
    }

    /// The name that the file at `path` has until it is complete.
    pub fn provisional(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(ENDING);
        name.into()
    }

    /// The provisional name of the file to which `path` links.
    pub(crate) fn provisional_of(path: &Path) -> PathBuf {
        Self::provisional(&fs::canonicalize(path).unwrap_or_else(|_| path.into()))
    }

    /// Whether a file of this name was not completed.
    pub(crate) fn is_provisional(name: &str) -> bool {
        name.ends_with(ENDING)
    }

    /// The name that a file would have if it had been completed.
    pub(crate) fn finished(name: &str) -> &str {
        name.strip_suffix(ENDING).unwrap_or(name)
    }

    /// The name that was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A second handle of the file for the writer of its content.
    pub fn handle(&self) -> io::Result<File> {
        self.file.as_ref().ok_or(io::ErrorKind::NotFound)?.try_clone()
    }

    /// Gives the file its name.
    pub fn complete(mut self) -> Result<(), TraceError> {
        match self.rename() {
            Ok(()) => self.file = None,
            Err(error) => return Err(self.not_written(error, Some("all of it"))),
        }
        Ok(())
    }

    fn rename(&self) -> io::Result<()> {
        // Disks of other machines say only then that they are full.
        self.file.as_ref().map_or(Ok(()), File::sync_data)?;
        fs::rename(&self.partial_path, &self.path)
    }

    /// Why the file cannot be completed. The `part` that is in it stays under the provisional name, if it
    /// is to be kept.
    pub(crate) fn not_written(&mut self, source: io::Error, part: Option<&str>) -> TraceError {
        let Some(part) = part.filter(|_| self.keeps_part) else {
            return TraceError::io(&self.name, source);
        };
        self.file = None;
        let remedy = room(&source).unwrap_or("check its disk");
        let partial = self.partial_path.display();
        let left = format!(
            "{partial} keeps {part}, and `ftlab convert {partial} FILE.parquet` makes a trace of \
             that; {remedy}"
        );
        TraceError::NotWritten { name: self.name.clone(), source, left }
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // Nothing can be done here about a file that cannot be removed.
            let _ = fs::remove_file(&self.partial_path);
        }
    }
}

/// Refuses to begin a file whose beginning a killed process has left, and which may be worth more than
/// its place.
pub fn check_unfinished(path: &Path) -> Result<(), TraceError> {
    let partial = PartialFile::provisional_of(path);
    if !fs::metadata(&partial).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return Ok(());
    }
    lock(&partial, &path.display().to_string())?;
    let name = partial.display();
    Err(TraceError::Unsupported {
        what: format!("{name} is a recording that was not finished"),
        remedy: format!(
            "keep what it has with `ftlab convert {name} FILE.parquet`, and then delete it"
        ),
    })
}

/// Writes a file in one go, so that it is complete or not there. Of several processes that do so at
/// once, the last one wins. What is replaced is as with [`PartialFile`].
pub fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), TraceError> {
    NewFile::write(path, write)?.take_place()
}

/// A file that is written, and waits under a name of its own to take its place; it is removed if it does
/// not.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl NewFile {
    /// Writes the file that will be at `path`.
    pub fn write(
        path: &Path,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<Self, TraceError> {
        let (mut file, path) = beside(path)?;
        // Disks of other machines say only when it is to be durable that they are full.
        write(file.as_file_mut())
            .and_then(|()| file.as_file().sync_data())
            .map_err(|error| TraceError::io(&path.display().to_string(), error))?;
        Ok(Self { file, path })
    }

    /// Replaces what is at its path.
    pub fn take_place(self) -> Result<(), TraceError> {
        let Self { file, path } = self;
        let persisted = file.persist(&path);
        persisted.map_err(|error| TraceError::io(&path.display().to_string(), error.error))?;
        Ok(())
    }
}

/// Finds out, by trying, whether a small file can be written at `path`; leaves what is there alone.
pub fn check_file(path: &Path) -> Result<(), TraceError> {
    NewFile::write(path, |file| file.write_all(&[0; 4096])).map(drop)
}

/// Whether both names lead to the same file, through links of any kind.
#[cfg(feature = "write")]
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    let both = fs::metadata(one).and_then(|one| Ok((one, fs::metadata(other)?)));
    both.is_ok_and(|(one, other)| identity(&one) == identity(&other))
}

/// A file under a name of its own in the directory of `path`, and where it is to be.
fn beside(path: &Path) -> Result<(NamedTempFile, PathBuf), TraceError> {
    let path = regular(path)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let file = tempfile::Builder::new()
        .prefix(".ftlab-")
        // What the user's umask leaves of it, as for any other file.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory.unwrap_or(Path::new(".")))
        .map_err(|error| TraceError::io(&path.display().to_string(), error))?;
    Ok((file, path))
}

/// Opens and locks the file at `path`, under which the content of `name` is gathered.
fn lock(path: &Path, name: &str) -> Result<File, TraceError> {
    let failed = |error| TraceError::io(&path.display().to_string(), error);
    loop {
        let file = File::options().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                const BUSY: &str =
                    "another process is writing this file; wait for it, or choose another name";
                return Err(TraceError::io(name, io::Error::other(BUSY)));
            }
            Err(error) => return Err(failed(error.into())),
        }
        // Before it was locked, its previous owner may have given it its final name.
        let opened = file.metadata().map_err(failed)?;
        if fs::metadata(path).is_ok_and(|named| identity(&named) == identity(&opened)) {
            return Ok(file);
        }
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Where a file at `path` will be, all symbolic links followed; an error if something other than a
/// regular file is there.
fn regular(path: &Path) -> Result<PathBuf, TraceError> {
    let name = path.display().to_string();
    let refused = |what: &str| TraceError::Unsupported {
        what: format!("{name} is {what}, which a file would replace"),
        remedy: "name a regular file, or one that does not exist yet".into(),
    };
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            fs::canonicalize(path).map_err(|error| TraceError::io(&name, error))
        }
        Ok(metadata) if metadata.is_dir() => Err(refused("a directory")),
        Ok(_) => Err(refused("a device, pipe or socket")),
        Err(_) if path.is_symlink() => Err(refused("a symbolic link that leads nowhere")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.into()),
        Err(error) => Err(TraceError::io(&name, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(path: &Path, content: &[u8]) {
        let partial = PartialFile::create(path).unwrap();
        partial.handle().unwrap().write_all(content).unwrap();
        partial.complete().unwrap();
    }

    #[test]
    fn a_regular_file_is_replaced_when_the_new_one_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        write(&path, b"old");
        check_file(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write(&path, b"new");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["x"]);
    }

    #[test]
    fn a_directory_is_refused_and_nothing_is_left_behind() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("x")).unwrap();
        let error = PartialFile::create(&directory.path().join("x")).unwrap_err().to_string();
        assert!(error.contains("is a directory") && error.contains("regular file"), "{error}");
        assert_eq!(names(directory.path()), ["x"]);
    }

    #[test]
    fn a_failed_renaming_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let partial = PartialFile::create(&path).unwrap();
        fs::create_dir(&path).unwrap();
        partial.complete().unwrap_err();
        assert_eq!(names(directory.path()), ["x"]);
    }

    #[test]
    fn a_second_writer_is_refused_and_the_first_goes_on() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        let first = PartialFile::create(&path).unwrap();
        first.handle().unwrap().write_all(b"first").unwrap();
        let error = PartialFile::create(&path).unwrap_err().to_string();
        assert!(error.contains("x: another process is writing this file"), "{error}");
        first.complete().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write(&path, b"second");
        assert_eq!(fs::read(&path).unwrap(), b"second");
    }

    #[test]
    fn what_a_killed_process_left_is_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        fs::write(PartialFile::provisional(&path), b"longer than what follows").unwrap();
        write(&path, b"new");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["x"]);
    }

    #[test]
    fn many_writers_in_one_go_leave_the_content_of_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        std::thread::scope(|scope| {
            for letter in b'a'..b'i' {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..20 {
                        replace_file(path, |file| {
                            (0..64).try_for_each(|_| file.write_all(&[letter; 100]))
                        })
                        .unwrap();
                    }
                });
            }
        });
        let content = fs::read(&path).unwrap();
        assert!(content.len() == 6400 && content.iter().all(|letter| *letter == content[0]));
        assert_eq!(names(directory.path()), ["x"]);
    }

    #[test]
    fn a_file_has_the_permissions_of_any_other() {
        let directory = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| directory.path().join(name));
        replace_file(&one, |_| Ok(())).unwrap();
        fs::write(&other, b"").unwrap();
        assert_eq!(
            fs::metadata(one).unwrap().permissions(),
            fs::metadata(other).unwrap().permissions()
        );
    }

    #[test]
    fn a_link_stays_and_its_file_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| directory.path().join(name));
        write(&file, b"old");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new");
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        fs::remove_file(&file).unwrap();
        let error = PartialFile::create(&link).unwrap_err().to_string();
        assert!(error.contains("leads nowhere"), "{error}");
        assert!(link.is_symlink());
    }

    #[test]
    fn a_pipe_is_refused_directly_and_behind_a_link() {
        use std::os::unix::fs::FileTypeExt;

        let directory = tempfile::tempdir().unwrap();
        let [pipe, link] = ["pipe", "link"].map(|name| directory.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link] {
            let error = PartialFile::create(path).unwrap_err().to_string();
            assert!(error.contains("is a device, pipe or socket"), "{error}");
            replace_file(path, |_| Ok(())).unwrap_err();
        }
        assert!(fs::metadata(&link).unwrap().file_type().is_fifo() && link.is_symlink());
        assert_eq!(names(directory.path()), ["link", "pipe"]);
    }
}
