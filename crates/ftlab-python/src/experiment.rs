//! From the settings of `ftlab.run` to an experiment.

use crate::error::Result;
use crate::parse::{Settings, bad};
use ftlab_ftl::page::{FreeBlock, WearLeveling};
use ftlab_sim::{
    DriveOptions, EarlyCollection, Experiment, Length, Logical, Physical,
    UNTIL_STEADY_DRIVE_WRITES, Workload,
};
use ftlab_spec::{ByteSize, Spec};
use ftlab_trace::Space;
use std::num::NonZeroU32;

/// The experiment that the settings describe.
pub(crate) fn experiment(
    workload: Workload,
    ftls: Vec<Spec>,
    settings: &mut Settings,
) -> Result<Experiment> {
    let default = Experiment::new(workload, ftls);
    let writes = settings.value("writes")?.map(Length::Writes);
    let drive_writes: Option<f64> = settings.value("drive_writes")?;
    let until_steady = match settings.text("until").as_deref() {
        None => None,
        Some("steady") => Some(drive_writes.unwrap_or(UNTIL_STEADY_DRIVE_WRITES)),
        Some(other) => return Err(bad("until", other, "expected steady").into()),
    };
    Ok(Experiment {
        drive: drive(settings)?,
        length: until_steady
            .map(Length::UntilSteady)
            .or(writes)
            .or(drive_writes.map(Length::DriveWrites))
            .unwrap_or(default.length),
        repeat: settings.flag("repeat")? || until_steady.is_some(),
        fill: settings.parsed("fill")?.unwrap_or(default.fill),
        warmup_writes: settings.value("warmup_writes")?.unwrap_or(default.warmup_writes),
        interval_writes: settings.value("interval")?,
        timing: settings.parsed("timing")?,
        faults: settings.parsed("faults")?,
        endurance_cycles: settings.value("endurance")?.map(NonZeroU32::get),
        seed: settings.value("seed")?.unwrap_or(default.seed),
        streams: settings.parsed("streams")?,
        wrap: settings.flag("wrap")?,
        ignore_trims: settings.flag("ignore_trims")?,
        observe: settings.flag("observe")?,
        threads: settings.value::<NonZeroU32>("threads")?.map(|threads| threads.get() as usize),
        ..default
    })
}

/// The drive that the settings describe.
pub(crate) fn drive(settings: &mut Settings) -> Result<DriveOptions> {
    let default = DriveOptions::default();
    let bytes = settings.parsed("logical")?.map(Logical::Bytes);
    let pages = settings.value("logical_pages")?.map(Logical::Pages);
    let gc_min_invalid = settings.parsed("gc_min_invalid")?;
    Ok(DriveOptions {
        logical: bytes.or(pages).unwrap_or(default.logical),
        page_bytes: page_bytes(settings)?.unwrap_or(default.page_bytes),
        pages_per_block: settings.value("pages_per_block")?,
        physical: Physical::asked(settings.parsed("op")?, settings.value("blocks")?),
        reserve_blocks: settings.value("reserve")?.unwrap_or(default.reserve_blocks),
        early: settings
            .parsed("gc_start")?
            .map(|start| EarlyCollection::new(start, gc_min_invalid)),
        gc: settings.parsed("gc")?.unwrap_or(default.gc),
        wear: WearLeveling {
            free_block: settings.value("free_block")?.unwrap_or(FreeBlock::Fifo),
            threshold: settings.value("wear_threshold")?.unwrap_or(0),
        },
        refresh: settings.parsed("refresh")?.unwrap_or_default(),
        slc_cache: settings.parsed("slc_cache")?,
    })
}

/// Bytes per page, and the space that a generator writes to, if its size is given, or if it is one of its own.
pub(crate) fn space(workload: &Workload, settings: &mut Settings) -> Result<(u32, Option<Space>)> {
    let seed = settings.value("seed")?.unwrap_or(1);
    let options = drive(settings)?;
    let page_bytes = options.page_bytes;
    let logical_pages = if options.logical == Logical::OfWorkload {
        workload.own_pages(page_bytes)?
    } else {
        Some(u64::from(options.drive_config()?.logical_pages))
    };
    let space = logical_pages.map(|logical_pages| Space { logical_pages, page_bytes, seed });
    Ok((page_bytes, space))
}

/// Bytes per page; invalid values are refused with the rest of the drive.
pub(crate) fn page_bytes(settings: &mut Settings) -> Result<Option<u32>> {
    let size: Option<ByteSize> = settings.parsed("page_size")?;
    Ok(size.map(|size| u32::try_from(size.0).unwrap_or(u32::MAX)))
}
