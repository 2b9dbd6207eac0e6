//! `ftlab drive`: FTLs as block devices.

mod check;
mod copy;
mod create;
mod mount;
mod nvme;
mod place;
mod repair;
mod scrub;
mod scrubber;
mod serve;
mod serving;
mod smart;
mod stats;
mod token;
mod upgrade;

use crate::error::CliError;
use clap::{Args, Subcommand};
use ftlab_drive::MediaError;

/// Creates, serves, checks and inspects drives: FTLs as block devices that store their data in a
/// file.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct DriveArgs {
    #[command(subcommand)]
    command: DriveCommand,
}

const EXAMPLES: &str = "Examples:
  ftlab drive create my.drive --size 8GiB --op 10% --ftl 2r++
  ftlab drive serve my.drive --nbd /run/my.sock --http 127.0.0.1:8080
  ftlab drive serve my.drive --nvme 127.0.0.1:4420
  sudo ftlab drive mount my.drive /mnt --mkfs ext4
  ftlab drive check my.drive
  ftlab drive repair my.drive
  ftlab drive copy my.drive backup.drive
  ftlab drive upgrade my.drive --ftl hazard
  ftlab drive stats my.drive";

#[derive(Debug, Subcommand)]
enum DriveCommand {
    Create(create::CreateArgs),
    Serve(serve::ServeArgs),
    Mount(mount::MountArgs),
    Check(check::CheckArgs),
    Copy(copy::CopyArgs),
    Scrub(scrub::ScrubArgs),
    Repair(repair::RepairArgs),
    Upgrade(upgrade::UpgradeArgs),
    Stats(stats::StatsArgs),
    Smart(smart::SmartArgs),
}

pub(crate) fn drive(args: &DriveArgs) -> Result<(), CliError> {
    match &args.command {
        DriveCommand::Create(args) => create::create(args),
        DriveCommand::Serve(args) => serve::serve(args),
        DriveCommand::Mount(args) => mount::mount(args),
        DriveCommand::Check(args) => check::check(args),
        DriveCommand::Copy(args) => copy::copy(args),
        DriveCommand::Scrub(args) => scrub::scrub(args),
        DriveCommand::Repair(args) => repair::repair(args),
        DriveCommand::Upgrade(args) => upgrade::upgrade(args),
        DriveCommand::Stats(args) => stats::stats(args),
        DriveCommand::Smart(args) => smart::smart(args),
    }
}

/// Wrong options are usage errors, everything else is a failure.
impl From<MediaError> for CliError {
    fn from(error: MediaError) -> Self {
        if error.is_usage() {
            Self::usage(error.to_string())
        } else {
            Self::failure(error.to_string())
        }
    }
}
