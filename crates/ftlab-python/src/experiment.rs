//! From the settings of `ftlab.run` to an experiment.

use crate::error::Result;
use crate::parse::{Settings, bad};
use ftlab_sim::{DriveOptions, Experiment, Logical, OptionOf, Options, Workload};
use ftlab_spec::{ByteSize, Spec};
use ftlab_trace::Space;
use std::collections::BTreeMap;

/// The experiment that the settings describe.
pub(crate) fn experiment(
    workload: Workload,
    ftls: Vec<Spec>,
    settings: &mut Settings,
) -> Result<Experiment> {
    experiment_on(DriveOptions::default(), workload, ftls, settings)
}

/// The same on a drive that has these options where the settings name no others.
pub(crate) fn experiment_on(
    usual: DriveOptions,
    workload: Workload,
    ftls: Vec<Spec>,
    settings: &mut Settings,
) -> Result<Experiment> {
    let drive = options(usual, settings)?;
    options(Experiment { drive, ..Experiment::new(workload, ftls) }, settings)
}

/// `one` with the options that the settings have.
fn options<T: Options>(one: T, settings: &mut Settings) -> Result<T> {
    let texts: BTreeMap<_, _> = T::options()
        .iter()
        .filter_map(|option| Some((option.id, settings.text(option.id)?)))
        .collect();
    let text_of = |option: &OptionOf<T>| Ok(texts.get(option.id).cloned());
    one.with_options(text_of, |option, text, message| bad(option.id, text, &message).into())
}

/// The drive that the settings describe.
pub(crate) fn drive(settings: &mut Settings) -> Result<DriveOptions> {
    options(DriveOptions::default(), settings)
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
