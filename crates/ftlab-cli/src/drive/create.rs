//! `ftlab drive create`.

use crate::error::CliError;
use crate::options::parse;
use crate::output::say;
use clap::Args;
use ftlab_drive::{CreateOptions, Drive, check_creatable};
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::{FreeBlock, GcSchedule, Refresh, WearLeveling};
use ftlab_ftl::registry;
use ftlab_sim::{DriveOptions, Logical, Mappings, Physical};
use ftlab_spec::{ByteSize, Share, Spec};
use std::path::PathBuf;

/// Creates a new drive in a sparse file.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The file; it must not exist.
    file: PathBuf,
    /// Logical capacity, such as 8GiB.
    #[arg(long, value_name = "SIZE")]
    size: ByteSize,
    /// The FTL, with parameters; it must be page-mapped. See `ftlab list ftls`.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]", default_value = "2r++")]
    ftl: Spec,
    /// Over-provisioning, (physical - logical) / logical; 10% if neither this nor --blocks is given.
    #[arg(long, value_name = "SHARE", conflicts_with = "blocks")]
    op: Option<Share>,
    /// Number of erase blocks.
    #[arg(long, value_name = "N", value_parser = parse::<u32>)]
    blocks: Option<u32>,
    /// Bytes per page, a power of two, at least 512.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = ftlab_sim::page_size)]
    page_size: u32,
    /// Pages per erase block, at least 2; by default the usual number for the size of the drive: 512, fewer
    /// below 1 GiB.
    #[arg(long, value_name = "N", value_parser = parse::<u32>)]
    pages_per_block: Option<u32>,
    /// Size of an erase block, instead of --pages-per-block: for drives with placement handles, the reclaim
    /// unit.
    #[arg(long, value_name = "SIZE", conflicts_with = "pages_per_block")]
    unit: Option<ByteSize>,
    /// Placement handles, of an FTL that has them: the same as its parameter `handles`.
    #[arg(long, value_name = "N", value_parser = parse::<u32>)]
    handles: Option<u32>,
    /// Free blocks that host writes may not use.
    #[arg(long, value_name = "BLOCKS", default_value_t = 4, value_parser = parse::<u32>)]
    reserve: u32,
    /// When garbage is collected: foreground, background[:pages=N], incremental[:pages=N],
    /// garbage[:share=S], gradual[:from=S] or throttled[:from=S,invalid=S,moves=N], as for `ftlab run`.
    #[arg(long, value_name = "SCHEDULE", default_value_t = GcSchedule::Foreground)]
    gc: GcSchedule,
    /// Which free block is opened next: the one that has been free longest (fifo), or the one with the
    /// fewest erases (least-worn).
    #[arg(long, value_name = "RULE", default_value = "fifo", value_parser = parse::<FreeBlock>)]
    free_block: FreeBlock,
    /// Moves cold pages once a block has been erased this many times more than the least-worn
    /// block; 0 disables.
    #[arg(long, value_name = "ERASES", default_value_t = 0, value_parser = parse::<u32>)]
    wear_threshold: u32,
    /// Keeps the map on flash and a part of it in memory, as for `ftlab run`: dftl, s-ftl, cdftl, or tpftl
    /// with by-request=off.
    #[arg(long, value_name = "NAME:cache=SIZE[,KEY=VALUE,...]", default_value_t = Mapping::FULL)]
    mapping: Mapping,
    /// Host operations between checkpoints: the most that a start after a crash has to replay. By
    /// default an eighth of the pages, but at least 65,536.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    checkpoint_every: Option<u64>,
}

pub(crate) fn create(args: &CreateArgs) -> Result<(), CliError> {
    let pages_per_block = match args.unit {
        Some(unit) => Some(pages_of(unit, args.page_size)?),
        None => args.pages_per_block,
    };
    let mut ftl = args.ftl.clone();
    if let Some(handles) = args.handles {
        ftl.arguments.retain(|(key, _)| key != "handles");
        // Those at the end may belong to an FTL within handles.
        ftl.arguments.insert(0, ("handles".to_owned(), handles.to_string()));
    }
    let size = DriveOptions {
        logical: Logical::Bytes(args.size),
        page_bytes: args.page_size,
        pages_per_block,
        physical: Physical::asked(args.op, args.blocks),
        reserve_blocks: args.reserve,
        gc: args.gc,
        wear: WearLeveling { free_block: args.free_block, threshold: args.wear_threshold },
        refresh: Refresh::default(),
        slc_cache: None,
        mapping: Mappings::default(),
        early: None,
    };
    let (ftl, config) = registry::in_units(&ftl, size.drive_config()?)?;
    let options = CreateOptions {
        ftl,
        config,
        mapping: args.mapping,
        checkpoint_every: args.checkpoint_every,
    };
    check_creatable(&options)?;
    let superblock = Drive::create(&args.file, &options)?;
    let config = superblock.config;
    let map = if superblock.is_paged() {
        format!(" with {}", superblock.mapping.name())
    } else {
        String::new()
    };
    say(&format!(
        "{}: drive {}, {}{map}, {} pages of {} bytes on {} blocks of {}\n",
        args.file.display(),
        superblock.uuid,
        superblock.ftl,
        config.logical_pages,
        config.geometry.page_bytes(),
        config.geometry.blocks(),
        config.geometry.pages_per_block(),
    ));
    Ok(())
}

/// Pages of a block of this size.
fn pages_of(unit: ByteSize, page_bytes: u32) -> Result<u32, CliError> {
    let (pages, rest) = (unit.0 / u64::from(page_bytes), unit.0 % u64::from(page_bytes));
    match u32::try_from(pages) {
        Ok(pages) if rest == 0 && pages > 0 => Ok(pages),
        _ => {
            let page = ByteSize(page_bytes.into());
            Err(CliError::usage(format!("--unit {unit} is not a number of pages of {page}")))
        }
    }
}
