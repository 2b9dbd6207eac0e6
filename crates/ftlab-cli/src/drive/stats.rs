//! `ftlab drive stats`.

use crate::error::CliError;
use crate::output::{aligned, print, print_json};
use clap::Args;
use ftlab_device::Snapshot;
use serde::Serialize;
use std::path::PathBuf;

/// Says what a drive that nobody serves has done since it was created; changes nothing.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The drive.
    file: PathBuf,
    /// Writes JSON to standard output.
    #[arg(long)]
    json: bool,
}

/// What is said of a drive.
#[derive(Debug, Serialize)]
struct Stats {
    uuid: String,
    ftl: String,
    logical_pages: u32,
    page_bytes: u32,
    pages_per_block: u32,
    blocks: u32,
    free_blocks: u32,
    host_writes: u64,
    relocations: u64,
    waf: Option<f64>,
    erases: u64,
    trims: u64,
    metadata_bytes: u64,
    checksum_errors: u64,
    recoveries: u64,
    streams: Vec<StreamStats>,
}

#[derive(Debug, Serialize)]
struct StreamStats {
    name: &'static str,
    blocks: u32,
}

impl Stats {
    fn of(snapshot: &Snapshot) -> Self {
        let (superblock, counters) = (&snapshot.superblock, &snapshot.counters);
        let geometry = superblock.config.geometry;
        let streams = snapshot.streams.iter();
        Self {
            uuid: superblock.uuid.to_string(),
            ftl: superblock.ftl.to_string(),
            logical_pages: superblock.config.logical_pages,
            page_bytes: geometry.page_bytes(),
            pages_per_block: geometry.pages_per_block(),
            blocks: geometry.blocks(),
            free_blocks: snapshot.free_blocks,
            host_writes: counters.host_writes,
            relocations: counters.relocations(),
            waf: counters.waf(),
            erases: counters.erases(),
            trims: counters.trims,
            metadata_bytes: snapshot.totals.metadata_bytes,
            checksum_errors: snapshot.totals.checksum_errors,
            recoveries: snapshot.totals.recoveries,
            streams: streams.map(|s| StreamStats { name: s.name, blocks: s.blocks }).collect(),
        }
    }

    fn text(&self) -> String {
        let waf = self.waf.map_or("-".to_owned(), |waf| format!("{waf:.4}"));
        let mut lines = vec![
            ("drive", self.uuid.clone()),
            ("FTL", self.ftl.clone()),
            ("logical pages", format!("{} of {} bytes", self.logical_pages, self.page_bytes)),
            ("erase blocks", format!("{} of {} pages", self.blocks, self.pages_per_block)),
            ("free blocks", self.free_blocks.to_string()),
            ("host writes", self.host_writes.to_string()),
            ("relocations", self.relocations.to_string()),
            ("WAF", waf),
            ("erases", self.erases.to_string()),
            ("trimmed pages", self.trims.to_string()),
            ("metadata bytes", self.metadata_bytes.to_string()),
            ("checksum errors", self.checksum_errors.to_string()),
            ("recoveries", self.recoveries.to_string()),
        ];
        let blocks = |stream: &StreamStats| (stream.name, format!("{} blocks", stream.blocks));
        lines.extend(self.streams.iter().map(blocks));
        aligned(&lines)
    }
}

pub(crate) fn stats(args: &StatsArgs) -> Result<(), CliError> {
    let stats = Stats::of(&ftlab_device::inspect(&args.file)?);
    if args.json { print_json(&stats) } else { print(&stats.text()) }
}
