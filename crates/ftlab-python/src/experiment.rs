//! From the settings of `ftlab.run` to an experiment.

use crate::error::Result;
use crate::parse::{Settings, bad};
use ftlab_sim::{
    DRIVE_OPTIONS, DriveOptions, Experiment, Length, Logical, OptionOf, UNTIL_STEADY_DRIVE_WRITES,
    Workload,
};
use ftlab_spec::{ByteSize, Spec};
use ftlab_trace::Space;
use std::collections::BTreeMap;
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
    let texts: BTreeMap<_, _> = DRIVE_OPTIONS
        .iter()
        .filter_map(|option| Some((option.id, settings.text(option.id)?)))
        .collect();
    let text_of = |option: &OptionOf<DriveOptions>| Ok(texts.get(option.id).cloned());
    OptionOf::read(&DRIVE_OPTIONS, text_of, |option, text, message| {
        bad(option.id, text, &message).into()
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
