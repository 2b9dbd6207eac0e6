//! Flexible data placement (base 2.1, sections 5.1.12.1.28 to 5.1.12.1.31, 5.1.25.1.20 and 5.1.25.1.21, which had been
//! TP 4146; NVM command set 1.1, section 3.3.4).

use super::fields::Writer;

/// FDP Configurations, log 20h (base 2.1): one configuration with one reclaim group.
/// `kinds` has an entry for each reclaim unit handle: whether it is persistently isolated.
pub(crate) fn configurations(kinds: &[bool], unit_bytes: u64, namespaces: u32) -> Vec<u8> {
    const HEADER: usize = 16;
    const DESCRIPTOR: usize = 64;
    /// FDPA: this configuration can be used; placement identifiers have no bits for a reclaim group.
    const VALID: u8 = 1 << 7;
    const INITIALLY: u8 = 1;
    const PERSISTENTLY: u8 = 2;
    let descriptor = (DESCRIPTOR + 4 * kinds.len()).next_multiple_of(8);
    let mut log = vec![0; HEADER + descriptor];
    let bytes = log.len() as u32;
    // The number of configurations is one less, as is that of placement identifiers.
    Writer(&mut log).u16(0, 0).u8(2, 0).u32(4, bytes);
    let mut fields = Writer(&mut log[HEADER..]);
    let handles = kinds.len() as u16;
    fields.u16(0, descriptor as u16).u8(2, VALID).u32(4, 1).u16(8, handles);
    fields.u16(10, handles.saturating_sub(1)).u32(12, namespaces).u64(16, unit_bytes);
    for (handle, is_persistent) in kinds.iter().enumerate() {
        let kind = if *is_persistent { PERSISTENTLY } else { INITIALLY };
        fields.u8(DESCRIPTOR + 4 * handle, kind);
    }
    log
}

/// Reclaim Unit Handle Usage, log 21h: whether each is used by a namespace.
pub(crate) fn usage(used: &[bool]) -> Vec<u8> {
    /// The host has named it.
    const HOST: u8 = 1;
    let mut log = vec![0; 8 + 8 * used.len()];
    let mut fields = Writer(&mut log);
    fields.u16(0, used.len() as u16);
    for (handle, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        fields.u8(8 + 8 * handle, HOST);
    }
    log
}

/// FDP Statistics, log 22h: bytes that hosts wrote, that were written to media, and erased.
pub(crate) fn statistics(host_bytes: u128, media_bytes: u128, erased_bytes: u128) -> Vec<u8> {
    let mut log = vec![0; 64];
    Writer(&mut log).u128(0, host_bytes).u128(16, media_bytes).u128(32, erased_bytes);
    log
}

/// An FDP event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its type.
    pub(crate) kind: u8,
    /// NSID and PID, if they are known.
    pub(crate) named: Option<(u32, u16)>,
    /// When, in milliseconds.
    pub(crate) milliseconds: u64,
    /// RUHID.
    pub(crate) handle: u16,
    /// Blocks that were moved (NLBAM); none of them is named.
    pub(crate) moved_blocks: u16,
}

impl Event {
    /// Of the host: it moved a handle on from a reclaim unit that was not full.
    pub(crate) const NOT_FULLY_WRITTEN: u8 = 0x00;
    /// Of the host: it named a placement identifier that does not exist.
    pub(crate) const INVALID_PLACEMENT: u8 = 0x03;
    /// Of the controller: pages were moved to another reclaim unit.
    pub(crate) const MEDIA_REALLOCATED: u8 = 0x80;

    /// Whether it is of the host, and not of the controller.
    pub(crate) fn is_of_host(&self) -> bool {
        self.kind < Self::MEDIA_REALLOCATED
    }
}

/// FDP Events, log 23h, newest first.
pub(crate) fn event_log<'a>(events: impl ExactSizeIterator<Item = &'a Event>) -> Vec<u8> {
    const BYTES: usize = 64;
    /// Placement identifier and namespace are valid.
    const NAMED: u8 = 0b011;
    /// The location is.
    const LOCATED: u8 = 0b100;
    let mut log = vec![0; BYTES * (1 + events.len())];
    Writer(&mut log).u32(0, events.len() as u32);
    for (event, bytes) in events.zip(log[BYTES..].chunks_exact_mut(BYTES)) {
        let mut fields = Writer(bytes);
        let flags = LOCATED | event.named.map_or(0, |_| NAMED);
        let (namespace, placement) = event.named.unwrap_or_default();
        fields.u8(0, event.kind).u8(1, flags).u16(2, placement);
        // The time has six bytes, and what follows them is zero.
        fields.u64(4, event.milliseconds & 0xffff_ffff_ffff).u32(12, namespace);
        fields.u16(18, event.moved_blocks).u16(34, event.handle);
    }
    log
}

/// What Get Features returns of FDP events: types, and whether they are enabled.
pub(crate) fn event_types(types: &[(u8, bool)]) -> Vec<u8> {
    types.iter().flat_map(|(kind, is_enabled)| [*kind, u8::from(*is_enabled)]).collect()
}

/// A reclaim unit handle as I/O Management Receive tells it (NVM command set 1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuhStatus {
    /// PID.
    pub(crate) placement: u16,
    /// RUHID.
    pub(crate) handle: u16,
    /// RUAMW: blocks that can still be written to its reclaim unit.
    pub(crate) left_blocks: u64,
}

/// Reclaim Unit Handle Status.
pub(crate) fn ruh_status(list: &[RuhStatus]) -> Vec<u8> {
    const HEADER: usize = 16;
    const BYTES: usize = 32;
    let mut data = vec![0; HEADER + BYTES * list.len()];
    Writer(&mut data).u16(14, list.len() as u16);
    for (status, bytes) in list.iter().zip(data[HEADER..].chunks_exact_mut(BYTES)) {
        let mut fields = Writer(bytes);
        fields.u16(0, status.placement).u16(2, status.handle).u64(8, status.left_blocks);
    }
    data
}
