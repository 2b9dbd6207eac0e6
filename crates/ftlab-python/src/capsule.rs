//! Passes Arrow tables between Python and Rust by reference (the Arrow PyCapsule interface).

// A capsule is a pointer.
#![allow(unsafe_code)]

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;

/// The name of a capsule with a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// The tables of an object that has `__arrow_c_stream__`.
pub(crate) fn tables_of(object: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of that name holds a stream, which lives as long as the capsule. It is taken out,
    // and one that needs no release is left in its place, as the interface asks of who takes it.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(stream.as_ptr()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The table as a pyarrow object.
pub(crate) fn in_pyarrow(py: Python<'_>, table: RecordBatch) -> PyResult<Bound<'_, PyAny>> {
    let readers = py.import("pyarrow")?.getattr("RecordBatchReader")?;
    readers.call_method1("from_stream", (Table(table),))?.call_method0("read_next_batch")
}

/// A table that exports itself as a stream.
#[pyclass(frozen, module = "ftlab._core")]
struct Table(RecordBatch);

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Who asks for another schema gets ours, as the interface allows.
        drop(requested_schema);
        let tables = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(tables)), STREAM)
    }
}
