//! What is said of a drive: its options, and what results tell of it.

use crate::mappings::Mappings;
use crate::option::{by_text, by_value, options, page_size, tell};
use ftlab_ftl::page::{DriveConfig, FreeBlock, GcSchedule, Refresh, WearLeveling};
use ftlab_spec::{ByteSize, Share};
use ftlab_stack::SlcCache;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How large the drive is to be, and when it collects.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveOptions {
    /// What the host can address.
    pub logical: Logical,
    /// Bytes per page, a multiple of 512.
    pub page_bytes: u32,
    /// Pages per erase block, 2 or more; if `None` those of the flash that a timing names, or as
    /// [`usual_pages_per_block`](crate::usual_pages_per_block) has it for this size.
    pub pages_per_block: Option<u32>,
    /// How much flash there is.
    pub physical: Physical,
    /// Free blocks that host writes may not take.
    pub reserve_blocks: u32,
    /// Collection ahead of need.
    pub early: Option<EarlyCollection>,
    /// Whether garbage is collected before a host write, or in steps after host writes.
    pub gc: GcSchedule,
    /// How erases are spread over blocks.
    pub wear: WearLeveling,
    /// What is rewritten because it was read too often or is too old.
    pub refresh: Refresh,
    /// SLC blocks that take what the host writes, if there are any; they come on top of the others.
    pub slc_cache: Option<SlcCache>,
    /// Where FTLs keep which page lies where; each FTL runs with every one of these.
    pub mapping: Mappings,
}

impl Default for DriveOptions {
    fn default() -> Self {
        Self {
            logical: Logical::OfWorkload,
            page_bytes: 4096,
            pages_per_block: None,
            physical: Physical::OverProvisioning(Share(0.1)),
            reserve_blocks: 4,
            early: None,
            gc: GcSchedule::Foreground,
            wear: WearLeveling::default(),
            refresh: Refresh::default(),
            slc_cache: None,
            mapping: Mappings::default(),
        }
    }
}

impl DriveOptions {
    /// The drive as the engine is told of it.
    pub(crate) fn of_engine(&self, config: DriveConfig) -> DriveConfig {
        DriveConfig { gc: self.gc, wear: self.wear, refresh: self.refresh, ..config }
    }
}

options! { DRIVE_OPTIONS of DriveOptions: under "Drive" {
        /// Logical capacity, such as 8GiB (8G is the same); by default that of the trace's device, or
        /// up to its highest address.
        logical: by_text::<ByteSize>, "SIZE" => |drive, size| drive.logical = Logical::Bytes(size);
        files "What the host can address, such as 8GiB; of a trace by default as much as its own device.";
        python "str | int";
        /// Logical capacity in pages.
        logical_pages: by_value::<u64>, "N", instead of logical
            => |drive, pages| drive.logical = Logical::Pages(pages);
        files "What the host can address, in pages.";
        python "int";
        had |drive| drive.asked_pages().map(|pages| pages.to_string());
        /// Bytes per page, a multiple of 512.
        page_size: page_size, "SIZE" = "4KiB" => |drive, bytes| drive.page_bytes = bytes;
        files "Bytes per page; 4KiB.";
        python "str | int";
        had |drive| Some(drive.page_bytes.to_string());
        /// Pages per erase block, at least 2; by default those of the flash that --timing names, or else the usual
        /// number for the size of the drive: 512, fewer below 1 GiB.
        pages_per_block: by_value::<u32>, "N" => |drive, pages| drive.pages_per_block = Some(pages);
        files "Pages per erase block; by default those of the flash of `timing`, or else as many as are usual for the size of\nthe drive, up to 512.";
        python "int";
        had |drive| drive.pages_per_block.map(|pages| pages.to_string());
        /// Over-provisioning, (physical - logical) / logical; 10% if neither this nor --blocks is
        /// given. For hybrid-mapped FTLs it is the log space, including the one or two blocks that they
        /// merge into.
        op: by_text::<Share>, "SHARE" => |drive, share| drive.physical = Physical::OverProvisioning(share);
        files "Over-provisioning, (physical - logical) / logical; 10%.";
        python "str | float";
        had |drive| match drive.physical {
            Physical::OverProvisioning(share) => Some(share.0.to_string()),
            Physical::Blocks(_) => None,
        };
        /// Number of erase blocks.
        blocks: by_value::<u32>, "N", instead of op => |drive, blocks| drive.physical = Physical::Blocks(blocks);
        files "Erase blocks, instead of `op`.";
        python "int";
        had |drive| match drive.physical {
            Physical::Blocks(blocks) => Some(blocks.to_string()),
            Physical::OverProvisioning(_) => None,
        };
        /// Free blocks that host writes may not use; hybrid-mapped FTLs and page have their own rules.
        reserve: by_value::<u32>, "BLOCKS" = "4" => |drive, blocks| drive.reserve_blocks = blocks;
        files "Free blocks that host writes may not take; 4.";
        python "int";
        had |drive| Some(drive.reserve_blocks.to_string());
        /// Collects early, after host writes, while less than this share of the blocks is free; off by
        /// default.
        gc_start: by_text::<Share>, "SHARE" => |drive, share| drive.early = Some(EarlyCollection::new(share, None));
        files "Collects ahead of need while fewer than this share of the blocks are free.";
        python "str | float";
        /// Share of a block that must be invalid for early collection; 12.5% by default.
        gc_min_invalid: by_text::<Share>, "SHARE", with gc_start
            => |drive, share| drive.early.iter_mut().for_each(|early| early.gc_min_invalid = share);
        files "Share of a block that must be invalid for that; 12.5%.";
        python "str | float";
        /// When garbage is collected: foreground, a whole collection before the host write that needs
        /// it; incremental[:pages=N], some pages (at most N) after each host write; background[:pages=N],
        /// the first victim before the host write and the others like that; garbage[:share=S], whole
        /// collections while at least that share of the programmed pages is invalid; gradual[:from=S],
        /// whole collections, the more the fewer blocks are free, below that share; or
        /// throttled[:from=S,invalid=S,moves=N], blocks of which at least that share is invalid, with at most so
        /// many moves for each page of the host, below that share of free blocks.
        gc: by_text::<GcSchedule>, "SCHEDULE" = "foreground" => |drive, schedule| drive.gc = schedule;
        files "When garbage is collected: foreground, background[:pages=N], incremental[:pages=N],\ngarbage[:share=S], gradual[:from=S] or throttled[:from=S,invalid=S,moves=N].";
        python "str";
        /// Which free block is opened next: the one that has been free longest (fifo), or the one with the
        /// fewest erases (least-worn).
        free_block: by_value::<FreeBlock>, "RULE" = "fifo" => |drive, rule| drive.wear.free_block = rule;
        files "Which free block is opened next: fifo or least-worn.";
        python "Literal[\"fifo\", \"least-worn\"]";
        /// Moves cold pages once a block has been erased this many times more than the least-worn
        /// block; 0 disables.
        wear_threshold: by_value::<u32>, "ERASES" = "0" => |drive, erases| drive.wear.threshold = erases;
        files "How many more erases than the least worn block a block may have; 0 is any number.";
        python "int";
        /// Rewrites the pages of a block once it has been read that often since it was erased, or that many host
        /// page writes after it became full, such as reads=100000,age=5000000. Reads need --timing with
        /// unit=request.
        refresh: by_text::<Refresh>, "KEY=VALUE,..." => |drive, refresh| drive.refresh = refresh;
        files "Rewrites blocks that were read so often or are so old, such as reads=100000,age=5000000.";
        python "str";
        results "refresh" or "never":
            "When pages are rewritten because they were read too often or are too old: \"reads=N,age=N\"; none if never."
            => |drive| (!drive.refresh.is_off()).then(|| drive.refresh.to_string());
        /// Blocks that are programmed with one bit a cell, take what the host writes, and are folded into the others
        /// later, such as size=64MiB,bits=3,full=fold,idle=on; full=bypass writes past a full cache. They come on top
        /// of --op.
        slc_cache: by_text::<SlcCache>, "KEY=VALUE,..." => |drive, cache| drive.slc_cache = Some(cache);
        files "SLC blocks that take what the host writes, such as size=64MiB,bits=3,full=fold,idle=on.";
        python "str";
        results "SLC cache" or "none":
            "The SLC cache, with every option; none if there is none. Its blocks come on top of `blocks`."
            => |drive| drive.slc_cache.map(|cache| cache.to_string());
        /// Where page-mapped FTLs keep which page lies where: full, in memory; iu:size=SIZE, in memory by units of several
        /// pages; dftl:cache=SIZE, s-ftl, cdftl, tpftl, leaftl or learnedftl, in translation pages on flash, which take
        /// from --op, and in part in memory. `ftlab run` runs every FTL with each of several, after commas.
        mapping: by_text::<Mappings>, "NAME[:KEY=VALUE,...]" = "full" => |drive, mapping| drive.mapping = mapping;
        files "Where the map is: full, in memory; or on flash, such as dftl:cache=2MiB.";
        python "str";
        results "mapping" or "full":
            "Where the map is, with every option, or all maps after commas; none if it is in memory."
            => |drive| (!drive.mapping.are_full()).then(|| drive.mapping.to_string());
} }

/// What the host can address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logical {
    /// As much as the trace's own device, or as its highest address needs; a generator has none.
    OfWorkload,
    /// Bytes, rounded down to whole pages.
    Bytes(ByteSize),
    /// A number of pages.
    Pages(u64),
}

/// How much flash there is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Physical {
    /// (physical - logical) / logical, at least.
    OverProvisioning(Share),
    /// Erase blocks.
    Blocks(u32),
}

impl Physical {
    /// What was asked for in one way or the other; the default where nothing was.
    pub fn asked(op: Option<Share>, blocks: Option<u32>) -> Self {
        let over_provisioning = op.map(Self::OverProvisioning);
        let asked = over_provisioning.or(blocks.map(Self::Blocks));
        asked.unwrap_or(DriveOptions::default().physical)
    }
}

/// While fewer than `gc_start` of the blocks are free, blocks of which at least `gc_min_invalid` is
/// invalid are collected ahead of need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EarlyCollection {
    /// Share of all erase blocks.
    pub gc_start: Share,
    /// Share of the pages of a block.
    pub gc_min_invalid: Share,
}

impl EarlyCollection {
    /// Below this share of free blocks; an eighth of a block has to be invalid if nothing else is given.
    pub fn new(gc_start: Share, gc_min_invalid: Option<Share>) -> Self {
        Self { gc_start, gc_min_invalid: gc_min_invalid.unwrap_or(Share(0.125)) }
    }
}

/// The simulated drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = tell::<DriveOptions>)]
pub struct DriveSummary {
    /// Bytes per page.
    pub page_bytes: u32,
    /// Pages per erase block.
    pub pages_per_block: u32,
    /// Erase blocks.
    pub blocks: u32,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// Logical capacity in bytes.
    pub logical_bytes: u64,
    /// Bytes of flash.
    pub physical_bytes: u64,
    /// Where the logical size comes from: "asked", "device of the trace" or "highest address of the
    /// trace".
    pub size_from: String,
    /// Bytes that rounding to whole pages added; negative if it took some away.
    pub rounded_bytes: i64,
    /// Over-provisioning as asked for, (physical - logical) / logical; none if blocks were given.
    pub op_ratio_asked: Option<f64>,
    /// Over-provisioning as it came out, (physical - logical) / logical.
    pub op_ratio: f64,
    /// (physical - logical) / physical.
    pub spare_factor: f64,
    /// Free blocks that host writes may not take.
    pub reserve_blocks: u32,
    /// While fewer blocks are free, blocks are collected ahead of need; 0 is never.
    pub gc_start_blocks: u32,
    /// The most valid pages of a block that is collected ahead of need.
    pub early_valid_pages_max: u32,
    /// When garbage is collected: "foreground", "background:pages=N" or "incremental:pages=N" after host
    /// writes, "garbage:share=S", "gradual:from=S" or "throttled:from=S,invalid=S,moves=N".
    pub gc: String,
    /// Which free block is opened next: "fifo" or "least-worn".
    pub free_block: String,
    /// How many more erases than the least worn block a block may have before cold pages are moved; 0
    /// is any number.
    pub wear_threshold: u32,
    /// The options that are told where they are not off, by name.
    #[serde(flatten)]
    #[schemars(skip)]
    pub options: BTreeMap<String, String>,
}

impl DriveSummary {
    /// What is told of an option; none where it is off.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }
}
