//! Files that appear under their name only when they are complete.

use crate::TraceError;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file under a provisional name, removed again unless it is completed.
///
/// Completing it replaces a regular file, and nothing else: devices, pipes and directories are
/// refused, and a symbolic link stays and gives way to the file that it leads to.
#[derive(Debug)]
pub struct PartialFile {
    name: String,
    path: PathBuf,
    partial_path: PathBuf,
    file: Option<File>,
}

impl PartialFile {
    /// Begins the file that will be at `path`.
    pub fn create(path: &Path) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let path = regular(path)?;
        let mut partial_path = path.as_os_str().to_owned();
        partial_path.push(".partial");
        let partial_path = regular(Path::new(&partial_path))?;
        let file = File::create(&partial_path)
            .map_err(|error| TraceError::io(&partial_path.display().to_string(), error))?;
        Ok(Self { name, path, partial_path, file: Some(file) })
    }

    /// Finds out, by trying, whether a file can be written at `path`; leaves what is there alone.
    pub fn check(path: &Path) -> Result<(), TraceError> {
        Self::create(path).map(drop)
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
        fs::rename(&self.partial_path, &self.path)
            .map_err(|error| TraceError::io(&self.name, error))?;
        self.file = None;
        Ok(())
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
    use std::io::Write;

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
        PartialFile::check(&path).unwrap();
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

    #[cfg(unix)]
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

    #[cfg(unix)]
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
        }
        assert!(fs::metadata(&link).unwrap().file_type().is_fifo() && link.is_symlink());
        assert_eq!(names(directory.path()), ["link", "pipe"]);
    }
}
