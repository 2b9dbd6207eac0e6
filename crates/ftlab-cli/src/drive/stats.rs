//! `ftlab drive stats`.

use super::token::TokenArgs;
use crate::error::CliError;
use crate::output::{aligned, print, print_json};
use clap::Args;
use ftlab_drive::{Snapshot, check_openable};
use ftlab_serve::http::get_json;
use ftlab_serve::{DriveStatus, Status};
use serde::Serialize;
use std::path::PathBuf;

/// Shows what a drive has done since it was created; changes nothing.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The drive; while it is served with --http, the URL of its dashboard.
    #[arg(value_name = "FILE|URL")]
    drive: PathBuf,
    #[command(flatten)]
    token: TokenArgs,
    /// Writes JSON to standard output.
    #[arg(long)]
    json: bool,
}

/// The statistics of a drive.
#[derive(Debug, Serialize)]
struct Stats {
    uuid: String,
    ftl: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mapping: Option<String>,
    /// Memory for tables and cached entries, and pages that were looked up and found there, of such a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    map_memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    map_lookups: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    map_hits: Option<u64>,
    logical_pages: u32,
    page_bytes: u32,
    pages_per_block: u32,
    blocks: u32,
    free_blocks: u32,
    host_writes: u64,
    relocations: u64,
    /// Translation pages programmed, if the map is on flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    map_writes: Option<u64>,
    waf: Option<f64>,
    erases: u64,
    trims: u64,
    metadata_bytes: u64,
    media_errors: u64,
    recoveries: u64,
    streams: Vec<StreamStats>,
}

#[derive(Debug, Serialize)]
struct StreamStats {
    name: String,
    blocks: u32,
}

impl Stats {
    fn of(snapshot: &Snapshot) -> Self {
        let (superblock, counters) = (&snapshot.superblock, &snapshot.counters);
        let geometry = superblock.config.geometry;
        let streams = snapshot.streams.iter();
        let map = snapshot.map.as_ref().filter(|_| superblock.is_paged());
        Self {
            uuid: superblock.uuid.to_string(),
            ftl: superblock.ftl.to_string(),
            mapping: superblock.is_paged().then(|| superblock.mapping.name()),
            map_memory_bytes: map.map(|_| snapshot.memory.drive as u64),
            map_lookups: map.map(|map| map.write_lookups),
            map_hits: map.map(|map| map.write_hits),
            logical_pages: superblock.config.logical_pages,
            page_bytes: geometry.page_bytes(),
            pages_per_block: geometry.pages_per_block(),
            blocks: geometry.blocks(),
            free_blocks: snapshot.free_blocks,
            host_writes: counters.host_writes,
            relocations: counters.relocations(),
            map_writes: snapshot.map.map(|map| map.writes()),
            waf: snapshot.waf(),
            erases: counters.erases(),
            trims: counters.trims,
            metadata_bytes: snapshot.totals.metadata_bytes,
            media_errors: snapshot.totals.media_errors,
            recoveries: snapshot.totals.recoveries,
            streams: streams
                .map(|s| StreamStats { name: s.name.to_owned(), blocks: s.blocks })
                .collect(),
        }
    }

    /// The statistics of a drive that is being served.
    fn served(drive: DriveStatus) -> Self {
        let regions = drive.regions.into_iter();
        Self {
            uuid: drive.uuid,
            ftl: drive.ftl,
            map_memory_bytes: drive.map.as_ref().map(|map| map.memory_bytes),
            map_lookups: drive.map.as_ref().map(|map| map.lookups),
            map_hits: drive.map.as_ref().map(|map| map.hits),
            mapping: drive.map.map(|map| map.name),
            logical_pages: drive.logical_pages,
            page_bytes: drive.page_bytes,
            pages_per_block: drive.pages_per_block,
            blocks: drive.blocks,
            free_blocks: drive.free_blocks,
            host_writes: drive.flash.host_pages,
            relocations: drive.flash.relocated_pages,
            map_writes: Some(drive.flash.map_pages).filter(|pages| *pages > 0),
            waf: drive.flash.waf(),
            erases: drive.flash.erased_blocks,
            trims: drive.flash.trimmed_pages,
            metadata_bytes: drive.flash.metadata_bytes,
            media_errors: drive.health.media_errors,
            recoveries: drive.health.unsafe_shutdowns,
            streams: regions.map(|r| StreamStats { name: r.name, blocks: r.blocks }).collect(),
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
            ("media errors", self.media_errors.to_string()),
            ("recoveries", self.recoveries.to_string()),
        ];
        if let Some(mapping) = &self.mapping {
            lines.insert(2, ("map", mapping.clone()));
        }
        if let Some(written) = self.map_writes {
            let after = lines.iter().position(|(name, _)| *name == "relocations").unwrap_or(0);
            lines.insert(after + 1, ("translation pages", written.to_string()));
        }
        if let Some(bytes) = self.map_memory_bytes {
            lines.push(("map memory bytes", bytes.to_string()));
        }
        if let Some((lookups, hits)) = self.map_lookups.zip(self.map_hits) {
            lines.push(("map hits", format!("{hits} of {lookups}")));
        }
        for stream in &self.streams {
            lines.push((&stream.name, format!("{} blocks", stream.blocks)));
        }
        aligned(&lines)
    }
}

pub(crate) fn stats(args: &StatsArgs) -> Result<(), CliError> {
    let url = args.drive.to_str().filter(|text| text.starts_with("http://"));
    let stats = if let Some(url) = url {
        let status: Status = get_json(url, "/api/status", args.token.token()?.as_deref())?;
        Stats::served(status.drive)
    } else {
        check_openable(&args.drive)?;
        Stats::of(&ftlab_drive::inspect(&args.drive)?)
    };
    if args.json { print_json(&stats) } else { print(&stats.text()) }
}
