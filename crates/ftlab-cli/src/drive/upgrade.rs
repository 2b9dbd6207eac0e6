//! `ftlab drive upgrade`.

use super::serving::{notice, recovered};
use crate::error::CliError;
use crate::output::print;
use clap::Args;
use ftlab_drive::{Drive, OpenOptions, Spec, check_openable};
use ftlab_ftl::map::Mapping;
use std::path::PathBuf;

/// Converts a drive that an earlier version wrote to the format of this one, or gives it another FTL. Its pages
/// stay where they are.
///
/// Whatever opens a drive for writing does the first by itself; earlier versions cannot open it from then on. An FTL
/// that takes a drive over, and one whose decisions have changed since, learns from the beginning.
#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    /// The drive.
    file: PathBuf,
    /// Gives it this FTL, with parameters.
    #[arg(long, value_name = "FTL")]
    ftl: Option<Spec>,
    /// Gives a drive whose map is on flash another one, such as one with more memory, or full. All of the mapping is in
    /// memory meanwhile.
    #[arg(long, value_name = "MAP", conflicts_with = "ftl")]
    mapping: Option<Mapping>,
}

pub(crate) fn upgrade(args: &UpgradeArgs) -> Result<(), CliError> {
    check_openable(&args.file)?;
    let options = OpenOptions {
        ftl: args.ftl.clone(),
        mapping: args.mapping,
        notice: Some(notice()),
        ..OpenOptions::default()
    };
    let drive = Drive::open(&args.file, options)?;
    if let Some(reason) = drive.read_only() {
        return Err(CliError::failure(format!("{}: {reason}", args.file.display())));
    }
    let recovery = drive.recovery().clone();
    let superblock = drive.snapshot().superblock;
    drive.close().map_err(|error| CliError::failure(error.to_string()))?;
    let mut text = recovered(&args.file, &recovery);
    if let Some(before) = &recovery.other_map {
        text += "the map was ";
        text += before;
        text += ", and is ";
        text += &superblock.mapping.name();
        text += "\n";
    } else if recovery.older_format.is_none() && recovery.by_map.is_none() {
        text.push_str("nothing to upgrade\n");
    }
    let (format, decisions) = (superblock.format, superblock.decisions.unwrap_or_default());
    print(&format!("{text}format {format}, {} ({decisions})\n", superblock.ftl))
}
