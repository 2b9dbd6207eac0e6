//! The programs that are measured, and those that they need.

use crate::common::Failure;
use std::path::PathBuf;

/// The programs needed.
pub(crate) struct Programs {
    /// The directory of our binaries: that of this one.
    pub(crate) own: PathBuf,
}

impl Programs {
    pub(super) fn find() -> Result<Self, Failure> {
        let this = std::env::current_exe()?;
        let own = this.parent().ok_or("this binary has no directory")?.to_owned();
        if !is_installed("fio") {
            return Err("fio is not installed (make setup-drive)".into());
        }
        Ok(Self { own })
    }
}

/// Whether a program is on the path.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
