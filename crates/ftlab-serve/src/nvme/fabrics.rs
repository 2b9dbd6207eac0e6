//! Commands of fabrics: Connect, properties, Disconnect (base 2.1, section 6).

use super::commands::Answer;
use super::controller::Controller;
use super::layout::{Command, ConnectData, DISCOVERY_NQN, Status, opcode};
use super::subsystem::Subsystem;
use super::{ADMIN_QUEUE_ENTRIES, QUEUE_ENTRIES_MAX, QUEUES_MAX};
use crate::net::{Client, Link};
use std::sync::Arc;

/// A queue that has been connected.
pub(super) struct Connected {
    pub(super) controller: Arc<Controller>,
    /// QID: 0 for the admin queue.
    pub(super) queue: u16,
    pub(super) entries: u16,
    /// Whether the host wants to know how far its queue has been emptied.
    pub(super) has_flow_control: bool,
}

/// An error of Connect, and which parameter it is about: its offset, and whether it is one of the data.
pub(super) struct Refusal {
    pub(super) status: Status,
    at: u16,
    is_data: bool,
}

impl Refusal {
    /// Dword 0 of the completion: IPO and IATTR.
    pub(super) fn result(&self) -> u64 {
        u64::from(self.at) | u64::from(self.is_data) << 16
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self { status, at: 0, is_data: false }
    }
}

/// A parameter in the data of Connect is wrong.
fn wrong_data(at: u16) -> Refusal {
    Refusal { status: Status::CONNECT_PARAMETER, at, is_data: true }
}

/// A parameter in the command is wrong.
fn wrong_field(at: u16) -> Refusal {
    Refusal { status: Status::CONNECT_PARAMETER, at, is_data: false }
}

/// Where fields of the command are.
const QUEUE_AT: u16 = 42;
const SIZE_AT: u16 = 44;

pub(super) fn connect(
    subsystem: &Subsystem,
    link: &Link,
    command: &Command,
    data: &[u8],
) -> Result<Connected, Refusal> {
    let is_connect =
        command.opcode == opcode::FABRICS && command.fabrics_kind() == opcode::fabrics::CONNECT;
    if !is_connect {
        return Err(Status::SEQUENCE.into());
    }
    if data.len() < ConnectData::BYTES {
        return Err(Status::DATA_LENGTH.into());
    }
    let (format, queue) = (command.dword(10) as u16, (command.dword(10) >> 16) as u16);
    let (size, attributes) = (command.dword(11) as u16, command.dword(11) >> 16);
    if format != 0 {
        return Err(Refusal { status: Status::CONNECT_FORMAT, at: 40, is_data: false });
    }
    let data = ConnectData::decode(data);
    let is_discovery = data.subsystem == DISCOVERY_NQN;
    if !is_discovery && data.subsystem != subsystem.nqn {
        return Err(wrong_data(ConnectData::SUBSYSTEM_AT));
    }
    if !data.host.starts_with("nqn.") {
        return Err(wrong_data(ConnectData::HOST_AT));
    }
    if !is_discovery && !subsystem.admits(&data.host) {
        let status = Status::CONNECT_HOST;
        return Err(Refusal { status, at: ConnectData::HOST_AT, is_data: true });
    }
    let entries_max = if queue == 0 { ADMIN_QUEUE_ENTRIES } else { QUEUE_ENTRIES_MAX };
    if size == 0 || size >= entries_max {
        return Err(wrong_field(SIZE_AT));
    }
    let controller = if queue == 0 {
        if data.controller != u16::MAX {
            return Err(wrong_data(ConnectData::CONTROLLER_AT));
        }
        let (client, keep_alive_ms) = (Arc::new(Client::new(data.host)), command.dword(12));
        let (host_id, of_admin) = (data.host_id, link.clone());
        let new = |id| Controller::new(id, is_discovery, client, host_id, of_admin, keep_alive_ms);
        let controller = subsystem.add_controller(new)?;
        link.belongs_to(&controller.client, true);
        controller
    } else {
        let controller = subsystem.controller(data.controller);
        let is_same = |other: &Arc<Controller>| {
            other.client.name() == data.host && other.host_id == data.host_id
        };
        let controller = controller.filter(is_same);
        let controller = controller.ok_or(wrong_data(ConnectData::CONTROLLER_AT))?;
        if queue > QUEUES_MAX || controller.is_discovery {
            return Err(wrong_field(QUEUE_AT));
        }
        controller.add_queue(queue, link.clone())?;
        link.belongs_to(&controller.client, false);
        controller
    };
    let has_flow_control = attributes & 1 << 2 == 0;
    Ok(Connected { controller, queue, entries: size + 1, has_flow_control })
}

/// The other commands of fabrics.
pub(super) fn execute(
    subsystem: &Subsystem,
    controller: &Controller,
    queue: u16,
    command: &Command,
) -> Result<Answer, Status> {
    let (size, offset) = (command.dword(10) & 7, command.dword(11));
    match (command.fabrics_kind(), queue) {
        (opcode::fabrics::CONNECT, _) => Err(Status::SEQUENCE),
        (opcode::fabrics::PROPERTY_GET, 0) if size < 2 => {
            let value = controller.property(offset, size == 1, QUEUE_ENTRIES_MAX)?;
            Ok(Answer::Done(value))
        }
        (opcode::fabrics::PROPERTY_SET, 0) if size == 0 => {
            if controller.set_property(offset, command.wide(12))? {
                subsystem.store.flush().map_err(|_| Status::WRITE_FAULT)?;
                controller.shut_down();
            }
            Ok(Answer::Done(0))
        }
        (opcode::fabrics::PROPERTY_GET | opcode::fabrics::PROPERTY_SET, 0) => {
            Err(Status::INVALID_FIELD)
        }
        (opcode::fabrics::DISCONNECT, 1..) => Ok(Answer::Leave),
        _ => Err(Status::INVALID_OPCODE),
    }
}
