//! A map that is in memory as a whole.

use crate::map::contract::{Found, Map, Places, WriteBack};
use crate::state::state;
use ftlab_flash::Lpn;

/// Every entry is at hand.
pub(super) struct InMemory;

state!(InMemory {});

impl Map for InMemory {
    fn look_up(&mut self, _lpn: Lpn, _following: u32) -> Found {
        Found::Here
    }

    fn make_room(&mut self, _lpn: Lpn, _places: &Places<'_>) -> Option<WriteBack> {
        None
    }

    fn load(&mut self, lpn: Lpn) {
        debug_assert!(false, "page {lpn} is in memory");
    }

    fn change(&mut self, _lpn: Lpn) -> bool {
        true
    }

    fn is_changed(&self, _lpn: Lpn) -> bool {
        true
    }

    fn memory_bytes(&self) -> usize {
        0
    }

    fn fetch_ahead(&self, _pages: [Lpn; 3]) {}

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
