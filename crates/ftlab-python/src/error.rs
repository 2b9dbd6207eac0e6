//! Errors as the exceptions of `ftlab.errors`.

use ftlab_experiments::ExperimentsError;
use ftlab_experiments::sweep::FileError;
use ftlab_sim::{FeedError, SimError};
use ftlab_spec::SpecError;
use ftlab_trace::TraceError;
use pyo3::PyErr;

mod exceptions {
    use pyo3::import_exception;

    import_exception!(ftlab.errors, DriveError);
    import_exception!(ftlab.errors, ExperimentError);
    import_exception!(ftlab.errors, FileError);
    import_exception!(ftlab.errors, FtlError);
    import_exception!(ftlab.errors, MemoryLimitError);
    import_exception!(ftlab.errors, ParameterError);
    import_exception!(ftlab.errors, PolicyError);
    import_exception!(ftlab.errors, TraceError);
    import_exception!(ftlab.errors, WorkloadError);
}

/// An error to be raised in Python.
pub(crate) struct Error(PyErr);

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        error.0
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<SpecError> for Error {
    fn from(error: SpecError) -> Self {
        Self(exceptions::ParameterError::new_err(in_python(&error)))
    }
}

impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        let message = in_python(&error);
        Self(match error {
            TraceError::Memory { .. } => exceptions::MemoryLimitError::new_err(message),
            TraceError::Io { .. } => exceptions::FileError::new_err(message),
            TraceError::Spec(_) | TraceError::PageSize { .. } | TraceError::Unsupported { .. } => {
                exceptions::ParameterError::new_err(message)
            }
            _ => exceptions::TraceError::new_err(message),
        })
    }
}

impl From<SimError> for Error {
    fn from(error: SimError) -> Self {
        let message = in_python(&error);
        Self(match error {
            SimError::Trace(error) => return error.into(),
            SimError::Build(_) | SimError::Geometry(_) => exceptions::DriveError::new_err(message),
            SimError::Ftl { .. } => exceptions::FtlError::new_err(message),
            SimError::Memory { .. } => exceptions::MemoryLimitError::new_err(message),
            SimError::Feed(error)
                if matches!(
                    *error,
                    FeedError::Backlog { .. } | FeedError::TooManyLifetimes { .. }
                ) =>
            {
                exceptions::ParameterError::new_err(message)
            }
            SimError::Feed(_) | SimError::NothingCounted { .. } | SimError::NoWrites { .. } => {
                exceptions::WorkloadError::new_err(message)
            }
            _ => exceptions::ParameterError::new_err(message),
        })
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        ExperimentsError::from(error).into()
    }
}

impl From<ExperimentsError> for Error {
    fn from(error: ExperimentsError) -> Self {
        let message = in_python(&error);
        Self(match error {
            ExperimentsError::Sim(error) => return error.into(),
            ExperimentsError::Read { .. }
            | ExperimentsError::Series { .. }
            | ExperimentsError::Store { .. }
            | ExperimentsError::Results { .. } => exceptions::FileError::new_err(message),
            ExperimentsError::File(_) => exceptions::ExperimentError::new_err(message),
        })
    }
}

/// The error that an experiment cannot be swept.
pub(crate) fn experiment_error(message: String) -> PyErr {
    exceptions::ExperimentError::new_err(message)
}

/// The error that the policy of that name broke a rule.
pub(crate) fn policy_error(name: &str, what: &str) -> PyErr {
    exceptions::PolicyError::new_err(format!("the policy {name} {what}"))
}

/// The message, with command-line options written as Python arguments: `--gc-start` as `gc_start`.
pub(crate) fn in_python(error: &impl ToString) -> String {
    let message = error.to_string();
    let mut parts = message.split("--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        if name.is_empty() {
            text.push_str("--");
        }
        text.push_str(&name.replace('-', "_"));
        text.push_str(rest);
    }
    text
}
