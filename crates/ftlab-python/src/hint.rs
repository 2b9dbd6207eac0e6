//! What a policy in Python is told of a host write beside its address.

use ftlab_flash::{Hint as Told, NO_HANDLE};
use pyo3::prelude::*;

/// What is known of a host write beside its page, of what the policy asks for with `hints`.
#[pyclass(frozen, eq, module = "ftlab._core")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hint(pub(crate) Told);

#[pymethods]
impl Hint {
    /// Host writes until the page is written again or trimmed; None if that is never, or not known.
    #[getter]
    fn lifetime(&self) -> Option<u32> {
        known(self.0.lifetime.this)
    }

    /// The mean lifetime of all versions of the page in the run; None if it is not known.
    #[getter]
    fn mean_lifetime(&self) -> Option<u32> {
        known(self.0.lifetime.mean)
    }

    /// The stream, or placement handle, that the host names; None if it names none.
    #[getter]
    fn stream(&self) -> Option<u16> {
        (self.0.stream != NO_HANDLE).then_some(self.0.stream)
    }

    fn __repr__(&self) -> String {
        let text = |number: Option<String>| number.unwrap_or_else(|| "None".into());
        format!(
            "<ftlab.Hint: lifetime {}, mean lifetime {}, stream {}>",
            text(self.lifetime().map(|it| it.to_string())),
            text(self.mean_lifetime().map(|it| it.to_string())),
            text(self.stream().map(|it| it.to_string())),
        )
    }
}

fn known(writes: u32) -> Option<u32> {
    (writes != u32::MAX).then_some(writes)
}
