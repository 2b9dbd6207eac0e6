//! Get Log Page (base 2.1, section 5.1.12).

use super::commands::{self, Answer, Context};
use super::identify::firmware_revision;
use super::layout::{
    Command, DISCOVERY_NQN, DiscoveryEntry, EnduranceLog, ErrorEntry, ExtendedSmart, SmartLog,
    Status, discovery_log, effects, firmware, sanitize_status, support,
};
use super::placement::Placements;
use super::subsystem::{ERRORS_MAX, Subsystem};
use super::{ADMIN_QUEUE_ENTRIES, ALL_NAMESPACES, ENDURANCE_GROUP, TRANSFER_BYTES_MAX, features};

/// Identifiers of log pages.
mod log {
    pub(super) const SUPPORTED: u8 = 0x00;
    pub(super) const ERRORS: u8 = 0x01;
    pub(super) const SMART: u8 = 0x02;
    pub(super) const FIRMWARE: u8 = 0x03;
    pub(super) const CHANGED_NAMESPACES: u8 = 0x04;
    pub(super) const EFFECTS: u8 = 0x05;
    pub(super) const ENDURANCE: u8 = 0x09;
    pub(super) const FEATURES: u8 = 0x12;
    pub(super) const PLACEMENT_CONFIGURATIONS: u8 = 0x20;
    pub(super) const PLACEMENT_USAGE: u8 = 0x21;
    pub(super) const PLACEMENT_STATISTICS: u8 = 0x22;
    pub(super) const PLACEMENT_EVENTS: u8 = 0x23;
    pub(super) const DISCOVERY: u8 = 0x70;
    pub(super) const SANITIZE: u8 = 0x81;
    pub(super) const EXTENDED_SMART: u8 = 0xc0;
}

/// Those of a controller of the drive.
const OF_DRIVE: [u8; 14] = [
    log::SUPPORTED,
    log::ERRORS,
    log::SMART,
    log::FIRMWARE,
    log::CHANGED_NAMESPACES,
    log::EFFECTS,
    log::ENDURANCE,
    log::FEATURES,
    log::PLACEMENT_CONFIGURATIONS,
    log::PLACEMENT_USAGE,
    log::PLACEMENT_STATISTICS,
    log::PLACEMENT_EVENTS,
    log::SANITIZE,
    log::EXTENDED_SMART,
];

/// Those of a discovery controller.
const OF_DISCOVERY: [u8; 2] = [log::SUPPORTED, log::DISCOVERY];

/// Get Log Page.
pub(super) fn get(context: &Context, command: &Command) -> Result<Answer, Status> {
    let id = command.dword(10) as u8;
    let dwords = u64::from(command.dword(10) >> 16 | command.dword(11) << 16) + 1;
    let (offset, bytes) = (command.wide(12), 4 * dwords);
    if bytes > TRANSFER_BYTES_MAX.into() || offset % 4 != 0 {
        return Err(Status::INVALID_FIELD);
    }
    let log = page(context, command, id)?;
    let rest = usize::try_from(offset).ok().and_then(|offset| log.get(offset..));
    let mut rest = rest.ok_or(Status::INVALID_FIELD)?.to_vec();
    rest.resize(bytes as usize, 0);
    let retains_event = command.dword(10) >> 15 & 1 != 0;
    if !retains_event {
        context.controller.state().events.has_read(id);
    }
    Ok(Answer::Data(rest))
}

/// A whole log page.
fn page(context: &Context, command: &Command, id: u8) -> Result<Vec<u8>, Status> {
    let Context { subsystem, controller, .. } = *context;
    let available = available(subsystem, controller.is_discovery);
    if !available.contains(&id) {
        return Err(Status::INVALID_LOG);
    }
    let (specific, group) = (command.dword(10) >> 8 & 0x7f, (command.dword(11) >> 16) as u16);
    let of_group = log::ENDURANCE == id
        || (log::PLACEMENT_CONFIGURATIONS..=log::PLACEMENT_EVENTS).contains(&id);
    if of_group && group != ENDURANCE_GROUP {
        return Err(Status::INVALID_FIELD);
    }
    let placements = &subsystem.placements;
    Ok(match id {
        log::SUPPORTED => support(&available),
        log::ERRORS => errors(subsystem),
        log::SMART => {
            let is_there = [0, ALL_NAMESPACES].contains(&command.namespace)
                || subsystem.namespace(command.namespace).is_some();
            if !is_there {
                return Err(Status::INVALID_NAMESPACE);
            }
            let hours = subsystem.uptime_ms() / 3_600_000;
            SmartLog { smart: &subsystem.smart(), hours }.encode()
        }
        log::FIRMWARE => firmware(firmware_revision()),
        log::CHANGED_NAMESPACES => vec![0; 4096],
        log::EFFECTS => effects(&commands::ADMIN, &commands::IO),
        log::ENDURANCE => EnduranceLog(&subsystem.smart()).encode(),
        log::FEATURES => support(&features::available(subsystem)),
        log::PLACEMENT_CONFIGURATIONS => placements.configurations(),
        log::PLACEMENT_USAGE => placements.usage(),
        log::PLACEMENT_STATISTICS => {
            Placements::statistics(&subsystem.drive.placement().unwrap_or_default())
        }
        log::PLACEMENT_EVENTS => {
            subsystem.note_events();
            placements.event_log(specific & 1 != 0)
        }
        log::DISCOVERY => discovery(context),
        log::SANITIZE => sanitize_status(subsystem.sanitized()),
        _ => {
            let used_pages = u64::from(subsystem.drive.status().mapped_pages);
            let used_bytes = used_pages * u64::from(subsystem.store.block_bytes());
            let used_blocks = used_bytes >> subsystem.namespaces[0].block_shift;
            ExtendedSmart { smart: &subsystem.smart(), used_blocks }.encode()
        }
    })
}

/// The log pages that there are; those of flexible data placement if the drive has handles.
fn available(subsystem: &Subsystem, is_discovery: bool) -> Vec<u8> {
    if is_discovery {
        return OF_DISCOVERY.to_vec();
    }
    let has_handles = subsystem.placements.is_enabled();
    let of_placement = log::PLACEMENT_CONFIGURATIONS..=log::PLACEMENT_EVENTS;
    OF_DRIVE.into_iter().filter(|id| has_handles || !of_placement.contains(id)).collect()
}

fn errors(subsystem: &Subsystem) -> Vec<u8> {
    let mut log = vec![0; ERRORS_MAX * ErrorEntry::BYTES];
    for (entry, bytes) in subsystem.errors().iter().zip(log.chunks_exact_mut(ErrorEntry::BYTES)) {
        entry.put(bytes);
    }
    log
}

/// Where the host has connected to, there are both the discovery service and the drive.
fn discovery(context: &Context) -> Vec<u8> {
    let Some(local) = context.local else { return discovery_log(&[]) };
    let entry = |is_discovery: bool, subsystem: &str| DiscoveryEntry {
        is_discovery,
        subsystem: subsystem.to_owned(),
        address: local.ip().to_canonical(),
        port: local.port(),
        admin_queue: ADMIN_QUEUE_ENTRIES,
    };
    discovery_log(&[entry(true, DISCOVERY_NQN), entry(false, &context.subsystem.nqn)])
}
