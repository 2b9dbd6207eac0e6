//! Error messages of the command, and its exit code.

#[cfg(feature = "lab")]
use ftlab_experiments::ExperimentsError;
use ftlab_sim::SimError;
use ftlab_spec::SpecError;
use ftlab_trace::TraceError;
use std::io::Write;

/// A message and an exit code: 2 if the command line was wrong, 1 if its execution failed.
#[derive(Debug)]
pub(crate) struct CliError {
    message: String,
    code: u8,
}

impl CliError {
    /// The command line was wrong; `message` says what to type instead.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2 }
    }

    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// Prints the message and returns the exit code.
    pub(crate) fn report(&self) -> u8 {
        // Nothing can be done where that fails.
        let _ = writeln!(std::io::stderr().lock(), "error: {}", self.message);
        self.code
    }
}

/// Several results to write: one that cannot be written does not keep the others from it.
#[derive(Debug, Default)]
pub(crate) struct Results(Option<CliError>);

impl Results {
    /// Notes how the next one went.
    pub(crate) fn note(&mut self, written: Result<(), CliError>) {
        let Err(error) = written else { return };
        match &mut self.0 {
            None => self.0 = Some(error),
            Some(first) => first.message.extend(["\nerror: ", &error.message]),
        }
    }

    /// The error of all that failed.
    pub(crate) fn all(self) -> Result<(), CliError> {
        self.0.map_or(Ok(()), Err)
    }
}

impl From<SimError> for CliError {
    fn from(error: SimError) -> Self {
        Self { message: error.to_string(), code: if error.is_usage() { 2 } else { 1 } }
    }
}

#[cfg(feature = "lab")]
impl From<ExperimentsError> for CliError {
    fn from(error: ExperimentsError) -> Self {
        Self { message: error.to_string(), code: if error.is_usage() { 2 } else { 1 } }
    }
}

impl From<TraceError> for CliError {
    fn from(error: TraceError) -> Self {
        SimError::from(error).into()
    }
}

impl From<SpecError> for CliError {
    fn from(error: SpecError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::failure(error.to_string())
    }
}
