//! The controllers of a subsystem: how many there are, and which one makes way for another.
//!
//! A host that is in use, because it read or wrote in the last minutes, is never ended for another one. A host or a
//! machine with too many replaces its own idle ones, those that were not used for longest. When there are too many
//! of all, the host with the most does.

use super::controller::Controller;
use super::layout::Status;
use std::collections::HashMap;
use std::sync::Arc;

/// The most controllers at a time, of one machine, and of hosts of one name.
const CONTROLLERS_MAX: usize = 1024;
const OF_MACHINE_MAX: usize = 512;
const OF_HOST_MAX: usize = 64;

/// Numbers from this on are reserved.
const ID_MAX: u16 = 0xffef;

/// Controllers by their numbers.
#[derive(Default)]
pub(super) struct Controllers {
    pub(super) all: HashMap<u16, Arc<Controller>>,
    last: u16,
}

impl Controllers {
    /// Makes a controller with a number of its own, and takes out the one that makes way for it, if there has to be
    /// one. An error if too many are in use.
    pub(super) fn add(
        &mut self,
        make: impl FnOnce(u16) -> Controller,
    ) -> Result<(Arc<Controller>, Option<Arc<Controller>>), Status> {
        let mut id = self.last;
        // One is used again only after all others.
        loop {
            id = if id >= ID_MAX { 1 } else { id + 1 };
            if !self.all.contains_key(&id) {
                break;
            }
        }
        let new = Arc::new(make(id));
        let gone = self.room_for(&new)?.and_then(|gone| self.all.remove(&gone));
        self.last = id;
        self.all.insert(id, Arc::clone(&new));
        Ok((new, gone))
    }

    /// The number of the controller that has to make way; none if there is room.
    fn room_for(&self, new: &Controller) -> Result<Option<u16>, Status> {
        let is_of_host = |other: &Controller| other.client.name() == new.client.name();
        let is_of_machine = |other: &Controller| other.peer() == new.peer();
        if self.count(is_of_host) >= OF_HOST_MAX {
            self.idle(new, is_of_host)
        } else if self.count(is_of_machine) >= OF_MACHINE_MAX {
            self.idle(new, is_of_machine)
        } else if self.all.len() >= CONTROLLERS_MAX {
            self.idle(new, |_| true)
        } else {
            return Ok(None);
        }
        .map(Some)
        .ok_or(Status::CONNECT_BUSY)
    }

    fn count(&self, is_counted: impl Fn(&Controller) -> bool) -> usize {
        self.all.values().filter(|controller| is_counted(controller)).count()
    }

    /// Of these controllers, one that is not in use: of the host that has the most of them, the one that was not
    /// used for longest. A host with no more than the new one's is left alone.
    fn idle(&self, new: &Controller, is_among: impl Fn(&Controller) -> bool) -> Option<u16> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for controller in self.all.values() {
            *counts.entry(controller.client.name()).or_default() += 1;
        }
        let own_name = new.client.name();
        let count =
            |name: &str| counts.get(name).copied().unwrap_or(0) + usize::from(name == own_name);
        let own = count(own_name);
        self.all
            .values()
            .filter(|it| is_among(it) && !it.client.is_in_use() && count(it.client.name()) >= own)
            .min_by_key(|it| (usize::MAX - count(it.client.name()), it.client.rank(), it.id))
            .map(|it| it.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Client, Link};
    use std::time::Duration;

    /// Adds a controller of a host; its number, and that of the one that made way.
    fn add(controllers: &mut Controllers, host: &str) -> Result<(u16, Option<u16>), Status> {
        let client = Arc::new(Client::new(host.to_owned()));
        let make = |id| Controller::new(id, false, client, 7, Link::default(), 0);
        controllers.add(make).map(|(new, gone)| (new.id, gone.map(|gone| gone.id)))
    }

    #[test]
    fn a_host_with_too_many_replaces_its_own_and_none_that_is_in_use() {
        let mut controllers = Controllers::default();
        assert_eq!(add(&mut controllers, "other"), Ok((1, None)));
        for id in 2..66 {
            assert_eq!(add(&mut controllers, "many"), Ok((id, None)));
        }
        controllers.all[&2].client.note_use();
        assert_eq!(
            add(&mut controllers, "many"),
            Ok((66, Some(3))),
            "the oldest that is not in use"
        );
        for id in 67..129 {
            assert_eq!(add(&mut controllers, "many"), Ok((id, Some(id - 63))));
        }
        for controller in controllers.all.values() {
            controller.client.note_use();
        }
        assert_eq!(add(&mut controllers, "many"), Err(Status::CONNECT_BUSY));
        assert_eq!(add(&mut controllers, "another"), Ok((129, None)));
        // After some minutes without use, the one that was used first makes way.
        controllers.all[&100].client.let_pass(Duration::from_secs(400));
        controllers.all[&90].client.let_pass(Duration::from_secs(500));
        assert_eq!(add(&mut controllers, "many"), Ok((130, Some(90))));
    }

    #[test]
    fn a_machine_with_too_many_names_replaces_those_that_never_were_used() {
        let mut controllers = Controllers::default();
        assert_eq!(add(&mut controllers, "used"), Ok((1, None)));
        controllers.all[&1].client.note_use();
        for id in 2..513 {
            assert_eq!(add(&mut controllers, &format!("idle {id}")), Ok((id, None)));
        }
        for id in 513..1050 {
            let made = add(&mut controllers, &format!("idle {id}"));
            assert_eq!(made, Ok((id, Some(id - 511))));
        }
        controllers.all[&1].client.let_pass(Duration::from_secs(4000));
        assert_eq!(add(&mut controllers, "idle"), Ok((1050, Some(539))), "it has been used once");
        // A second one of a name does not take the place of the only one of another.
        assert_eq!(add(&mut controllers, "idle"), Ok((1051, Some(1050))));
    }

    #[test]
    fn when_all_are_in_use_a_new_one_has_to_wait() {
        let mut controllers = Controllers::default();
        for id in 1..513 {
            assert_eq!(add(&mut controllers, &format!("host {id}")), Ok((id, None)));
            controllers.all[&id].client.note_use();
        }
        assert_eq!(add(&mut controllers, "late"), Err(Status::CONNECT_BUSY));
        assert_eq!(controllers.all.len(), 512);
        controllers.all.remove(&300);
        assert_eq!(add(&mut controllers, "late"), Ok((513, None)));
    }
}
