//! What operations of the host wait for, where LUNs choose what to do next.
//!
//! Each LUN and each channel has a clock for every cause, which runs while it is busy for that reason. An
//! operation that waits for its LUN has waited for what these clocks have gained meanwhile.

use super::operation::Kind;
use crate::ledger::Ledger;
use crate::timeline::{LunWork, Slice};
use crate::waits::{Wait, Waits};
use std::collections::VecDeque;

/// What keeps a LUN from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// Nothing, or it waits for its channel.
    Rest,
    /// An operation.
    Busy(Kind),
}

#[derive(Debug, Clone, Copy, Default)]
struct Clock {
    since: u64,
    so_far: Waits,
}

#[derive(Debug, Clone, Default)]
struct Channel {
    clock: Clock,
    /// For what it is taken, if it is.
    taken: Option<Wait>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Lun {
    clock: Clock,
    /// The clocks of its channel at the time of its own.
    of_channel: Waits,
    /// When it began or resumed its present operation.
    began: u64,
}

/// An operation that the host asked for.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    waits: Waits,
    since: u64,
    /// Clocks at that time: of the LUN, of the channel, or of the pages that are moved.
    clocks: Waits,
    /// The request that asked for it, if one did.
    request: Option<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Accounts {
    luns: Vec<Lun>,
    channels: Vec<Channel>,
    /// Operation -> its account, if the host asked for it.
    operations: Vec<Account>,
    /// Pages that are being moved for host writes, and the time for which there were some.
    moving: u64,
    moved: Clock,
    /// The waits of operations that are complete, in step with these.
    complete: VecDeque<Waits>,
    pub(super) ledger: Ledger,
}

/// For what a LUN is busy, as others see it.
pub(super) fn cause(kind: Kind) -> Wait {
    match kind {
        Kind::HostRead | Kind::HostProgram => Wait::Lun,
        Kind::Read | Kind::Program => Wait::Collection,
        Kind::MapRead | Kind::MapProgram => Wait::Map,
        Kind::Erase => Wait::Erase,
    }
}

impl Accounts {
    pub(super) fn new(luns: usize, channels: usize, keeps_log: bool) -> Self {
        Self {
            luns: vec![Lun::default(); luns],
            channels: vec![Channel::default(); channels],
            operations: Vec::new(),
            moving: 0,
            moved: Clock::default(),
            complete: VecDeque::new(),
            ledger: Ledger::new(keeps_log),
        }
    }

    fn channel_clocks(&self, lun: usize, now: u64) -> Waits {
        let channel = &self.channels[lun % self.channels.len()];
        let mut clocks = channel.clock.so_far;
        if let Some(cause) = channel.taken {
            clocks.add(cause, now - channel.clock.since);
        }
        clocks
    }

    /// The channel of a LUN is taken for a transfer.
    pub(super) fn take_channel(&mut self, lun: usize, kind: Kind, now: u64) {
        let index = lun % self.channels.len();
        let channel = &mut self.channels[index];
        channel.clock.since = now;
        channel.taken = Some(match cause(kind) {
            Wait::Lun => Wait::Channel,
            other => other,
        });
    }

    pub(super) fn give_back_channel(&mut self, lun: usize, now: u64) {
        let index = lun % self.channels.len();
        self.channels[index].clock.so_far = self.channel_clocks(lun, now);
        self.channels[index].taken = None;
    }

    /// The clocks of a LUN up to now, before it does something else.
    pub(super) fn pass(&mut self, lun: usize, doing: Doing, now: u64) -> Waits {
        let of_channel = self.channel_clocks(lun, now);
        let it = &mut self.luns[lun];
        match doing {
            Doing::Busy(kind) => it.clock.so_far.add(cause(kind), now - it.clock.since),
            Doing::Rest => it.clock.so_far.add_all(&of_channel.since(&it.of_channel)),
        }
        (it.clock.since, it.of_channel) = (now, of_channel);
        it.clock.so_far
    }

    /// Pages are being moved for host writes, or one less.
    pub(super) fn begin_move(&mut self, now: u64) {
        self.pass_moves(now);
        self.moving += 1;
    }

    pub(super) fn end_move(&mut self, now: u64) {
        self.pass_moves(now);
        self.moving -= 1;
    }

    fn pass_moves(&mut self, now: u64) -> Waits {
        if self.moving > 0 {
            self.moved.so_far.add(Wait::Collection, now - self.moved.since);
        }
        self.moved.since = now;
        self.moved.so_far
    }

    /// The host asks for an operation.
    pub(super) fn ask(&mut self, id: u32, now: u64) {
        let id = id as usize;
        if id >= self.operations.len() {
            self.operations.resize(id + 1, Account::default());
        }
        let clocks = self.pass_moves(now);
        let (waits, request) = (Waits::default(), self.ledger.request);
        self.operations[id] = Account { waits, since: now, clocks, request };
    }

    /// Nothing holds an operation back any longer, and it waits for its LUN, whose clocks these are; `held_by` is
    /// what held it back, or a collection did.
    pub(super) fn queue(&mut self, id: u32, held_by: Option<Kind>, clocks: Waits, now: u64) {
        let moved = self.pass_moves(now);
        let account = &mut self.operations[id as usize];
        let held_ns = now - account.since;
        if let Some(kind) = held_by {
            account.waits.add(cause(kind), held_ns);
        } else {
            let moving_ns = moved.since(&account.clocks).total();
            account.waits.add(Wait::Collection, moving_ns);
            account.waits.add(Wait::Erase, held_ns - moving_ns);
        }
        (account.since, account.clocks) = (now, clocks);
    }

    /// The LUN of an operation, whose clocks these are, begins it, or resumes it.
    pub(super) fn begin(&mut self, id: u32, clocks: &Waits, now: u64) {
        let account = &mut self.operations[id as usize];
        account.waits.add_all(&clocks.since(&account.clocks));
        account.since = now;
    }

    /// It is interrupted now, which may be yet to come: the clocks of the LUN by then.
    pub(super) fn interrupt(&mut self, id: u32, clocks: Waits, now: u64) {
        let account = &mut self.operations[id as usize];
        account.waits.add(Wait::Own, now - account.since);
        (account.since, account.clocks) = (now, clocks);
    }

    /// It waits for the channel of its LUN, to transfer what it read.
    pub(super) fn await_channel(&mut self, id: u32, lun: usize, now: u64) {
        let clocks = self.channel_clocks(lun, now);
        self.interrupt(id, clocks, now);
    }

    /// It transfers what it read.
    pub(super) fn get_channel(&mut self, id: u32, lun: usize, now: u64) {
        let clocks = self.channel_clocks(lun, now);
        self.begin(id, &clocks, now);
    }

    /// A LUN begins an operation, of the host or the FTL, or resumes it.
    pub(super) fn occupy(&mut self, lun: usize, now: u64) {
        self.luns[lun].began = now;
    }

    /// A LUN is done with what an operation of this kind is, or interrupts it; it is of a page or block, and the host
    /// asked for it, or not.
    pub(super) fn release(&mut self, lun: usize, id: u32, (kind, page): (Kind, u32), now: u64) {
        let is_host = matches!(kind, Kind::HostRead | Kind::HostProgram);
        let of_host = || self.operations.get(id as usize).and_then(|account| account.request);
        let request = if is_host { of_host() } else { None };
        let Some(log) = &mut self.ledger.log else { return };
        let work = match kind {
            Kind::HostRead => LunWork::HostRead,
            Kind::HostProgram => LunWork::HostProgram,
            Kind::Read | Kind::MapRead => LunWork::Read,
            Kind::Program | Kind::MapProgram => LunWork::Program,
            Kind::Erase => LunWork::Erase,
        };
        let begin_ns = self.luns[lun].began;
        log.add(Slice { lun: lun as u32, begin_ns, end_ns: now, work, page, request });
    }

    /// It is complete.
    pub(super) fn finish(&mut self, id: u32, now: u64) {
        let account = &mut self.operations[id as usize];
        account.waits.add(Wait::Own, now - account.since);
        self.complete.push_back(account.waits);
    }

    /// The next operation that is complete is taken.
    pub(super) fn take(&mut self) {
        self.ledger.latest = self.complete.pop_front().unwrap_or_default();
    }
}
