//! The drive as seen by a policy in Python, valid only during a call.

#![allow(unsafe_code)]

use ftlab_flash::{BlockId, Lpn};
use ftlab_ftl::page::{DriveState, Phase, StreamId};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The drive as seen by a policy during a call; using it at any other time raises an exception.
///
/// Blocks and logical pages are numbered from 0, streams by their index in `Policy.streams`; a number
/// out of range raises `IndexError`.
#[pyclass(frozen, module = "ftlab._core")]
pub(crate) struct DriveView(AtomicPtr<DriveState>);

impl DriveView {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Lets `view` show `drive` while `work` runs.
    pub(crate) fn show<T>(view: &Py<Self>, drive: &DriveState, work: impl FnOnce() -> T) -> T {
        struct Hide<'a>(&'a AtomicPtr<DriveState>);
        impl Drop for Hide<'_> {
            fn drop(&mut self) {
                self.0.store(ptr::null_mut(), Ordering::Release);
            }
        }
        let pointer = &view.get().0;
        pointer.store(ptr::from_ref(drive).cast_mut(), Ordering::Release);
        let _hide = Hide(pointer);
        work()
    }

    fn drive(&self) -> PyResult<&DriveState> {
        let drive = self.0.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or that of a `&DriveState` that `show` holds while it is stored;
        // nothing changes the drive meanwhile. Methods of this class run with the GIL held and do
        // not release it, and `show` clears the pointer with the GIL held: so no method is running
        // when it does, on any thread. What `drive` returns does not outlive the method.
        unsafe { drive.as_ref() }.ok_or_else(|| {
            PyRuntimeError::new_err(
                "the drive is valid only during a call of the policy; do not keep it",
            )
        })
    }

    fn block(&self, block: u32) -> PyResult<(&DriveState, BlockId)> {
        let drive = self.drive()?;
        let blocks = drive.geometry().blocks();
        if block < blocks {
            return Ok((drive, BlockId(block)));
        }
        Err(PyIndexError::new_err(format!("block {block} is beyond the last, {}", blocks - 1)))
    }

    fn stream(&self, stream: u8) -> PyResult<(&DriveState, StreamId)> {
        let drive = self.drive()?;
        let streams = drive.streams().len();
        if usize::from(stream) < streams {
            return Ok((drive, StreamId(stream)));
        }
        Err(PyIndexError::new_err(format!("stream {stream} is beyond the last, {}", streams - 1)))
    }
}

#[pymethods]
impl DriveView {
    /// Number of erase blocks of the drive.
    #[getter]
    fn blocks(&self) -> PyResult<u32> {
        Ok(self.drive()?.geometry().blocks())
    }

    /// Pages per erase block.
    #[getter]
    fn pages_per_block(&self) -> PyResult<u32> {
        Ok(self.drive()?.pages_per_block())
    }

    /// Number of pages that the host can address.
    #[getter]
    fn logical_pages(&self) -> PyResult<u32> {
        Ok(self.drive()?.logical_pages())
    }

    /// Host page writes so far: the logical time.
    #[getter]
    fn write_clock(&self) -> PyResult<u64> {
        Ok(self.drive()?.write_clock())
    }

    /// Number of blocks on the free list.
    #[getter]
    fn free_blocks(&self) -> PyResult<u32> {
        Ok(self.drive()?.free_blocks())
    }

    /// Valid pages of a sealed block; those of an open one include the pages not yet programmed.
    fn valid_pages(&self, block: u32) -> PyResult<u32> {
        self.block(block).map(|(drive, block)| drive.valid_pages(block))
    }

    /// The index of the stream whose pages a block holds.
    fn stream_of(&self, block: u32) -> PyResult<usize> {
        self.block(block).map(|(drive, block)| drive.stream_of(block).index())
    }

    /// The number of blocks allocated before this one: orders blocks by allocation.
    fn allocated(&self, block: u32) -> PyResult<u64> {
        self.block(block).map(|(drive, block)| drive.allocated(block))
    }

    /// The write clock when a block was sealed.
    fn sealed_at(&self, block: u32) -> PyResult<u64> {
        self.block(block).map(|(drive, block)| drive.sealed_at(block))
    }

    /// Whether a block is full, and so may be a victim.
    fn is_sealed(&self, block: u32) -> PyResult<bool> {
        self.block(block).map(|(drive, block)| drive.phase(block) == Phase::Sealed)
    }

    /// The number of times a block has been erased.
    fn erases(&self, block: u32) -> PyResult<u32> {
        self.block(block).map(|(drive, block)| drive.erases(block))
    }

    /// All sealed blocks in numerical order; scans every block of the drive.
    fn sealed_blocks(&self) -> PyResult<Vec<u32>> {
        let drive = self.drive()?;
        let blocks = 0..drive.geometry().blocks();
        Ok(blocks.filter(|block| drive.phase(BlockId(*block)) == Phase::Sealed).collect())
    }

    /// Sealed blocks, optionally of one stream, those with the fewest valid pages first; among
    /// equals, the one allocated first. Much faster than querying each block from Python.
    #[pyo3(signature = (stream=None))]
    fn emptiest_blocks(&self, stream: Option<u8>) -> PyResult<Vec<u32>> {
        let drive = self.drive()?;
        let stream =
            stream.map(|stream| self.stream(stream)).transpose()?.map(|(_, stream)| stream);
        let is_wanted = |block: &BlockId| {
            drive.phase(*block) == Phase::Sealed
                && stream.is_none_or(|stream| drive.stream_of(*block) == stream)
        };
        let blocks = (0..drive.geometry().blocks()).map(BlockId);
        let mut blocks: Vec<_> = blocks.filter(is_wanted).collect();
        blocks.sort_unstable_by_key(|block| (drive.valid_pages(*block), drive.allocated(*block)));
        Ok(blocks.into_iter().map(|block| block.0).collect())
    }

    /// The block that a stream writes to, if it has one.
    fn open_block(&self, stream: u8) -> PyResult<Option<u32>> {
        let (drive, stream) = self.stream(stream)?;
        Ok(drive.open_block(stream).map(|block| block.0))
    }

    /// Number of blocks that hold pages of a stream, including its open block.
    fn stream_blocks(&self, stream: u8) -> PyResult<u32> {
        self.stream(stream).map(|(drive, stream)| drive.stream_blocks(stream))
    }

    /// The block that holds a logical page, if it holds anything.
    fn block_of(&self, lpn: u32) -> PyResult<Option<u32>> {
        let drive = self.drive()?;
        if lpn >= drive.logical_pages() {
            let last = drive.logical_pages() - 1;
            return Err(PyIndexError::new_err(format!("page {lpn} is beyond the last, {last}")));
        }
        Ok(drive.flash_page(Lpn(lpn)).map(|page| drive.block_of(page).0))
    }
}
