//! Get Features and Set Features (base 2.1, sections 5.1.11 and 5.1.25).

use super::commands::Answer;
use super::controller::Controller;
use super::layout::{Command, Status, event_types};
use super::namespace::Namespace;
use super::settings::{BEHAVIOR_BYTES, Features};
use super::subsystem::Subsystem;
use super::{ENDURANCE_GROUP, QUEUES_MAX};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Identifiers of features.
mod feature {
    pub(super) const ARBITRATION: u8 = 0x01;
    pub(super) const POWER: u8 = 0x02;
    pub(super) const TEMPERATURE: u8 = 0x04;
    pub(super) const ERROR_RECOVERY: u8 = 0x05;
    pub(super) const WRITE_CACHE: u8 = 0x06;
    pub(super) const QUEUES: u8 = 0x07;
    pub(super) const ATOMICITY: u8 = 0x0a;
    pub(super) const EVENTS: u8 = 0x0b;
    pub(super) const TIMESTAMP: u8 = 0x0e;
    pub(super) const KEEP_ALIVE: u8 = 0x0f;
    pub(super) const HOST_BEHAVIOR: u8 = 0x16;
    pub(super) const PLACEMENT: u8 = 0x1d;
    pub(super) const PLACEMENT_EVENTS: u8 = 0x1e;
    pub(super) const HOST_ID: u8 = 0x81;
}

/// All of them; those of flexible data placement exist if the drive has handles.
const ALL: [u8; 14] = [
    feature::ARBITRATION,
    feature::POWER,
    feature::TEMPERATURE,
    feature::ERROR_RECOVERY,
    feature::WRITE_CACHE,
    feature::QUEUES,
    feature::ATOMICITY,
    feature::EVENTS,
    feature::TIMESTAMP,
    feature::KEEP_ALIVE,
    feature::HOST_BEHAVIOR,
    feature::PLACEMENT,
    feature::PLACEMENT_EVENTS,
    feature::HOST_ID,
];

pub(super) fn available(subsystem: &Subsystem) -> Vec<u8> {
    let has_handles = subsystem.placements.is_enabled();
    let is_there = |id: &u8| has_handles || !of_placement(*id);
    ALL.into_iter().filter(is_there).collect()
}

fn of_placement(id: u8) -> bool {
    matches!(id, feature::PLACEMENT | feature::PLACEMENT_EVENTS)
}

/// A feature that a command names, and for what.
struct Named<'a> {
    subsystem: &'a Subsystem,
    controller: &'a Controller,
    id: u8,
    /// Command dword 11.
    value: u32,
    command: &'a Command,
}

impl<'a> Named<'a> {
    fn new(
        subsystem: &'a Subsystem,
        controller: &'a Controller,
        command: &'a Command,
    ) -> Result<Self, Status> {
        let id = command.dword(10) as u8;
        let of_discovery = [feature::EVENTS, feature::KEEP_ALIVE].contains(&id);
        let exists = ALL.contains(&id)
            && (!of_placement(id) || subsystem.placements.is_enabled())
            && (!controller.is_discovery || of_discovery);
        let value = command.dword(11);
        let named = Self { subsystem, controller, id, value, command };
        if exists { Ok(named) } else { Err(Status::INVALID_FIELD) }
    }

    fn namespace(&self) -> Result<&'a Namespace, Status> {
        let namespace = self.subsystem.namespace(self.command.namespace);
        namespace.ok_or(Status::INVALID_NAMESPACE)
    }

    /// One of the two temperature thresholds.
    fn threshold(&self) -> Result<usize, Status> {
        let (sensor, which) = (self.value >> 16 & 15, (self.value >> 20 & 3) as usize);
        if sensor == 0 && which < 2 { Ok(which) } else { Err(Status::INVALID_FIELD) }
    }

    fn value(&self, features: &Features, is_write_cache_on: bool) -> Result<Answer, Status> {
        let queues = u64::from(QUEUES_MAX - 1);
        Ok(match self.id {
            feature::ARBITRATION => Answer::Done(features.arbitration.into()),
            feature::TEMPERATURE => Answer::Done(features.temperatures[self.threshold()?].into()),
            feature::ERROR_RECOVERY => Answer::Done(features.error_recovery.into()),
            feature::WRITE_CACHE => Answer::Done(is_write_cache_on.into()),
            feature::QUEUES => Answer::Done(queues | queues << 16),
            feature::ATOMICITY => Answer::Done(features.atomicity.into()),
            feature::EVENTS => Answer::Done(features.events.into()),
            feature::KEEP_ALIVE => Answer::Done(features.keep_alive_ms.into()),
            feature::TIMESTAMP => Answer::Data(features.timestamp().to_le_bytes().to_vec()),
            feature::HOST_BEHAVIOR => Answer::Data(features.behavior.clone()),
            feature::HOST_ID => Answer::Data(self.controller.host_id.to_le_bytes().to_vec()),
            feature::PLACEMENT if self.value as u16 != ENDURANCE_GROUP => {
                return Err(Status::INVALID_FIELD);
            }
            feature::PLACEMENT => Answer::Done(1),
            feature::PLACEMENT_EVENTS => {
                let placements = &self.subsystem.placements;
                let types = placements.event_types(self.namespace()?, self.value as u16)?;
                let asked = (self.value >> 16 & 0xff) as usize;
                let shown = &types[..asked.min(types.len())];
                Answer::DataAnd(event_types(shown), types.len() as u64)
            }
            // There is one power state.
            _ => Answer::Done(0),
        })
    }

    /// What it can do: bit 1 for one of each namespace, bit 2 for one that can be changed. None is saved.
    fn capabilities(&self) -> u64 {
        let is_fixed = matches!(self.id, feature::PLACEMENT | feature::HOST_ID);
        let of_namespace = matches!(self.id, feature::ERROR_RECOVERY | feature::PLACEMENT_EVENTS);
        u64::from(!is_fixed) << 2 | u64::from(of_namespace) << 1
    }
}

/// Get Features.
pub(super) fn get(
    subsystem: &Subsystem,
    controller: &Controller,
    command: &Command,
) -> Result<Answer, Status> {
    let named = Named::new(subsystem, controller, command)?;
    match command.dword(10) >> 8 & 7 {
        0 => {
            let is_write_cache_on = controller.has_write_cache.load(Ordering::Relaxed);
            named.value(&controller.state().features, is_write_cache_on)
        }
        // What is not saved is as by default.
        1 | 2 => named.value(&Features::new(0), true),
        3 => Ok(Answer::Done(named.capabilities())),
        _ => Err(Status::INVALID_FIELD),
    }
}

/// Set Features.
pub(super) fn set(
    subsystem: &Subsystem,
    controller: &Controller,
    command: &Command,
    data: &[u8],
) -> Result<Answer, Status> {
    let named = Named::new(subsystem, controller, command)?;
    let value = named.value;
    if command.dword(10) >> 31 != 0 {
        return Err(Status::NOT_SAVEABLE);
    }
    if named.id == feature::WRITE_CACHE {
        let is_on = value & 1 != 0;
        controller.has_write_cache.store(is_on, Ordering::Relaxed);
        if !is_on {
            subsystem.store.flush().map_err(|_| Status::WRITE_FAULT)?;
        }
        return Ok(Answer::Done(0));
    }
    let mut state = controller.state();
    let features = &mut state.features;
    match named.id {
        feature::ARBITRATION => features.arbitration = value,
        feature::POWER if value & 31 != 0 => return Err(Status::INVALID_FIELD),
        feature::POWER => {}
        feature::TEMPERATURE => features.temperatures[named.threshold()?] = value as u16,
        feature::ERROR_RECOVERY => features.error_recovery = value & 0xffff,
        feature::QUEUES => return set_queues(value),
        feature::ATOMICITY => features.atomicity = value & 1,
        feature::EVENTS => features.events = value,
        feature::KEEP_ALIVE => features.keep_alive_ms = value,
        feature::TIMESTAMP => {
            let told = data.first_chunk().ok_or(Status::DATA_LENGTH)?;
            features.clock = Some((u64::from_le_bytes(*told), Instant::now()));
        }
        feature::HOST_BEHAVIOR => {
            features.behavior = data.get(..BEHAVIOR_BYTES).ok_or(Status::DATA_LENGTH)?.to_vec();
        }
        feature::PLACEMENT => return set_placement(&named),
        feature::PLACEMENT_EVENTS => {
            let types = data.get(..(value >> 16 & 0xff) as usize).ok_or(Status::DATA_LENGTH)?;
            let (placement, is_enabled) = (value as u16, command.dword(12) & 1 != 0);
            let namespace = named.namespace()?;
            // What has happened until now is logged, or not, as it was to be.
            subsystem.note_events();
            subsystem.placements.enable_events(namespace, placement, types, is_enabled)?;
        }
        _ => return Err(Status::NOT_CHANGEABLE),
    }
    Ok(Answer::Done(0))
}

/// The host says how many queues it wants, and is told how many it gets; both as one less.
fn set_queues(value: u32) -> Result<Answer, Status> {
    let (submission, completion) = (value & 0xffff, value >> 16);
    if submission == 0xffff || completion == 0xffff {
        return Err(Status::INVALID_FIELD);
    }
    let most = u32::from(QUEUES_MAX - 1);
    Ok(Answer::Done(u64::from(submission.min(most) | completion.min(most) << 16)))
}

/// Flexible data placement is on since the drive was created; it cannot be changed while there are
/// namespaces.
fn set_placement(named: &Named) -> Result<Answer, Status> {
    let (group, configuration) = (named.value as u16, named.command.dword(12));
    if group != ENDURANCE_GROUP || configuration >> 8 & 0xff != 0 {
        return Err(Status::INVALID_FIELD);
    }
    if configuration & 1 == 1 { Ok(Answer::Done(0)) } else { Err(Status::SEQUENCE) }
}
