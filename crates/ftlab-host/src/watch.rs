//! What requests wait for (`waits=on`).

use crate::host_op::HostOp;
use crate::slowest::{SlowRequest, Slowest};
use crate::wait_times::WaitTimes;
use ftlab_flash::{Owner, Wait, Waits};

/// What the last page of each request waited for, which is what the request did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    /// Request under way -> what the page of it that is complete last, so far, waited for.
    open: Vec<Waits>,
    /// Page of the write buffer -> what its program waits for.
    entries: Vec<Waits>,
    of: [WaitTimes; 4],
    /// Request under way -> its number.
    numbers: Vec<u64>,
    /// Requests that have arrived.
    count: u64,
    pub(crate) slowest: Option<Slowest>,
}

impl Watch {
    /// Keeps the slowest requests, or none.
    pub(crate) fn new(slowest: usize) -> Self {
        Self { slowest: (slowest > 0).then(|| Slowest::new(slowest)), ..Self::default() }
    }

    pub(crate) fn begin(&mut self, request: Owner) {
        set(&mut self.open, request, Waits::default());
        set(&mut self.numbers, request, self.count);
        self.count += 1;
    }

    /// The number of a request under way.
    pub(crate) fn number(&self, request: Owner) -> u64 {
        self.numbers[request as usize]
    }

    /// A page of a request is complete later than those before it.
    pub(crate) fn page(&mut self, request: Owner, waits: Waits) {
        self.open[request as usize] = waits;
    }

    /// A request whose pages are complete takes so much longer.
    pub(crate) fn command(&mut self, request: Owner, command_ns: u64) {
        self.open[request as usize].add(Wait::Own, command_ns);
    }

    /// A page of the write buffer has been given to the flash.
    pub(crate) fn entry(&mut self, entry: u32, waits: Waits) {
        set(&mut self.entries, entry, waits);
    }

    /// A request of this age waited for a page of the write buffer, in which that waited for its program; or for
    /// more than one, or for less.
    pub(crate) fn page_of_buffer(&mut self, request: Owner, entry: u32, age_ns: u64) {
        let program = self.entries.get(entry as usize).copied().unwrap_or_default();
        let waits = match age_ns.checked_sub(program.total()) {
            Some(before_ns) => {
                let mut waits = program;
                waits.add(Wait::Buffer, before_ns);
                waits
            }
            None => Waits::of(Wait::Buffer, age_ns),
        };
        self.page(request, waits);
    }

    /// A request is complete that arrived, was taken by the drive and was done at these times.
    pub(crate) fn end(&mut self, request: Owner, op: HostOp, times_ns: [u64; 3]) {
        let [arrival_ns, taken_ns, done_ns] = times_ns;
        let response_ns = done_ns - arrival_ns;
        let mut waits = self.open[request as usize];
        waits.add(Wait::Queue, taken_ns - arrival_ns);
        debug_assert_eq!(waits.total(), response_ns, "{op:?}: {waits:?}");
        self.of[op as usize].record(&waits);
        if let Some(slowest) = &mut self.slowest {
            let number = self.numbers[request as usize];
            slowest.offer(response_ns, || SlowRequest {
                number,
                op,
                arrival_ns,
                done_ns,
                waits,
                slices: Vec::new(),
            });
        }
    }

    /// Measures from here on.
    pub(crate) fn measure(&mut self) {
        self.of = Default::default();
        self.slowest.iter_mut().for_each(Slowest::clear);
    }

    /// What was measured, in the order of [`HostOp::ALL`].
    pub(crate) fn measured(&self) -> [WaitTimes; 4] {
        self.of.clone()
    }
}

fn set<T: Copy + Default>(of: &mut Vec<T>, index: u32, value: T) {
    let index = index as usize;
    if index >= of.len() {
        of.resize(index + 1, T::default());
    }
    of[index] = value;
}
