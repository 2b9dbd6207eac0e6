//! How much memory a drive takes.

use crate::SimError;
use crate::observed_workload::WorkloadWatch;
use ftlab_ftl::page::DriveConfig;
use ftlab_machine::AnyFtl;
use ftlab_trace::available_bytes;

/// Bytes per logical page: its place on the flash.
const LOGICAL_PAGE_BYTES: u64 = 4;
/// Bytes per flash page, in eighths: its owner, and a valid bit.
const FLASH_PAGE_EIGHTHS: u64 = 33;
/// Bytes per erase block: state, lists of the policy, erase counts.
const BLOCK_BYTES: u64 = 96;

/// Bytes that one FTL takes on this drive, within a few percent; policies with state per page take
/// more.
pub(crate) fn needed_bytes(config: &DriveConfig) -> u64 {
    u64::from(config.logical_pages) * LOGICAL_PAGE_BYTES
        + u64::from(config.geometry.pages()) * FLASH_PAGE_EIGHTHS / 8
        + u64::from(config.geometry.blocks()) * BLOCK_BYTES
}

/// Bytes that watching the pages of one FTL takes besides.
fn watch_bytes(config: &DriveConfig) -> u64 {
    u64::from(config.logical_pages) * AnyFtl::WATCH_PAGE_BYTES
}

/// Refuses drives that do not fit into memory, with what watching pages takes.
pub(crate) fn check(
    config: &DriveConfig,
    ftls: usize,
    watches_pages: bool,
) -> Result<u64, SimError> {
    let watch_bytes = if watches_pages { watch_bytes(config) } else { 0 };
    let each_bytes = needed_bytes(config) + watch_bytes;
    let shared_bytes =
        if watches_pages { u64::from(config.logical_pages) * WorkloadWatch::PAGE_BYTES } else { 0 };
    check_against(each_bytes, shared_bytes, ftls, available_bytes())
}

fn check_against(
    each_bytes: u64,
    shared_bytes: u64,
    ftls: usize,
    available_bytes: Option<u64>,
) -> Result<u64, SimError> {
    let needed_bytes = each_bytes.saturating_mul(ftls as u64).saturating_add(shared_bytes);
    match available_bytes {
        Some(available_bytes) if needed_bytes > available_bytes => {
            Err(SimError::Memory { ftls, needed_bytes, available_bytes })
        }
        _ => Ok(needed_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::Geometry;
    use ftlab_machine::OwnPolicies;

    fn config() -> DriveConfig {
        DriveConfig::new(Geometry::new(1200, 1000, 4096).unwrap(), 1_000_000, 4)
    }

    #[test]
    fn the_estimate_is_close() {
        let (spec, own) = ("2r++".parse().unwrap(), OwnPolicies::default());
        let ftl = AnyFtl::new(&spec, &own, config(), None, None, false).unwrap();
        let real = (ftl.memory_bytes().drive + ftl.memory_bytes().policy) as f64;
        let estimated = needed_bytes(&config()) as f64;
        assert!((estimated / real - 1.0).abs() < 0.05, "{estimated} for {real}");
    }

    #[test]
    fn a_drive_beyond_the_memory_is_refused_with_the_numbers() {
        assert!(check_against(needed_bytes(&config()), 0, 100, Some(1 << 30)).is_ok());
        assert!(check_against(needed_bytes(&config()), 0, 100_000, None).is_ok());
        let error =
            check_against(needed_bytes(&config()), 0, 1000, Some(1 << 30)).unwrap_err().to_string();
        assert!(
            error.starts_with("1000 FTLs on this drive need 8.4 GiB of memory, and 1.0 GiB"),
            "{error}"
        );
    }
}
