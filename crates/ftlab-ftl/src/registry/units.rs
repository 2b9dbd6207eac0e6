//! Reclaim units of several erase blocks.
//!
//! A reclaim unit is what a drive erases without disturbing any other, so it is filled, collected and erased
//! as a whole: an FTL whose units are k blocks runs on a drive whose erase blocks are k times as large. A
//! unit is k blocks that follow one another, and its pages are spread over LUNs as those of a block.

use crate::algorithms::placement::{NvmeFdp, UnitSize};
use crate::page::DriveConfig;
use crate::registry::list::pair;
use ftlab_flash::Geometry;
use ftlab_spec::{Spec, SpecError, parse_value};

/// The parameter.
const UNIT: &str = "unit";

/// An FTL whose units are erase blocks, and the drive on which they are what `spec` says on `config`: that
/// drive has units for erase blocks. Blocks that do not make up a unit are left out. The given FTL and
/// drive, if the FTL has no units or they are erase blocks already.
///
/// ```
/// use ftlab_flash::Geometry;
/// use ftlab_ftl::page::DriveConfig;
/// use ftlab_ftl::registry;
///
/// let drive = DriveConfig::new(Geometry::new(103, 16, 4096)?, 1024, 4);
/// let (spec, drive) = registry::in_units(&"nvme-fdp:handles=2,unit=256KiB".parse()?, drive)?;
/// assert_eq!(spec.to_string(), "nvme-fdp:handles=2");
/// assert_eq!((drive.geometry.blocks(), drive.geometry.pages_per_block()), (25, 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn in_units(spec: &Spec, config: DriveConfig) -> Result<(Spec, DriveConfig), SpecError> {
    let Some(text) = spec.get(UNIT).filter(|_| has_units(&spec.name)) else {
        return Ok((spec.clone(), config));
    };
    let unit: UnitSize = parse_value(&spec.name, UNIT, text)?;
    let geometry = &config.geometry;
    let refuse = |expects: String| SpecError::BadValue {
        of: spec.name.clone(),
        key: UNIT.to_owned(),
        value: text.to_owned(),
        expects,
    };
    let (block_pages, page_bytes) = (geometry.pages_per_block(), geometry.page_bytes());
    let block_bytes = u64::from(block_pages) * u64::from(page_bytes);
    let blocks = unit.blocks(block_bytes).ok_or_else(|| {
        refuse(format!(
            "a multiple of the erase block, which has {block_bytes} bytes; give another one, or other blocks \
             with --pages-per-block"
        ))
    })?;
    let units = geometry.blocks() / blocks;
    let unit_pages = block_pages.checked_mul(blocks);
    let in_units = unit_pages.map(|pages| Geometry::new(units, pages, page_bytes));
    let Some(Ok(geometry)) = in_units else {
        return Err(refuse(format!(
            "smaller than the drive, which has {} erase blocks; give a smaller unit",
            geometry.blocks()
        )));
    };
    let mut spec = spec.clone();
    spec.arguments.retain(|(key, _)| key != UNIT);
    let early_valid_pages_max = config.early_valid_pages_max.saturating_mul(blocks);
    Ok((spec, DriveConfig { geometry, early_valid_pages_max, ..config }))
}

fn has_units(name: &str) -> bool {
    use crate::page::entry::PlacementEntry;
    pair(name).is_ok_and(|pair| pair.placement.name == NvmeFdp::NAME)
}
