//! What requests wait for (`waits=on`).

use super::requests::HostOp;
use crate::owner::Owner;
use crate::waits::{Cause, WaitTimes, Waits};

/// What the last page of each request waited for, which is what the request did.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    /// Request under way -> what the page of it that is complete last, so far, waited for.
    open: Vec<Waits>,
    /// Page of the write buffer -> what its program waits for.
    entries: Vec<Waits>,
    of: [WaitTimes; 4],
}

impl Watch {
    /// A request arrives.
    pub(super) fn begin(&mut self, request: Owner) {
        set(&mut self.open, request, Waits::default());
    }

    /// A page of a request is complete later than those before it.
    pub(super) fn page(&mut self, request: Owner, waits: Waits) {
        self.open[request as usize] = waits;
    }

    /// A page of the write buffer has been given to the flash.
    pub(super) fn entry(&mut self, entry: u32, waits: Waits) {
        set(&mut self.entries, entry, waits);
    }

    /// A request of this age waited for a page of the write buffer, in which that waited for its program; or for
    /// more than one, or for less.
    pub(super) fn page_of_buffer(&mut self, request: Owner, entry: u32, age_ns: u64) {
        let program = self.entries.get(entry as usize).copied().unwrap_or_default();
        let waits = match age_ns.checked_sub(program.total()) {
            Some(before_ns) => {
                let mut waits = program;
                waits.add(Cause::Buffer, before_ns);
                waits
            }
            None => Waits::of(Cause::Buffer, age_ns),
        };
        self.page(request, waits);
    }

    /// A request is complete.
    pub(super) fn end(&mut self, request: Owner, op: HostOp, response_ns: u64) {
        let waits = &self.open[request as usize];
        debug_assert_eq!(waits.total(), response_ns, "{op:?}: {waits:?}");
        self.of[op as usize].record(waits);
    }

    /// Measures from here on.
    pub(super) fn measure(&mut self) {
        self.of = Default::default();
    }

    /// What was measured, in the order of [`HostOp::ALL`].
    pub(super) fn measured(&self) -> [WaitTimes; 4] {
        self.of.clone()
    }
}

fn set(of: &mut Vec<Waits>, index: u32, waits: Waits) {
    let index = index as usize;
    if index >= of.len() {
        of.resize(index + 1, Waits::default());
    }
    of[index] = waits;
}
