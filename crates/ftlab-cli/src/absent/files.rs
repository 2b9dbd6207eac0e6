//! The files that `ftlab run` writes, where the program was built without what writes them.

use super::absent;
use crate::error::CliError;
use clap::Args;
use ftlab_sim::{Experiment, ExperimentResult, Prepared};

/// Which files; each is refused with the remedy.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    #[arg(long, hide = true)]
    out: Option<String>,
    #[arg(long, hide = true)]
    report: Option<String>,
    #[arg(long, hide = true)]
    load: Option<String>,
    #[arg(long, hide = true)]
    timeline: Option<String>,
    #[arg(long, hide = true)]
    figure: Option<String>,
}

#[expect(clippy::unused_self, reason = "the arguments that write files need it")]
impl FileArgs {
    pub(crate) fn check_names(&self) -> Result<(), CliError> {
        let Self { out, report, load, timeline, figure } = self;
        let asked = [
            ("--out", out),
            ("--report", report),
            ("--load", load),
            ("--timeline", timeline),
            ("--figure", figure),
        ];
        let first = asked.into_iter().find(|(_, value)| value.is_some());
        first.map_or(Ok(()), |(name, _)| Err(absent(&format!("ftlab run {name}"), "lab")))
    }

    pub(crate) fn asks_for_loads(&self) -> bool {
        false
    }

    pub(crate) fn run_loads(
        &self,
        _experiment: &Experiment,
        _json: bool,
        _quiet: bool,
        _command: String,
    ) -> Result<(), CliError> {
        self.check_names()
    }

    pub(crate) fn check(&self, _prepared: &Prepared, _ftls: usize) -> Result<(), CliError> {
        self.check_names()
    }

    pub(crate) fn slowest(&self) -> usize {
        0
    }

    pub(crate) fn observe(&self) -> bool {
        false
    }

    pub(crate) fn write(&self, _result: &ExperimentResult, _quiet: bool) -> Result<(), CliError> {
        self.check_names()
    }
}
