//! Health, with the names of nvme-cli.

use crate::{BlockMap, DriveStatus, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The share of spare blocks below which the drive warns, in percent.
const SPARE_THRESHOLD: u64 = 10;

/// A data unit of NVMe is a thousand sectors of 512 bytes.
const DATA_UNIT_BYTES: u64 = 512_000;

/// Bits of the critical warning.
const SPARE_IS_LOW: u8 = 1 << 0;
const IS_READ_ONLY: u8 = 1 << 3;

/// The part of the SMART log (`nvme smart-log -o json`) and of its extension by the Open Compute
/// Project (`nvme ocp smart-add-log`) that applies to a drive in a file. It has no temperature and no
/// power-on hours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Smart {
    /// Bit 0: few spare blocks are left; bit 3: the drive is read-only.
    pub critical_warning: u8,
    /// Spare blocks that are not retired, in percent.
    pub avail_spare: u64,
    /// Below this, bit 0 of the warning is set.
    pub spare_thresh: u64,
    /// Erases of all blocks as a percentage of those that they endure; 0 if the drive is not rated. It may exceed
    /// 100.
    pub percent_used: u64,
    /// Bytes that the flash takes until it is worn, which a host could write if nothing were amplified; 0 if the
    /// drive is not rated.
    pub endurance_bytes: u64,
    /// Thousands of sectors read since serving began, rounded up.
    pub data_units_read: u64,
    /// Thousands of sectors written since the drive was created, rounded up: since serving began as they were sent,
    /// before that in whole pages, of which the drive keeps count.
    pub data_units_written: u64,
    /// Reads since serving began.
    pub host_read_commands: u64,
    /// Writes since serving began.
    pub host_write_commands: u64,
    /// Number of times the drive was opened without having been closed.
    pub unsafe_shutdowns: u64,
    /// Pages that could not be read back.
    pub media_errors: u64,
    /// Requests that failed since serving began.
    pub num_err_log_entries: u64,
    /// Bytes programmed, relocations and metadata included.
    pub physical_media_units_written: u64,
    /// Retired erase blocks.
    pub bad_user_nand_blocks: u64,
    /// Pages that could not be read back.
    pub uncorrectable_read_error_count: u64,
    /// Free blocks, in percent.
    pub percent_free_blocks: u64,
    /// Erase count of the most-erased block.
    pub max_user_data_erase_count: u64,
    /// Erase count of the least-erased block.
    pub min_user_data_erase_count: u64,
}

impl Smart {
    /// The health of a drive and the requests to it in `status`, and its blocks.
    pub(crate) fn new(status: &Status, blocks: &BlockMap) -> Self {
        let (drive, host) = (&status.drive, &status.host);
        let page_bytes = u64::from(drive.page_bytes);
        let failed = [&host.reads, &host.writes, &host.trims, &host.flushes].map(|r| r.failed);
        let cycles = drive.endurance_cycles.unwrap_or(0);
        let endured = u64::from(drive.blocks) * u64::from(cycles);
        let erases: u64 = blocks.erases.iter().map(|erases| u64::from(*erases)).sum();
        let block_bytes = u64::from(drive.pages_per_block) * page_bytes;
        let programmed_bytes = drive.flash.programmed_pages() * page_bytes;
        Self {
            critical_warning: Self::warnings(drive),
            avail_spare: spare_percent(drive),
            spare_thresh: SPARE_THRESHOLD,
            percent_used: (100 * erases).checked_div(endured).unwrap_or(0),
            endurance_bytes: block_bytes.saturating_mul(endured),
            data_units_read: host.reads.bytes.div_ceil(DATA_UNIT_BYTES),
            data_units_written: status.sent_bytes().div_ceil(DATA_UNIT_BYTES),
            host_read_commands: host.reads.requests,
            host_write_commands: host.writes.requests,
            unsafe_shutdowns: drive.health.unsafe_shutdowns,
            media_errors: drive.health.media_errors,
            num_err_log_entries: failed.iter().sum(),
            physical_media_units_written: programmed_bytes + drive.flash.metadata_bytes,
            bad_user_nand_blocks: drive.retired_blocks.into(),
            uncorrectable_read_error_count: drive.health.media_errors,
            percent_free_blocks: 100 * u64::from(drive.free_blocks)
                / u64::from(drive.blocks.max(1)),
            max_user_data_erase_count: blocks.erases.iter().max().copied().unwrap_or(0).into(),
            min_user_data_erase_count: blocks.erases.iter().min().copied().unwrap_or(0).into(),
        }
    }

    /// The bits of the critical warning.
    pub(crate) fn warnings(drive: &DriveStatus) -> u8 {
        let mut warnings = 0;
        if spare_percent(drive) < SPARE_THRESHOLD {
            warnings |= SPARE_IS_LOW;
        }
        if drive.health.read_only.is_some() {
            warnings |= IS_READ_ONLY;
        }
        warnings
    }

    /// Names and values, in the order and wording of nvme-cli's text output.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let bytes = |units: u64| format!("{units} ({} MB)", units * DATA_UNIT_BYTES / 1_000_000);
        vec![
            ("critical_warning", self.critical_warning.to_string()),
            ("available_spare", format!("{}%", self.avail_spare)),
            ("available_spare_threshold", format!("{}%", self.spare_thresh)),
            ("percentage_used", format!("{}%", self.percent_used)),
            ("data_units_read", bytes(self.data_units_read)),
            ("data_units_written", bytes(self.data_units_written)),
            ("host_read_commands", self.host_read_commands.to_string()),
            ("host_write_commands", self.host_write_commands.to_string()),
            ("unsafe_shutdowns", self.unsafe_shutdowns.to_string()),
            ("media_errors", self.media_errors.to_string()),
            ("num_err_log_entries", self.num_err_log_entries.to_string()),
            ("Physical media units written", self.physical_media_units_written.to_string()),
            ("Bad user nand blocks - Raw", self.bad_user_nand_blocks.to_string()),
            ("Uncorrectable read error count", self.uncorrectable_read_error_count.to_string()),
            ("Percent free blocks", self.percent_free_blocks.to_string()),
            ("Max User data erase counts", self.max_user_data_erase_count.to_string()),
            ("Min User data erase counts", self.min_user_data_erase_count.to_string()),
            ("Endurance estimate", format!("{} bytes", self.endurance_bytes)),
        ]
    }
}

/// Spare blocks that are not retired, in percent.
fn spare_percent(drive: &DriveStatus) -> u64 {
    let data_blocks = drive.logical_pages.div_ceil(drive.pages_per_block.max(1));
    let spare = u64::from(drive.blocks.saturating_sub(data_blocks)).max(1);
    100 * spare.saturating_sub(drive.retired_blocks.into()) / spare
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlashCounters, Health};

    #[test]
    fn units_percentages_and_warnings_are_those_of_the_standard() {
        let flash = FlashCounters {
            host_pages: 126,
            relocated_pages: 10,
            metadata_bytes: 7,
            ..FlashCounters::default()
        };
        let drive = DriveStatus {
            page_bytes: 4096,
            pages_per_block: 64,
            blocks: 120,
            logical_pages: 6400,
            retired_blocks: 19,
            free_blocks: 30,
            flash,
            health: Health { read_only: Some("full".to_owned()), ..Health::default() },
            ..DriveStatus::default()
        };
        let status = Status { drive, ..Status::default() };
        let blocks = BlockMap { erases: vec![3, 9, 4], ..BlockMap::default() };
        let smart = Smart::new(&status, &blocks);
        // 126 pages are 516,096 bytes: more than one unit.
        assert_eq!((smart.data_units_written, smart.data_units_read), (2, 0));
        assert_eq!((smart.avail_spare, smart.critical_warning), (5, 0b1001));
        assert_eq!(smart.physical_media_units_written, 136 * 4096 + 7);
        assert_eq!(smart.percent_free_blocks, 25);
        assert_eq!((smart.max_user_data_erase_count, smart.min_user_data_erase_count), (9, 3));
        assert_eq!((smart.percent_used, smart.endurance_bytes), (0, 0), "not rated");
        // What is written from now on counts as it is sent: 100 sectors, of which each takes a page.
        let mut status = status;
        status.serving.host_pages = 100;
        status.drive.flash.host_pages += 100;
        status.host.writes.bytes = 100 * 512;
        assert_eq!(Smart::new(&status, &blocks).data_units_written, 2);
        status.host.writes.bytes = 1000 * 512;
        assert_eq!(Smart::new(&status, &blocks).data_units_written, 3);
        // 16 erases of the 3 * 2 that these blocks endure: worn out, and written on.
        (status.drive.blocks, status.drive.endurance_cycles) = (3, Some(2));
        let smart = Smart::new(&status, &blocks);
        assert_eq!((smart.percent_used, smart.endurance_bytes), (266, 6 * 64 * 4096));
    }
}
