//! The drive as a policy in Python sees it: for as long as it is asked something, and no longer.

#![allow(unsafe_code)]

use ftlab_flash::{BlockId, Lpn};
use ftlab_ftl::page::{Drive, Phase, StreamId};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The state of the drive while a policy is asked; using it at any other time raises.
#[pyclass(frozen, module = "ftlab._core")]
pub(crate) struct DriveView(AtomicPtr<Drive>);

impl DriveView {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Lets `view` show `drive` while `work` runs.
    pub(crate) fn show<T>(view: &Py<Self>, drive: &Drive, work: impl FnOnce() -> T) -> T {
        struct Hide<'a>(&'a AtomicPtr<Drive>);
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

    fn drive(&self) -> PyResult<&Drive> {
        let drive = self.0.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or that of a `&Drive` that `show` holds while it is stored; nobody
        // changes the drive meanwhile. Methods of this class run with the interpreter's lock held and do
        // not give it up, and `show` hides the pointer with that lock held: so none is at work when
        // it does, whatever thread it is on. What `drive` returns does not outlive the method.
        unsafe { drive.as_ref() }.ok_or_else(|| {
            PyRuntimeError::new_err(
                "the drive can be looked at only while the policy is asked; do not keep it",
            )
        })
    }

    fn block(&self, block: u32) -> PyResult<(&Drive, BlockId)> {
        let drive = self.drive()?;
        let blocks = drive.geometry().blocks();
        if block < blocks {
            return Ok((drive, BlockId(block)));
        }
        Err(PyIndexError::new_err(format!("block {block} is beyond the last, {}", blocks - 1)))
    }

    fn stream(&self, stream: u8) -> PyResult<(&Drive, StreamId)> {
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
    #[getter]
    fn blocks(&self) -> PyResult<u32> {
        Ok(self.drive()?.geometry().blocks())
    }

    #[getter]
    fn pages_per_block(&self) -> PyResult<u32> {
        Ok(self.drive()?.pages_per_block())
    }

    #[getter]
    fn logical_pages(&self) -> PyResult<u32> {
        Ok(self.drive()?.logical_pages())
    }

    #[getter]
    fn write_clock(&self) -> PyResult<u64> {
        Ok(self.drive()?.write_clock())
    }

    #[getter]
    fn free_blocks(&self) -> PyResult<u32> {
        Ok(self.drive()?.free_blocks())
    }

    fn valid_pages(&self, block: u32) -> PyResult<u32> {
        self.block(block).map(|(drive, block)| drive.valid_pages(block))
    }

    fn stream_of(&self, block: u32) -> PyResult<usize> {
        self.block(block).map(|(drive, block)| drive.stream_of(block).index())
    }

    fn allocated(&self, block: u32) -> PyResult<u64> {
        self.block(block).map(|(drive, block)| drive.allocated(block))
    }

    fn sealed_at(&self, block: u32) -> PyResult<u64> {
        self.block(block).map(|(drive, block)| drive.sealed_at(block))
    }

    fn is_sealed(&self, block: u32) -> PyResult<bool> {
        self.block(block).map(|(drive, block)| drive.phase(block) == Phase::Sealed)
    }

    fn erases(&self, block: u32) -> PyResult<u32> {
        self.block(block).map(|(drive, block)| drive.erases(block))
    }

    fn sealed_blocks(&self) -> PyResult<Vec<u32>> {
        let drive = self.drive()?;
        let blocks = 0..drive.geometry().blocks();
        Ok(blocks.filter(|block| drive.phase(BlockId(*block)) == Phase::Sealed).collect())
    }

    fn open_block(&self, stream: u8) -> PyResult<Option<u32>> {
        let (drive, stream) = self.stream(stream)?;
        Ok(drive.open_block(stream).map(|block| block.0))
    }

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
