//! Repairing a drive in its file.

use crate::drive::check::Checked;
use crate::drive::opening::{How, MayLose};
use crate::drive::{Drive, OpenOptions, Recovery};
use crate::media::MediaError;
use std::path::Path;

/// What [`check`](crate::drive::check) would say of a drive after [`repair`]: what can no longer be read of the
/// journal is cut off.
pub fn check_repaired(path: &Path) -> Result<Checked, MediaError> {
    let how = How { may_lose: MayLose::Operations, ..How::AS_IT_IS };
    Drive::check_with(&super::check::open_shared(path)?, how)
}

/// Opens a drive with what can be read of its journal, and writes its structures anew: what
/// is known to be damaged when it is opened, and both checkpoints.
pub fn repair(path: &Path) -> Result<Recovery, MediaError> {
    let options = OpenOptions { salvage: true, ..OpenOptions::default() };
    let drive = Drive::open(path, options)?;
    if let Some(reason) = drive.read_only() {
        return Err(MediaError::Unwritable(reason));
    }
    let failed = |error| MediaError::io("write a checkpoint", error);
    for _ in 0..2 {
        drive.checkpoint().map_err(failed)?;
    }
    let recovery = drive.recovery().clone();
    drive.close().map_err(failed)?;
    Ok(recovery)
}
