//! Identify (base 2.1, section 5.1.13).

use super::commands::Answer;
use super::controller::Controller;
use super::events::REQUESTS_MAX;
use super::layout::{
    Command, DISCOVERY_NQN, Descriptor, IdentifyController, IdentifyNamespace, Status,
    controller_of_nvm, descriptors, independent_namespace, number_list,
};
use super::namespace::Namespace;
use super::subsystem::{ERRORS_MAX, Subsystem};
use super::{
    ALL_NAMESPACES, ENDURANCE_GROUP, IN_CAPSULE_BYTES, QUEUE_ENTRIES_MAX, TRANSFER_SHIFT, VERSION,
};

/// What a command asks for (CNS).
mod asked {
    pub(super) const NAMESPACE: u8 = 0x00;
    pub(super) const CONTROLLER: u8 = 0x01;
    pub(super) const ACTIVE_NAMESPACES: u8 = 0x02;
    pub(super) const DESCRIPTORS: u8 = 0x03;
    pub(super) const NAMESPACE_OF_SET: u8 = 0x05;
    pub(super) const CONTROLLER_OF_SET: u8 = 0x06;
    pub(super) const ACTIVE_NAMESPACES_OF_SET: u8 = 0x07;
    pub(super) const INDEPENDENT_NAMESPACE: u8 = 0x08;
    pub(super) const ALLOCATED_NAMESPACES: u8 = 0x10;
    pub(super) const ALLOCATED_NAMESPACE: u8 = 0x11;
    pub(super) const CONTROLLERS_OF_NAMESPACE: u8 = 0x12;
    pub(super) const CONTROLLERS: u8 = 0x13;
    pub(super) const ENDURANCE_GROUPS: u8 = 0x19;
    pub(super) const COMMAND_SETS: u8 = 0x1c;
}

/// The limits of a Copy that Identify Namespace states.
pub(super) const COPY_BLOCKS_MAX: u16 = 4096;
/// The most sources of a Copy, and ranges of a dataset management command.
pub(super) const RANGES_MAX: usize = 128;

pub(super) fn identify(
    subsystem: &Subsystem,
    controller: &Controller,
    command: &Command,
) -> Result<Answer, Status> {
    let asked = command.dword(10) as u8;
    let command_set = command.dword(11) >> 24;
    let of_set = matches!(
        asked,
        asked::NAMESPACE_OF_SET | asked::CONTROLLER_OF_SET | asked::ACTIVE_NAMESPACES_OF_SET
    );
    if of_set && command_set != 0 {
        return Err(Status::INVALID_FIELD);
    }
    if controller.is_discovery {
        let is_own = asked == asked::CONTROLLER;
        let data = is_own.then(|| of_discovery(controller).encode());
        return data.map(Answer::Data).ok_or(Status::INVALID_FIELD);
    }
    data_of(asked, subsystem, controller, command).map(Answer::Data)
}

/// What is answered where there are namespaces.
fn data_of(
    asked: u8,
    subsystem: &Subsystem,
    controller: &Controller,
    command: &Command,
) -> Result<Vec<u8>, Status> {
    let namespace = || subsystem.namespace(command.namespace).ok_or(Status::INVALID_NAMESPACE);
    Ok(match asked {
        asked::NAMESPACE if command.namespace == ALL_NAMESPACES => of_all(subsystem).encode(),
        asked::NAMESPACE | asked::ALLOCATED_NAMESPACE => {
            of_namespace(subsystem, namespace()?).encode()
        }
        asked::CONTROLLER => of_controller(subsystem, controller).encode(),
        asked::ACTIVE_NAMESPACES
        | asked::ACTIVE_NAMESPACES_OF_SET
        | asked::ALLOCATED_NAMESPACES => {
            let after = command.namespace;
            if after >= ALL_NAMESPACES - 1 {
                return Err(Status::INVALID_NAMESPACE);
            }
            let ids = subsystem.namespaces.iter().map(|namespace| namespace.id);
            number_list(true, ids.filter(|id| *id > after))
        }
        asked::DESCRIPTORS => {
            let uuid = namespace()?.uuid;
            let unique = Descriptor::Unique(uuid);
            descriptors(&[unique, Descriptor::Uuid(uuid), Descriptor::CommandSet(0)])
        }
        // Nothing of it applies to blocks without metadata.
        asked::NAMESPACE_OF_SET => namespace().map(|_| vec![0; 4096])?,
        asked::CONTROLLER_OF_SET => {
            let blocks = subsystem.store.bytes() >> subsystem.namespaces[0].block_shift;
            controller_of_nvm(RANGES_MAX as u8, u32::try_from(blocks).unwrap_or(u32::MAX))
        }
        asked::INDEPENDENT_NAMESPACE => {
            let is_read_only = subsystem.store.is_read_only();
            independent_namespace(&of_namespace(subsystem, namespace()?), is_read_only)
        }
        asked::CONTROLLERS | asked::CONTROLLERS_OF_NAMESPACE => {
            if asked == asked::CONTROLLERS_OF_NAMESPACE {
                namespace()?;
            }
            let from = (command.dword(10) >> 16) as u16;
            let ids = subsystem.controller_ids().into_iter().filter(|id| *id >= from);
            number_list(false, ids.map(u32::from))
        }
        asked::ENDURANCE_GROUPS => {
            let from = command.dword(11) as u16;
            number_list(
                false,
                (from <= ENDURANCE_GROUP).then_some(ENDURANCE_GROUP.into()).into_iter(),
            )
        }
        // One combination of command sets: NVM alone.
        asked::COMMAND_SETS => {
            let mut data = vec![0; 4096];
            data[0] = 1;
            data
        }
        _ => return Err(Status::INVALID_FIELD),
    })
}

/// What all controllers have in common.
fn common(controller: &Controller) -> IdentifyController {
    IdentifyController {
        model: "ftlab drive".to_owned(),
        firmware: firmware_revision().to_owned(),
        transfer_max: TRANSFER_SHIFT,
        id: controller.id,
        version: VERSION,
        at_once: REQUESTS_MAX as u8 - 1,
        keep_alive: 10,
        commands_max: QUEUE_ENTRIES_MAX,
        // Data blocks with an offset into the capsule, and no bit buckets.
        sgls: 1 | 1 << 20,
        ..IdentifyController::default()
    }
}

/// The version of ftlab.
pub(super) fn firmware_revision() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn of_discovery(controller: &Controller) -> IdentifyController {
    IdentifyController {
        kind: 2,
        subsystem: DISCOVERY_NQN.to_owned(),
        // Get Log Page takes an offset.
        log_pages: 1 << 2,
        ..common(controller)
    }
}

fn of_controller(subsystem: &Subsystem, controller: &Controller) -> IdentifyController {
    let has_handles = subsystem.placements.is_enabled();
    let (identifiers, groups, placement) = (1, 1 << 4, u32::from(has_handles) << 19);
    IdentifyController {
        serial: subsystem.serial.clone(),
        // Several controllers.
        sharing: 1 << 1,
        attributes: identifiers | groups | placement,
        kind: 1,
        // A storage subsystem.
        reports: 1,
        // Format; directives.
        admin_commands: 1 << 1 | u16::from(has_handles) << 5,
        // One slot, which cannot be written.
        firmware_slots: 1 | 1 << 1,
        // Health of each namespace is that of the drive; effects, extended data, supported log pages.
        log_pages: 1 << 1 | 1 << 2 | 1 << 5,
        error_entries: ERRORS_MAX as u8 - 1,
        capacity_bytes: subsystem.store.bytes().into(),
        // Cryptographic erase, block erase, overwrite; nothing is written after that.
        sanitize: 0b111 | 1 << 30,
        endurance_groups: ENDURANCE_GROUP,
        namespaces: subsystem.namespaces.len() as u32,
        // Compare, Write Uncorrectable, Dataset Management, Write Zeroes, timestamp, Verify, Copy.
        io_commands: 0b1111 | 1 << 6 | 1 << 7 | 1 << 8,
        // Cryptographic erase.
        format: 1 << 2,
        // It has one, and a flush may be for all namespaces.
        write_cache: 1 | 3 << 1,
        copy_formats: 1,
        subsystem: subsystem.nqn.clone(),
        command_capsule_bytes: Command::BYTES as u32 + IN_CAPSULE_BYTES,
        ..common(controller)
    }
}

fn of_namespace(subsystem: &Subsystem, namespace: &Namespace) -> IdentifyNamespace {
    let status = subsystem.drive.status();
    let blocks = namespace.blocks();
    let page_bytes = subsystem.store.block_bytes();
    let used_bytes = u64::from(status.mapped_pages) * u64::from(page_bytes);
    let used = used_bytes >> namespace.block_shift;
    let is_only_one = subsystem.namespaces.len() == 1;
    IdentifyNamespace {
        blocks,
        // What each of several uses is not counted.
        used_blocks: if is_only_one { used.min(blocks) } else { blocks },
        // The preferred units are those of the drive.
        features: 1 << 4,
        // Hosts may share it.
        sharing: 1,
        // Deallocated blocks read as zeros; Write Zeroes can deallocate.
        deallocation: 1 | 1 << 3,
        unit_blocks: (page_bytes >> namespace.block_shift) as u16,
        capacity_bytes: namespace.bytes.into(),
        attributes: u8::from(subsystem.store.is_read_only()),
        endurance_group: ENDURANCE_GROUP,
        id: namespace.uuid,
        ..of_all(subsystem)
    }
}

/// What all namespaces have in common.
fn of_all(subsystem: &Subsystem) -> IdentifyNamespace {
    IdentifyNamespace {
        block_shift: subsystem.namespaces[0].block_shift,
        copy_blocks_max: COPY_BLOCKS_MAX,
        copy_sources: RANGES_MAX as u8 - 1,
        ..IdentifyNamespace::default()
    }
}
