//! Operations, and the queues in which they wait for their LUN.

use crate::owner::Owner;
use crate::parameters::GcPriority;
use std::ops::{Index, IndexMut};

/// What an operation is, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    HostRead,
    HostProgram,
    /// The FTL's, of a collection or merge.
    Read,
    Program,
    /// The FTL's, of a page of its map, or of the rest of a unit, which somebody waits for.
    MapRead,
    MapProgram,
    Erase,
}

impl Kind {
    pub(super) fn is_program(self) -> bool {
        matches!(self, Self::HostProgram | Self::Program | Self::MapProgram)
    }
}

/// When reads of the host come; only those that come first interrupt anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOrder {
    /// As their urgency is.
    First,
    /// With the host's programs.
    Turn,
    /// After all that waits for the LUN.
    Last,
}

/// How many degrees of urgency there are, and how many kinds.
const DEGREES: usize = 5;
const KINDS: usize = 7;

/// Kind -> how urgent it is; 0 is the most urgent. Erases come after the reads that wait for the LUN, since
/// these may be of the block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Urgency([u8; KINDS]);

impl Urgency {
    /// That of what comes after everything.
    const LEAST: u8 = DEGREES as u8 - 1;

    pub(super) fn new(gc: GcPriority) -> Self {
        // Host reads, host programs, reads, programs, erases. Pages of a map are as urgent as what waits for them.
        let [host_read, host_program, read, program, erase] = match gc {
            GcPriority::Same => [0, 1, 0, 1, 2],
            GcPriority::Last => [0, 1, 2, 3, 4],
            GcPriority::First => [2, 4, 0, 1, 3],
        };
        Self([host_read, host_program, read, program, host_read, host_program, erase])
    }

    #[inline]
    pub(super) fn of(self, kind: Kind) -> u8 {
        self.0[kind as usize]
    }

    /// That of an operation in the queue of its LUN.
    #[inline]
    pub(super) fn in_queue(self, operation: &Operation) -> u8 {
        match operation.order {
            ReadOrder::First => self.of(operation.kind),
            ReadOrder::Turn => self.of(Kind::HostProgram),
            ReadOrder::Last => Self::LEAST,
        }
    }
}

/// Something that a LUN was asked to do; no more than memory hands out at once.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Operation {
    pub(super) kind: Kind,
    /// Reasons to hold it back.
    pub(super) holds: u8,
    /// What holds it back, if that is not a collection.
    pub(super) held_by: Option<Kind>,
    /// When it comes, if it is a read of the host.
    pub(super) order: ReadOrder,
    pub(super) lun: u32,
    /// The page, or the block that is erased.
    pub(super) page: u32,
    pub(super) owner: Owner,
    /// When it was asked for.
    asked: u64,
    /// What is left of the cells' work: of a read, program or erase.
    pub(super) left_ns: u64,
    pub(super) interruptions: u32,
    /// Whether it is a copyback, or of a page of a map, and whether host writes wait for it; if so, the lower bits of
    /// its numbers among these, or the number of the lookup.
    pub(super) is_moved: bool,
    pub(super) is_of_map: bool,
    pub(super) is_collected: bool,
    /// Whether it is of a unit, whose number is in the place of those.
    pub(super) is_of_unit: bool,
    pub(super) moved: u32,
    pub(super) collected: u32,
    /// The next in the queue.
    next: u32,
    /// The last of the operations that it holds back, after which the first comes again.
    last_follower: u32,
    /// The next of those that what it follows itself holds back: an erase, and something else.
    next_follower: [u32; 2],
}

impl Operation {
    pub(super) fn new(kind: Kind, lun: u32, page: u32, owner: Owner, now: u64) -> Self {
        Self {
            kind,
            holds: 0,
            held_by: None,
            order: ReadOrder::First,
            lun,
            page,
            owner,
            asked: now,
            left_ns: 0,
            interruptions: 0,
            is_moved: false,
            is_of_map: false,
            is_collected: false,
            is_of_unit: false,
            moved: 0,
            collected: 0,
            next: NONE,
            last_follower: NONE,
            next_follower: [NONE; 2],
        }
    }

    /// Which of the links of its followers makes up the list of them.
    #[inline]
    fn list(&self) -> usize {
        usize::from(self.kind != Kind::Erase)
    }

    /// For how long it has waited for its LUN, if the host asked for it.
    #[inline]
    pub(super) fn queued_ns(&self, now: u64) -> u64 {
        let is_of_host = matches!(self.kind, Kind::HostRead | Kind::HostProgram);
        if is_of_host { now - self.asked } else { 0 }
    }
}

const _: () = assert!(size_of::<Operation>() == 64);

/// No operation.
pub(super) const NONE: u32 = u32::MAX;

/// Operations that are not complete; their memory is used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Operations {
    all: Vec<Operation>,
    free: Vec<u32>,
}

impl Operations {
    pub(super) fn add(&mut self, operation: Operation) -> u32 {
        if let Some(id) = self.free.pop() {
            self.all[id as usize] = operation;
            return id;
        }
        self.all.push(operation);
        self.all.len() as u32 - 1
    }

    /// An operation is a copyback, with this number among these.
    #[inline]
    pub(super) fn mark_moved(&mut self, id: u32, number: u64) {
        (self[id].is_moved, self[id].moved) = (true, number as u32);
    }

    /// An operation is of a page of a map, for the lookup with this number.
    #[inline]
    pub(super) fn mark_of_map(&mut self, id: u32, lookup: u32) {
        (self[id].is_of_map, self[id].moved) = (true, lookup);
    }

    /// An operation programs a page of the unit with this number.
    #[inline]
    pub(super) fn mark_of_unit(&mut self, id: u32, unit: u32) {
        (self[id].is_of_unit, self[id].moved) = (true, unit);
    }

    /// Host writes wait for an operation, which has this number among those.
    #[inline]
    pub(super) fn mark_collected(&mut self, id: u32, number: u64) {
        (self[id].is_collected, self[id].collected) = (true, number as u32);
    }

    /// Holds `follower` back until `first` is complete. An operation follows one erase and one other at most.
    #[inline]
    pub(super) fn follow(&mut self, follower: u32, first: u32) {
        self[follower].holds += 1;
        let (list, last) = (self[first].list(), self[first].last_follower);
        let next = if last == NONE {
            follower
        } else {
            std::mem::replace(&mut self[last].next_follower[list], follower)
        };
        self[follower].next_follower[list] = next;
        self[first].last_follower = follower;
    }

    /// Forgets an operation; what it holds back is with [`Followers::next`].
    #[inline]
    pub(super) fn remove(&mut self, id: u32) -> Followers {
        self.free.push(id);
        let Operation { last_follower: last, .. } = self[id];
        let list = self[id].list();
        let first = if last == NONE { NONE } else { self[last].next_follower[list] };
        Followers { next: first, last, list }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

/// Operations that are let go one by one, in the order in which they came.
#[derive(Debug)]
pub(super) struct Followers {
    next: u32,
    last: u32,
    list: usize,
}

impl Followers {
    #[inline]
    pub(super) fn next(&mut self, operations: &Operations) -> Option<u32> {
        let next = self.next;
        if next == NONE {
            return None;
        }
        self.next =
            if next == self.last { NONE } else { operations[next].next_follower[self.list] };
        Some(next)
    }
}

impl Index<u32> for Operations {
    type Output = Operation;

    #[inline]
    fn index(&self, id: u32) -> &Operation {
        &self.all[id as usize]
    }
}

impl IndexMut<u32> for Operations {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Operation {
        &mut self.all[id as usize]
    }
}

/// The operations that wait for a LUN: a queue for each degree of urgency.
#[derive(Debug, Clone)]
pub(super) struct Queues {
    first: [u32; DEGREES],
    last: [u32; DEGREES],
}

impl Default for Queues {
    fn default() -> Self {
        Self { first: [NONE; DEGREES], last: [NONE; DEGREES] }
    }
}

impl Queues {
    #[inline]
    pub(super) fn push(&mut self, urgency: u8, id: u32, operations: &mut Operations) {
        let queue = urgency as usize;
        operations[id].next = NONE;
        if self.first[queue] == NONE {
            self.first[queue] = id;
        } else {
            operations[self.last[queue]].next = id;
        }
        self.last[queue] = id;
    }

    /// The most urgent one.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        self.first.into_iter().find(|first| *first != NONE)
    }

    /// Takes the most urgent one off.
    #[inline]
    pub(super) fn pop(&mut self, operations: &Operations) {
        if let Some(first) = self.first.iter_mut().find(|first| **first != NONE) {
            *first = operations[*first].next;
        }
    }
}
