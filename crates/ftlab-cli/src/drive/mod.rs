//! `ftlab drive`: FTLs as block devices.

mod check;
mod create;
mod stats;

use crate::error::CliError;
use clap::{Args, Subcommand};
use ftlab_device::MediaError;

/// Makes, checks and looks at drives: FTLs as block devices that keep their data in a file.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct DriveArgs {
    #[command(subcommand)]
    command: DriveCommand,
}

const EXAMPLES: &str = "Examples:
  ftlab drive create my.drive --size 8GiB --op 10% --ftl 2r++
  ftlab drive check my.drive
  ftlab drive stats my.drive";

#[derive(Debug, Subcommand)]
enum DriveCommand {
    Create(create::CreateArgs),
    Check(check::CheckArgs),
    Stats(stats::StatsArgs),
}

pub(crate) fn drive(args: &DriveArgs) -> Result<(), CliError> {
    match &args.command {
        DriveCommand::Create(args) => create::create(args),
        DriveCommand::Check(args) => check::check(args),
        DriveCommand::Stats(args) => stats::stats(args),
    }
}

/// Wrong options are the user's, all else is not.
impl From<MediaError> for CliError {
    fn from(error: MediaError) -> Self {
        if error.is_usage() {
            Self::usage(error.to_string())
        } else {
            Self::failure(error.to_string())
        }
    }
}
