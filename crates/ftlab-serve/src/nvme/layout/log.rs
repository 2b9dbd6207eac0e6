//! Log pages (base 2.1, section 5.1.12.1; OCP Datacenter NVMe SSD 2.5, section 4.8.4).

use super::fields::Writer;
use super::status::Status;
use crate::Smart;

/// An entry of the error log, 01h (base 2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ErrorEntry {
    /// Its number, from 1.
    pub(crate) count: u64,
    /// SQID.
    pub(crate) queue: u16,
    /// CID.
    pub(crate) command: u16,
    pub(crate) status: Status,
    /// LBA.
    pub(crate) block: u64,
    pub(crate) namespace: u32,
}

impl ErrorEntry {
    pub(crate) const BYTES: usize = 64;

    pub(crate) fn put(&self, bytes: &mut [u8]) {
        let mut fields = Writer(bytes);
        fields.u64(0, self.count).u16(8, self.queue).u16(10, self.command);
        fields.u16(12, self.status.bits() << 1).u16(14, u16::MAX).u64(16, self.block);
        // TRTYPE: TCP.
        fields.u32(24, self.namespace).u8(29, 3);
    }
}

/// Units of the endurance group: billions of bytes, rounded up.
const ENDURANCE_UNIT_BYTES: u128 = 1_000_000_000;

/// The percentage of its life that a drive has used, which is 255 if it is more.
fn percent_used(smart: &Smart) -> u8 {
    u8::try_from(smart.percent_used).unwrap_or(u8::MAX)
}

/// SMART / Health Information, log 02h (base 2.1). There is no sensor of temperature, so
/// that it is 0.
pub(crate) struct SmartLog<'a> {
    pub(crate) smart: &'a Smart,
    /// Hours of serving.
    pub(crate) hours: u64,
}

impl SmartLog<'_> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let Self { smart, hours } = self;
        let mut bytes = vec![0; 512];
        let mut fields = Writer(&mut bytes);
        fields.u8(0, smart.critical_warning).u8(3, smart.avail_spare as u8);
        fields.u8(4, smart.spare_thresh as u8).u8(5, percent_used(smart));
        for (at, count) in [
            (32, smart.data_units_read),
            (48, smart.data_units_written),
            (64, smart.host_read_commands),
            (80, smart.host_write_commands),
            (128, *hours),
            (144, smart.unsafe_shutdowns),
            (160, smart.media_errors),
            (176, smart.num_err_log_entries),
        ] {
            fields.u128(at, count.into());
        }
        bytes
    }
}

/// Endurance Group Information, log 09h (base 2.1).
pub(crate) struct EnduranceLog<'a>(pub(crate) &'a Smart);

impl EnduranceLog<'_> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let smart = self.0;
        let mut bytes = vec![0; 512];
        let mut fields = Writer(&mut bytes);
        fields.u8(0, smart.critical_warning & 0b1101).u8(3, smart.avail_spare as u8);
        fields.u8(4, smart.spare_thresh as u8).u8(5, percent_used(smart));
        let units =
            |data_units: u64| (u128::from(data_units) * 512_000).div_ceil(ENDURANCE_UNIT_BYTES);
        for (at, count) in [
            (32, u128::from(smart.endurance_bytes).div_ceil(ENDURANCE_UNIT_BYTES)),
            (48, units(smart.data_units_read)),
            (64, units(smart.data_units_written)),
            (80, u128::from(smart.physical_media_units_written).div_ceil(ENDURANCE_UNIT_BYTES)),
            (96, smart.host_read_commands.into()),
            (112, smart.host_write_commands.into()),
            (128, smart.media_errors.into()),
            (144, smart.num_err_log_entries.into()),
        ] {
            fields.u128(at, count);
        }
        bytes
    }
}

/// SMART / Health Information Extended, log C0h, of the Open Compute Project (table 18).
pub(crate) struct ExtendedSmart<'a> {
    pub(crate) smart: &'a Smart,
    /// NUSE of all namespaces.
    pub(crate) used_blocks: u64,
}

impl ExtendedSmart<'_> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        /// AFD514C9-7C6F-4F9C-A4F2-BFEA2810AFC5.
        const GUID: u128 = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5;
        /// The version of the log page.
        const VERSION: u16 = 3;
        let smart = self.smart;
        let mut bytes = vec![0; 512];
        let mut fields = Writer(&mut bytes);
        fields.u128(0, smart.physical_media_units_written.into());
        // Six bytes of the count, and two of what is left, in percent.
        fields.u64(32, smart.bad_user_nand_blocks & 0xffff_ffff_ffff).u16(38, 100);
        fields.u16(46, 100).u64(56, smart.uncorrectable_read_error_count);
        fields.u32(88, smart.max_user_data_erase_count as u32);
        fields.u32(92, smart.min_user_data_erase_count as u32);
        fields.u32(112, smart.unsafe_shutdowns as u32).u8(120, smart.percent_free_blocks as u8);
        fields.u64(152, self.used_blocks).u16(494, VERSION).u128(496, GUID);
        fields.u128(176, u128::from(smart.endurance_bytes).div_ceil(ENDURANCE_UNIT_BYTES));
        bytes
    }
}

/// Firmware Slot Information, log 03h (base 2.1): one slot, which is active.
pub(crate) fn firmware(revision: &str) -> Vec<u8> {
    let mut bytes = vec![0; 512];
    Writer(&mut bytes).u8(0, 1).padded(8, 8, revision);
    bytes
}

/// Commands Supported and Effects, log 05h (base 2.1): codes of admin and of I/O commands,
/// and whether they change data.
pub(crate) fn effects(admin: &[(u8, bool)], io: &[(u8, bool)]) -> Vec<u8> {
    const SUPPORTED: u32 = 1 << 0;
    /// LBCC.
    const CHANGES: u32 = 1 << 1;
    let mut bytes = vec![0; 4096];
    let mut fields = Writer(&mut bytes);
    for (start, list) in [(0, admin), (1024, io)] {
        for (code, changes) in list {
            let effect = SUPPORTED | if *changes { CHANGES } else { 0 };
            fields.u32(start + 4 * usize::from(*code), effect);
        }
    }
    bytes
}

/// Supported Log Pages, 00h, and Feature Identifiers Supported and Effects, 12h (base 2.1
/// and 248): an entry of 4 bytes for each identifier, whose lowest bit says that it is there.
pub(crate) fn support(identifiers: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 1024];
    let mut fields = Writer(&mut bytes);
    for identifier in identifiers {
        fields.u32(4 * usize::from(*identifier), 1);
    }
    bytes
}

/// Sanitize Status, log 81h (base 2.1): the last action, if there was one; it is complete.
pub(crate) fn sanitize_status(action: Option<u32>) -> Vec<u8> {
    const COMPLETE: u16 = 1;
    let mut bytes = vec![0; 512];
    let mut fields = Writer(&mut bytes);
    // Progress, and the estimated times, none of which is known.
    fields.u16(0, u16::MAX);
    for at in (8..32).step_by(4) {
        fields.u32(at, u32::MAX);
    }
    if let Some(action) = action {
        fields.u16(2, COMPLETE).u32(4, action);
    }
    bytes
}
