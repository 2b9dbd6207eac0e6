//! Copies of a drive as it was at one moment, while the drive keeps working.
//!
//! ```text
//! locked:     from now on, a page that has not been copied is copied before it changes
//! in slices:  locked: read pages that have not been copied; then write them to the copy
//! locked:     the copy no longer follows
//! ```

use crate::drive::copying::Copying;
use crate::drive::core::Core;
use crate::drive::{CreateOptions, Drive, OpenOptions, sync_directory};
use crate::media::{MediaError, Superblock};
use crate::store::Store;
use ftlab_flash::Lpn;
use ftlab_spec::Spec;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Pages read per locking.
const PAGES_AT_ONCE: u32 = 32;

/// A finished copy.
#[derive(Debug, Clone)]
pub struct Copied {
    /// Its identity, which is its own.
    pub superblock: Superblock,
    /// Pages that hold data.
    pub pages: u32,
    /// Of these, pages that could not be read: the copy holds zeros there.
    pub unreadable: Vec<Lpn>,
}

impl Core {
    /// A page is about to change: copies it, if it is still to be copied.
    #[cold]
    pub(crate) fn copy_before(&mut self, lpn: Lpn) {
        let Some(mut copying) = self.copying.take() else { return };
        if copying.takes(lpn)
            && let Some(data) = self.read_for_copy(lpn, &mut copying)
        {
            copying.put(lpn, &data);
        }
        self.copying = Some(copying);
    }

    /// The data of a page, if it holds any that can be read.
    fn read_for_copy(&mut self, lpn: Lpn, copying: &mut Copying) -> Option<Vec<u8>> {
        // Where it is cannot be read: then it holds something.
        if matches!(self.find(lpn), Ok(None)) {
            return None;
        }
        copying.pages += 1;
        let mut data = vec![0; self.superblock.config.geometry.page_bytes() as usize];
        let read = self.read_page(lpn, &mut data);
        if read.is_err() {
            copying.unreadable.push(lpn);
        }
        read.ok().map(|()| data)
    }

    /// Those of these pages that are still to be copied; none if the copy has failed.
    fn slice_to_copy(&mut self, pages: Range<u32>) -> Option<Vec<(Lpn, Vec<u8>)>> {
        let mut copying = self.copying.take()?;
        let slice = pages.map(Lpn).filter_map(|lpn| {
            let data = copying.takes(lpn).then(|| self.read_for_copy(lpn, &mut copying))?;
            data.map(|data| (lpn, data))
        });
        let slice = slice.collect();
        let has_failed = copying.failure.is_some();
        self.copying = Some(copying);
        (!has_failed).then_some(slice)
    }
}

/// A file that is removed, unless it is kept.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It is gone if it has been kept.
        let _ = fs::remove_file(&self.0);
    }
}

impl Drive {
    /// Copies the drive as it is now into a new drive at `path`, with an FTL of its own if there is one; what
    /// the host changes meanwhile is not in the copy. `progress` is told how many logical pages are done, and
    /// can end it by returning false.
    ///
    /// An error if there is a file at `path`, another copy is being made, or the copy cannot be written; then
    /// nothing is left of it, and the drive itself goes on working.
    pub fn copy(
        &self,
        path: &Path,
        ftl: Option<Spec>,
        mut progress: impl FnMut(u32) -> bool,
    ) -> Result<Copied, MediaError> {
        if path.exists() {
            return Err(MediaError::Exists(path.to_owned()));
        }
        let own = self.shared.lock().superblock.clone();
        let options = CreateOptions {
            ftl: ftl.unwrap_or(own.ftl),
            config: own.config,
            mapping: own.mapping,
            checkpoint_every: Some(own.checkpoint_every),
        };
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".unfinished");
        let unfinished = Unfinished(path.with_file_name(name));
        let superblock = Self::create(&unfinished.0, &options)?;
        let target = Arc::new(Self::open(&unfinished.0, OpenOptions::default())?);
        let copying = self.follow(&target, &mut progress)?;
        let failed = |error| MediaError::io("write the copy", error);
        let (pages, unreadable) =
            copying.finish().map_err(|failure| failed(std::io::Error::other(failure)))?;
        Arc::into_inner(target).map_or(Ok(()), Self::close).map_err(failed)?;
        renameat_with(CWD, &unfinished.0, CWD, path, RenameFlags::NOREPLACE).map_err(|error| {
            match error {
                rustix::io::Errno::EXIST => MediaError::Exists(path.to_owned()),
                error => MediaError::io(format!("create {}", path.display()), error),
            }
        })?;
        sync_directory(path)?;
        Ok(Copied { superblock, pages, unreadable })
    }

    /// Copies every page that holds data now to `target`.
    fn follow(
        &self,
        target: &Arc<Self>,
        progress: &mut impl FnMut(u32) -> bool,
    ) -> Result<Copying, MediaError> {
        let end = self.logical_pages();
        {
            let mut core = self.shared.lock();
            if core.copying.is_some() {
                return Err(MediaError::Copying);
            }
            core.copying = Some(Copying::new(Arc::clone(target) as _, end));
        }
        let mut written = Ok(());
        let mut is_wanted = true;
        for first in (0..end).step_by(PAGES_AT_ONCE as usize) {
            let next = end.min(first + PAGES_AT_ONCE);
            let Some(slice) = self.shared.lock().slice_to_copy(first..next) else { break };
            let page_bytes = u64::from(self.shared.page_bytes);
            written = slice
                .iter()
                .try_for_each(|(lpn, data)| target.write(u64::from(lpn.0) * page_bytes, data));
            is_wanted = progress(next);
            if written.is_err() || !is_wanted {
                break;
            }
        }
        let copying = self.shared.lock().copying.take();
        written.map_err(|error| MediaError::io("write the copy", error))?;
        copying.filter(|_| is_wanted).ok_or(MediaError::Stopped)
    }
}
