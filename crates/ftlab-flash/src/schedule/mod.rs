//! LUNs that choose what to do next (`priority=read-first`).
//!
//! An operation waits for those that it depends on, and then in the queue of its LUN. A LUN that is free
//! takes the first of the most urgent operations in its queue ([`Urgency`]), and does not stop what it
//! began, but for a read of the host if programs or erases may be suspended. While the channel is taken, a LUN
//! whose most urgent operation is a program waits for it, and takes a read that comes meanwhile.
//!
//! With cached transfers, pages that a LUN programs next pass over the channel while it programs, if it is the turn of a
//! program: as many as a page of the chip on all planes. They are programmed right after that, whatever comes meanwhile.
//!
//! What must not be overtaken is held back: a read by the program of its page, unless that is a copy (it then reads
//! where the page was), a program by the erase of its block,
//! the program of a copyback by its read, an erase by the copybacks before it, a host write by the collection before
//! it, and a page of the host by the pages of a map on flash that tell where it is. All of these were asked for
//! earlier, so nothing waits for itself. The pages of a block may change places among the programs that are due at the
//! same time.

mod accounts;
mod channels;
mod elsewhere;
mod lookups;
mod operation;
mod under_way;
mod units;

use crate::gate::Gate;
use crate::ledger::Ledger;
use crate::occupied::Occupied;
use crate::owner::{NOBODY, Owner};
use crate::parameters::{ChipParameters, LunChoice, nanoseconds};
use crate::striping::Striping;
use crate::timers::{NEVER, Timers};
use crate::waits::Waits;
use crate::{BlockId, Geometry, Ppn};
use accounts::{Accounts, Doing};
use channels::Channels;
use elsewhere::{Elsewhere, Reader};
use lookups::Lookups;
pub use operation::ReadOrder;
use operation::{Kind, Operation, Operations, Queues, Urgency};
use std::collections::VecDeque;
use under_way::UnderWay;
use units::{Group, Units};

/// The LUNs of a drive and what they were asked for.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    now: u64,
    times: Times,
    striping: Striping,
    urgency: Urgency,
    suspends: Suspends,
    luns: Vec<Lun>,
    /// LUN -> when its present phase is over; after the last LUN, when the first read elsewhere is complete; and then for
    /// each LUN, when a transfer ahead of its program is over.
    timers: Timers,
    /// Pages that may come ahead of their program.
    ahead_most: usize,
    channels: Channels,
    operations: Operations,
    /// Programs and erases that are not complete.
    under_way: UnderWay,
    /// What collections do that a host write has to wait for.
    collected: Gate<u32>,
    /// Copybacks.
    moved: Gate<u32>,
    /// Operation -> the page that it moves, if it is the program of a copyback.
    moves: Vec<Ppn>,
    lookups: Lookups,
    units: Units,
    elsewhere: Elsewhere,
    /// Whose operations are complete, and when.
    complete: VecDeque<(u64, Owner)>,
    /// What operations of the host wait for, if somebody wants to know.
    accounts: Option<Box<Accounts>>,
}

/// In nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Times {
    erase: u64,
    transfer: u64,
}

/// What reads of the host may interrupt.
#[derive(Debug, Clone, Copy)]
struct Suspends {
    programs: bool,
    erases: bool,
    /// Time from the interruption until the LUN can do something else.
    cost_ns: u64,
    /// Time between the points at which an operation can be interrupted; 0 if it can be at any time.
    slice_ns: u64,
    /// How often the same operation may be interrupted.
    times_max: u32,
}

#[derive(Debug, Clone)]
struct Lun {
    queues: Queues,
    phase: Phase,
    /// What it does, if it is not at rest.
    present: u32,
    /// What was interrupted.
    suspended: Option<u32>,
    /// Programs whose pages have come over the channel, or, of the last one, are coming.
    ahead: VecDeque<u32>,
    is_coming: bool,
    /// Whether it waits for its channel for such a page.
    asks_ahead: bool,
    /// Whether it waits for its channel to program a page.
    asks_channel: bool,
    /// Since when it is not at rest.
    busy_since: u64,
    busy_ns: u64,
    /// Time that operations of the host waited until it began them, in sum.
    queued_ns: u64,
    /// Pages that passed over its channel.
    transfers: u64,
}

/// What a LUN is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Rest,
    /// Reads its cells.
    Cells,
    /// Has read, and waits for the channel.
    HoldsPage,
    /// The page passes over the channel.
    Out,
    In,
    /// Programs or erases.
    Work,
    /// Interrupts what it was at.
    Suspending,
}

impl Schedule {
    pub(crate) fn new(parameters: &ChipParameters, geometry: &Geometry) -> Self {
        let count = parameters.luns();
        let LunChoice {
            gc_priority,
            suspend,
            suspend_us,
            suspend_slice_us,
            suspend_max: times_max,
            cached_transfers,
        } = parameters.choice;
        let of_chip = parameters.pages.flash_page.pages(geometry.page_bytes());
        let of_chip = of_chip.saturating_mul(parameters.pages.planes) as usize;
        let is_cached = cached_transfers && parameters.times.transfer_us > 0.0;
        let lun = Lun {
            queues: Queues::default(),
            phase: Phase::Rest,
            present: 0,
            suspended: None,
            ahead: VecDeque::new(),
            is_coming: false,
            asks_ahead: false,
            asks_channel: false,
            busy_since: 0,
            busy_ns: 0,
            queued_ns: 0,
            transfers: 0,
        };
        let striping = Striping::new(parameters, geometry);
        Self {
            now: 0,
            times: Times {
                erase: nanoseconds(parameters.times.erase_us),
                transfer: nanoseconds(parameters.times.transfer_us),
            },
            striping,
            urgency: Urgency::new(gc_priority),
            suspends: Suspends {
                programs: suspend.programs(),
                erases: suspend.erases(),
                cost_ns: nanoseconds(suspend_us),
                slice_ns: nanoseconds(suspend_slice_us),
                times_max: if times_max == 0 { u32::MAX } else { times_max },
            },
            luns: vec![lun; count as usize],
            timers: Timers::new(count as usize),
            ahead_most: if is_cached { of_chip } else { 0 },
            channels: Channels::new(parameters.times.channels, count),
            operations: Operations::default(),
            under_way: UnderWay::new(geometry, striping.luns_of(BlockId(0)).len() as u32),
            collected: Gate::default(),
            moved: Gate::default(),
            moves: Vec::new(),
            lookups: Lookups::default(),
            units: Units::default(),
            elsewhere: Elsewhere::default(),
            complete: VecDeque::new(),
            accounts: None,
        }
    }

    /// All LUNs are at rest until then.
    pub(crate) fn begin_at(&mut self, now: u64) {
        self.now = now;
    }

    /// Keeps accounts of what operations of the host wait for, and a log of what LUNs do, or none.
    pub(crate) fn keep_accounts(&mut self, keeps_log: bool) {
        let accounts = Accounts::new(self.luns.len(), self.channels.count(), keeps_log);
        self.accounts = Some(Box::new(accounts));
    }

    /// What the accounts tell, if they are kept.
    pub(crate) fn ledger(&self) -> Option<&Ledger> {
        self.accounts.as_ref().map(|accounts| &accounts.ledger)
    }

    #[inline]
    pub(crate) fn ledger_mut(&mut self) -> Option<&mut Ledger> {
        self.accounts.as_mut().map(|accounts| &mut accounts.ledger)
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// How occupied LUNs and channels were so far, and how long operations waited.
    pub(crate) fn occupied(&self) -> Occupied {
        let mut channel_ns = vec![0; self.channels.count()];
        for (number, lun) in self.luns.iter().enumerate() {
            channel_ns[self.channels.of(number)] += lun.transfers * self.times.transfer;
        }
        let queued_ns = self.luns.iter().map(|lun| lun.queued_ns).collect();
        Occupied { busy_ns: self.busy_ns(), channel_ns, queued_ns }
    }

    fn busy_ns(&self) -> Vec<u64> {
        let so_far = |lun: &Lun| {
            let present = if lun.phase == Phase::Rest { 0 } else { self.now - lun.busy_since };
            lun.busy_ns + present
        };
        self.luns.iter().map(so_far).collect()
    }

    /// When the next thing happens, if anything does.
    pub(crate) fn next_event(&self) -> u64 {
        self.timers.first().0
    }

    /// Operations that are not complete.
    pub(crate) fn pending(&self) -> usize {
        self.operations.len()
    }

    /// The host reads a page, which takes this time of the LUN, once a map on flash has told where it is, or at once.
    pub(crate) fn read(&mut self, from: Ppn, time_ns: u64, owner: Owner, order: ReadOrder) {
        let read = self.add_read(Kind::HostRead, from, time_ns, owner);
        self.operations[read].order = order;
        self.await_map(read);
        self.ask(read);
    }

    /// Where the host reads a page: of one that is being moved, where it was, since a map changes when its copy is
    /// programmed. There, nothing else may be asked for meanwhile.
    #[inline]
    pub(crate) fn readable(&self, page: Ppn) -> Ppn {
        let Some(program) = self.under_way.program(page.0) else { return page };
        if !self.operations[program].is_moved {
            return page;
        }
        let before = self.moves[program as usize];
        if self.under_way.program(before.0).is_some() { page } else { before }
    }

    /// A page of a map is read, which tells where a page of the host is.
    pub(crate) fn read_map(&mut self, from: Ppn, time_ns: u64) {
        let read = self.add_read(Kind::MapRead, from, time_ns, NOBODY);
        self.operations.mark_of_map(read, self.lookups.enter(read, true));
        self.ask(read);
    }

    /// A page of a map is programmed, so that another can be read; it holds a part of what was read last. Where that was
    /// several flash pages, it waits for the last of them that was asked for.
    pub(crate) fn program_map(&mut self, to: Ppn, time_ns: u64) {
        let program = self.add_program(Kind::MapProgram, to, time_ns, NOBODY);
        self.await_collection(program);
        if let Some(read) = self.lookups.last_read() {
            self.operations.follow(program, read);
        }
        let told_at = self.lookups.told_at();
        if told_at > self.now {
            self.operations[program].holds += 1;
            self.elsewhere.begin(told_at, Reader::Program(program));
        }
        self.operations.mark_of_map(program, self.lookups.enter(program, false));
        self.ask(program);
    }

    /// A part of a map is read in this time, without a LUN; it tells where a page of the host is.
    pub(crate) fn await_map_elsewhere(&mut self, time_ns: u64) {
        let told_at = self.now + time_ns;
        let lookup = self.lookups.enter_until(told_at);
        self.elsewhere.begin(told_at, Reader::Lookup(lookup));
        self.expect_elsewhere();
    }

    fn expect_elsewhere(&mut self) {
        self.timers.set(self.luns.len(), self.elsewhere.first().unwrap_or(NEVER));
    }

    /// The first read elsewhere is complete.
    fn end_elsewhere(&mut self) {
        match self.elsewhere.end() {
            Some(Reader::Lookup(number)) => self.leave_lookup(number),
            Some(Reader::Program(program)) => self.let_go(program),
            None => {}
        }
        self.expect_elsewhere();
    }

    /// A part of a lookup is complete.
    fn leave_lookup(&mut self, number: u32) {
        if self.lookups.leave(number) {
            while let Some(waiting) = self.lookups.release(number) {
                let Operation { kind, page, holds, .. } = self.operations[waiting];
                if holds > 1 {
                    // A collection holds it back for longer, or the program of the page that is read.
                    let program = self.under_way.program(page);
                    let program = program.filter(|_| kind == Kind::HostRead);
                    self.operations[waiting].held_by =
                        program.map(|program| self.operations[program].kind);
                }
                self.let_go(waiting);
            }
        }
    }

    /// Holds an operation back until collections so far are complete.
    fn await_collection(&mut self, id: u32) {
        if self.collected.wait(id) {
            self.operations[id].holds += 1;
            self.operations[id].held_by = None;
        }
    }

    /// Nobody waits for what a map was asked last.
    pub(crate) fn forget_map(&mut self) {
        self.lookups.forget();
    }

    /// Holds an operation back until a map has told where its page is, if it was asked.
    fn await_map(&mut self, id: u32) {
        let lookup = self.lookups.take();
        self.await_lookup(id, lookup);
    }

    fn await_lookup(&mut self, id: u32, lookup: Option<u32>) {
        if let Some(number) = lookup {
            self.lookups.wait(number, id);
            self.operations[id].holds += 1;
            self.operations[id].held_by = Some(Kind::MapRead);
        }
    }

    /// The FTL reads a page; a collection that a host write waits for, or not.
    pub(crate) fn read_for_ftl(&mut self, from: Ppn, time_ns: u64, is_awaited: bool) {
        let read = self.add_read(Kind::Read, from, time_ns, NOBODY);
        if is_awaited {
            self.operations.mark_collected(read, self.collected.enter());
            self.account_move();
        }
        self.ask(read);
    }

    fn add_read(&mut self, kind: Kind, from: Ppn, time_ns: u64, owner: Owner) -> u32 {
        let lun = self.striping.lun(from) as u32;
        let mut read = Operation::new(kind, lun, from.0, owner, self.now);
        read.left_ns = time_ns - self.times.transfer;
        let read = self.operations.add(read);
        self.account_asked(read);
        if let Some(program) = self.under_way.program(from.0) {
            self.operations.follow(read, program);
            self.operations[read].held_by = Some(self.operations[program].kind);
        }
        read
    }

    /// A page is programmed that a host write asked for, in this time of the LUN, once a map on flash was changed for it,
    /// or at once.
    pub(crate) fn program(&mut self, to: Ppn, time_ns: u64, owner: Owner) {
        let program = self.add_program(Kind::HostProgram, to, time_ns, owner);
        self.await_collection(program);
        self.await_map(program);
        self.ask(program);
    }

    /// A unit of this many pages is programmed that a host write asked for: its pages [follow](Self::program_in).
    pub(crate) fn begin_unit(&mut self, pages: u32) -> Group {
        Group { number: self.units.begin(pages), lookup: self.lookups.take() }
    }

    /// A page of a unit is programmed, like one [of its own](Self::program); who asked is told when all of them are.
    pub(crate) fn program_in(&mut self, group: &Group, to: Ppn, time_ns: u64, owner: Owner) {
        let program = self.add_program(Kind::HostProgram, to, time_ns, owner);
        self.operations.mark_of_unit(program, group.number);
        self.await_collection(program);
        self.await_lookup(program, group.lookup);
        self.ask(program);
    }

    /// A page is programmed that nobody waits for.
    pub(crate) fn program_unawaited(&mut self, to: Ppn, time_ns: u64) {
        let program = self.add_program(Kind::HostProgram, to, time_ns, NOBODY);
        self.ask(program);
    }

    /// Which part of its blocks a LUN has.
    #[inline]
    fn part(&self, lun: u32) -> u32 {
        if self.striping.width() > 1 { lun } else { 0 }
    }

    fn add_program(&mut self, kind: Kind, to: Ppn, time_ns: u64, owner: Owner) -> u32 {
        let lun = self.striping.lun(to) as u32;
        let mut program = Operation::new(kind, lun, to.0, owner, self.now);
        program.left_ns = time_ns - self.times.transfer;
        let program = self.operations.add(program);
        self.account_asked(program);
        if let Some(erase) = self.under_way.erase_below(to.0, self.part(lun)) {
            self.operations.follow(program, erase);
            self.operations[program].held_by = Some(Kind::Erase);
        }
        self.under_way.begin_program(to.0, program);
        program
    }

    /// A page is read and programmed elsewhere, each in its time, by a collection that a host write waits for, or
    /// not.
    pub(crate) fn copy(&mut self, from: Ppn, to: Ppn, times_ns: [u64; 2], is_awaited: bool) {
        let read = self.add_read(Kind::Read, from, times_ns[0], NOBODY);
        let program = self.add_program(Kind::Program, to, times_ns[1], NOBODY);
        self.operations.follow(program, read);
        self.operations.mark_moved(program, self.moved.enter());
        if program as usize >= self.moves.len() {
            self.moves.resize(program as usize + 1, from);
        }
        self.moves[program as usize] = from;
        if is_awaited {
            self.operations.mark_collected(program, self.collected.enter());
            self.account_move();
        }
        self.ask(program);
        self.ask(read);
    }

    /// A block is erased on every LUN that has a part of it.
    pub(crate) fn erase(&mut self, block: BlockId, is_awaited: bool) {
        for lun in self.striping.luns_of(block) {
            let mut erase = Operation::new(Kind::Erase, lun as u32, block.0, NOBODY, self.now);
            erase.left_ns = self.times.erase;
            let erase = self.operations.add(erase);
            if is_awaited {
                self.operations.mark_collected(erase, self.collected.enter());
            }
            if self.moved.wait(erase) {
                self.operations[erase].holds += 1;
            }
            self.under_way.begin_erase(block.0, self.part(lun as u32), erase);
            self.ask(erase);
        }
    }

    /// Passes time up to `until`, or to the first completion of an operation that somebody asked for; who
    /// that is, and when, or none if there is none until then.
    #[inline]
    pub(crate) fn advance(&mut self, until: u64) -> Option<(u64, Owner)> {
        loop {
            if let Some(complete) = self.complete.pop_front() {
                self.accounts.iter_mut().for_each(|accounts| accounts.take());
                return Some(complete);
            }
            let (time, lun) = self.timers.first();
            if time > until || time == NEVER {
                // Without end there is nothing to wait for.
                if until != NEVER {
                    self.now = self.now.max(until);
                }
                return None;
            }
            self.now = time;
            if lun >= self.luns.len() {
                match lun - self.luns.len() {
                    0 => self.end_elsewhere(),
                    after => self.end_ahead(after - 1),
                }
                continue;
            }
            self.end_phase(lun);
            if matches!(self.luns[lun].phase, Phase::Rest | Phase::HoldsPage) {
                self.timers.set(lun, NEVER);
            }
        }
    }

    /// Puts an operation that nothing holds back into the queue of its LUN.
    fn ask(&mut self, id: u32) {
        let operation = &self.operations[id];
        if operation.holds > 0 {
            return;
        }
        let (number, kind) = (operation.lun as usize, operation.kind);
        if self.accounts.is_some() && operation.owner != NOBODY {
            let held_by = operation.held_by;
            let clocks = self.account_pass(number);
            let now = self.now;
            self.accounts.iter_mut().for_each(|it| it.queue(id, held_by, clocks, now));
        }
        let queued_as = self.urgency.in_queue(&self.operations[id]);
        self.luns[number].queues.push(queued_as, id, &mut self.operations);
        if self.luns[number].phase == Phase::Rest {
            self.begin_next(number);
        } else if kind == Kind::HostRead {
            self.suspend(number);
        } else if kind.is_program() {
            self.transfer_ahead(number);
        }
    }

    /// A LUN at rest takes what is most urgent, if that can begin.
    fn begin_next(&mut self, number: usize) {
        let lun = &self.luns[number];
        if self.ahead_most > 0 && lun.suspended.is_none() && !lun.ahead.is_empty() {
            return self.begin_ahead(number);
        }
        let first = lun.queues.first();
        let next = match (lun.suspended, first) {
            (Some(suspended), Some(first)) if self.may_precede(first, suspended) => first,
            (Some(suspended), _) => return self.resume(number, suspended),
            (None, Some(first)) => first,
            (None, None) => return,
        };
        let kind = self.operations[next].kind;
        if kind.is_program() && self.times.transfer > 0 {
            let channel = self.channels.of(number);
            if !self.channels.take(channel) {
                if !std::mem::replace(&mut self.luns[number].asks_channel, true) {
                    self.channels.await_in(channel, number);
                }
                return;
            }
        }
        self.luns[number].queues.pop(&self.operations);
        self.account_begun(number, next);
        let queued_ns = self.operations[next].queued_ns(self.now);
        let lun = &mut self.luns[number];
        (lun.present, lun.queued_ns) = (next, lun.queued_ns + queued_ns);
        let (phase, time) = match kind {
            Kind::HostRead | Kind::Read | Kind::MapRead => {
                (Phase::Cells, self.operations[next].left_ns)
            }
            _ if kind.is_program() && self.times.transfer > 0 => (Phase::In, self.times.transfer),
            _ => (Phase::Work, self.operations[next].left_ns),
        };
        self.begin_phase(number, phase, time);
    }

    /// Whether an operation goes before one that was interrupted.
    fn may_precede(&self, first: u32, suspended: u32) -> bool {
        let [first, suspended] = [first, suspended].map(|id| &self.operations[id]);
        first.kind == Kind::HostRead
            && first.order == ReadOrder::First
            && self.urgency.of(first.kind) < self.urgency.of(suspended.kind)
    }

    fn resume(&mut self, number: usize, suspended: u32) {
        self.account_begun(number, suspended);
        let lun = &mut self.luns[number];
        (lun.suspended, lun.present) = (None, suspended);
        self.begin_phase(number, Phase::Work, self.operations[suspended].left_ns);
        self.transfer_ahead(number);
    }

    /// While a LUN programs, the page that it programs next may come over the channel.
    #[inline]
    fn transfer_ahead(&mut self, number: usize) {
        if self.ahead_most > 0 {
            self.begin_transfer_ahead(number);
        }
    }

    fn begin_transfer_ahead(&mut self, number: usize) {
        let lun = &self.luns[number];
        if lun.ahead.len() >= self.ahead_most || lun.is_coming || lun.phase != Phase::Work {
            return;
        }
        let is_next = |id: &u32| self.operations[*id].kind.is_program();
        let Some(next) = lun.queues.first().filter(is_next) else { return };
        if !is_next(&lun.present) {
            return;
        }
        let channel = self.channels.of(number);
        if !self.channels.take(channel) {
            if !std::mem::replace(&mut self.luns[number].asks_ahead, true) {
                self.channels.await_ahead(channel, number);
            }
            return;
        }
        self.luns[number].queues.pop(&self.operations);
        self.account_ahead(number, next);
        let queued_ns = self.operations[next].queued_ns(self.now);
        let lun = &mut self.luns[number];
        lun.queued_ns += queued_ns;
        lun.transfers += 1;
        lun.ahead.push_back(next);
        lun.is_coming = true;
        self.timers.set(self.luns.len() + 1 + number, self.now + self.times.transfer);
    }

    /// A page has come over the channel ahead of its program.
    fn end_ahead(&mut self, number: usize) {
        self.timers.set(self.luns.len() + 1 + number, NEVER);
        self.luns[number].is_coming = false;
        if let Some(&id) = self.luns[number].ahead.back() {
            self.account_waits_ahead(number, id);
        }
        self.pass_on_channel(number);
        self.transfer_ahead(number);
    }

    /// A LUN at rest programs the first page that came ahead, or awaits it.
    fn begin_ahead(&mut self, number: usize) {
        let Some(id) = self.luns[number].ahead.pop_front() else { return };
        self.luns[number].present = id;
        // The last one may still be coming.
        if self.luns[number].is_coming && self.luns[number].ahead.is_empty() {
            let coming = self.luns.len() + 1 + number;
            let end = self.timers.get(coming);
            self.timers.set(coming, NEVER);
            self.account_pass(number);
            self.accounts.iter_mut().for_each(|it| it.occupy(number, self.now));
            let lun = &mut self.luns[number];
            (lun.is_coming, lun.phase, lun.busy_since) = (false, Phase::In, self.now);
            return self.timers.set(number, end);
        }
        self.account_begun(number, id);
        self.begin_phase(number, Phase::Work, self.operations[id].left_ns);
        self.suspend(number);
        self.transfer_ahead(number);
    }

    fn begin_phase(&mut self, number: usize, phase: Phase, time: u64) {
        if self.accounts.is_some() {
            self.account_phase(number, phase);
        }
        let lun = &mut self.luns[number];
        if lun.phase == Phase::Rest {
            lun.busy_since = self.now;
        }
        lun.transfers += u64::from(matches!(phase, Phase::Out | Phase::In));
        lun.phase = phase;
        self.timers.set(number, self.now + time);
    }

    fn rest(&mut self, number: usize) {
        if self.accounts.is_some() {
            self.account_pass(number);
        }
        let lun = &mut self.luns[number];
        lun.busy_ns += self.now - lun.busy_since;
        lun.phase = Phase::Rest;
    }

    /// Interrupts what a LUN is at, for a read of the host, if that is possible.
    fn suspend(&mut self, number: usize) {
        let lun = &self.luns[number];
        let Some(first) = lun.queues.first().filter(|_| lun.phase == Phase::Work) else { return };
        let operation = &self.operations[lun.present];
        let is_allowed = match operation.kind {
            Kind::Erase => self.suspends.erases,
            _ => self.suspends.programs,
        };
        let end = self.timers.get(number);
        let wait_ns = match self.suspends.slice_ns {
            0 => 0,
            slice_ns => (end - self.now) % slice_ns,
        };
        // At the last point nothing is left.
        let is_over =
            end == self.now + wait_ns || operation.interruptions == self.suspends.times_max;
        if !is_allowed || is_over || !self.may_precede(first, lun.present) {
            return;
        }
        let present = lun.present;
        let operation = &mut self.operations[present];
        operation.left_ns = end - self.now - wait_ns;
        operation.interruptions += 1;
        if self.accounts.is_some() {
            self.account_interrupted(number, present, self.now + wait_ns);
        }
        self.luns[number].suspended = Some(present);
        if wait_ns + self.suspends.cost_ns > 0 {
            self.begin_phase(number, Phase::Suspending, wait_ns + self.suspends.cost_ns);
        } else {
            self.rest(number);
            // The read begins at once.
            self.begin_next(number);
        }
    }

    /// What a LUN was at is over; if it has nothing to do next, its timer is set when all that follows is done.
    fn end_phase(&mut self, number: usize) {
        match self.luns[number].phase {
            Phase::Rest | Phase::HoldsPage => {}
            Phase::Cells if self.times.transfer > 0 => {
                let channel = self.channels.of(number);
                if self.channels.take(channel) {
                    self.begin_phase(number, Phase::Out, self.times.transfer);
                } else {
                    self.channels.await_out(channel, number);
                    self.account_holds(number);
                    self.luns[number].phase = Phase::HoldsPage;
                }
            }
            Phase::Cells | Phase::Work => self.finish(number),
            Phase::Out => {
                self.pass_on_channel(number);
                self.finish(number);
            }
            Phase::In => {
                let left_ns = self.operations[self.luns[number].present].left_ns;
                self.begin_phase(number, Phase::Work, left_ns);
                self.pass_on_channel(number);
                self.suspend(number);
                self.transfer_ahead(number);
            }
            Phase::Suspending => {
                self.rest(number);
                self.begin_next(number);
            }
        }
    }

    /// The channel of a LUN is free: pages that were read come first, since their LUNs wait.
    fn pass_on_channel(&mut self, number: usize) {
        let channel = self.channels.of(number);
        self.channels.give_back(channel);
        let now = self.now;
        self.accounts.iter_mut().for_each(|it| it.give_back_channel(number, now));
        if let Some(waiting) = self.channels.next_out(channel) {
            self.channels.take(channel);
            return self.begin_phase(waiting, Phase::Out, self.times.transfer);
        }
        while !self.channels.is_taken(channel) {
            let Some(waiting) = self.channels.next_in(channel) else { break };
            self.luns[waiting].asks_channel = false;
            if self.luns[waiting].phase == Phase::Rest {
                self.begin_next(waiting);
            }
        }
        while !self.channels.is_taken(channel) {
            let Some(waiting) = self.channels.next_ahead(channel) else { return };
            self.luns[waiting].asks_ahead = false;
            self.transfer_ahead(waiting);
        }
    }

    /// What a LUN was doing is complete.
    fn finish(&mut self, number: usize) {
        self.rest(number);
        let id = self.luns[number].present;
        let operation = &self.operations[id];
        let (kind, page, owner) = (operation.kind, operation.page, operation.owner);
        let moved = operation.is_moved.then_some(operation.moved);
        let lookup = operation.is_of_map.then_some(operation.moved);
        let collected = operation.is_collected.then_some(operation.collected);
        let unit = operation.is_of_unit.then_some(operation.moved);
        if kind.is_program() {
            self.under_way.end_program(page, id);
        }
        let now = self.now;
        self.accounts.iter_mut().for_each(|it| it.release(number, id, (kind, page), now));
        if kind == Kind::Erase {
            self.under_way.end_erase(page, self.part(number as u32), id);
        }
        let is_all = unit.is_none_or(|unit| self.units.leave(unit));
        if owner != NOBODY && is_all {
            self.complete.push_back((self.now, owner));
            self.accounts.iter_mut().for_each(|it| it.finish(id, now));
        }
        let mut followers = self.operations.remove(id);
        while let Some(follower) = followers.next(&self.operations) {
            self.let_go(follower);
        }
        if let Some(moved) = moved {
            self.moved.leave(self.moved.number(moved));
            while let Some(waiting) = self.moved.release() {
                self.let_go(waiting);
            }
        }
        if let Some(number) = lookup {
            self.leave_lookup(number);
        }
        if let Some(collected) = collected {
            self.collected.leave(self.collected.number(collected));
            if kind != Kind::Erase {
                self.accounts.iter_mut().for_each(|it| it.end_move(now));
            }
            while let Some(waiting) = self.collected.release() {
                self.let_go(waiting);
            }
        }
        if self.luns[number].phase == Phase::Rest {
            self.begin_next(number);
        }
    }

    /// One reason less to hold an operation back.
    fn let_go(&mut self, id: u32) {
        self.operations[id].holds -= 1;
        self.ask(id);
    }
}

/// Accounts of what operations of the host wait for, where they are kept.
impl Schedule {
    /// The clocks of a LUN up to the present, before it does something else.
    fn account_pass(&mut self, number: usize) -> Waits {
        let lun = &self.luns[number];
        let doing = match lun.phase {
            Phase::Rest => Doing::Rest,
            _ => Doing::Busy(self.operations[lun.present].kind),
        };
        let Some(accounts) = &mut self.accounts else { return Waits::default() };
        accounts.pass(number, doing, self.now)
    }

    /// An operation is asked for.
    #[inline]
    fn account_asked(&mut self, id: u32) {
        if let Some(accounts) =
            self.accounts.as_mut().filter(|_| self.operations[id].owner != NOBODY)
        {
            accounts.ask(id, self.now);
        }
    }

    /// A page is moved for which a host write waits.
    #[inline]
    fn account_move(&mut self) {
        if let Some(accounts) = &mut self.accounts {
            accounts.begin_move(self.now);
        }
    }

    /// A LUN at rest begins an operation, or resumes it.
    #[inline]
    fn account_begun(&mut self, number: usize, id: u32) {
        let Some(accounts) = &mut self.accounts else { return };
        accounts.occupy(number, self.now);
        if self.operations[id].owner == NOBODY {
            return;
        }
        let clocks = self.account_pass(number);
        self.accounts.iter_mut().for_each(|it| it.begin(id, &clocks, self.now));
    }

    /// The page of a program passes over the channel while its LUN programs another.
    fn account_ahead(&mut self, number: usize, id: u32) {
        let clocks = self.account_pass(number);
        let operation = &self.operations[id];
        let Some(accounts) = &mut self.accounts else { return };
        accounts.take_channel(number, operation.kind, self.now);
        if operation.owner != NOBODY {
            accounts.begin(id, &clocks, self.now);
        }
    }

    /// A page that came ahead waits for its LUN.
    fn account_waits_ahead(&mut self, number: usize, id: u32) {
        let clocks = self.account_pass(number);
        let is_of_host = self.operations[id].owner != NOBODY;
        if let Some(accounts) = self.accounts.as_mut().filter(|_| is_of_host) {
            accounts.interrupt(id, clocks, self.now);
        }
    }

    /// A LUN interrupts an operation, which works until then.
    fn account_interrupted(&mut self, number: usize, id: u32, until: u64) {
        let mut clocks = self.account_pass(number);
        let operation = &self.operations[id];
        let Some(accounts) = &mut self.accounts else { return };
        accounts.release(number, id, (operation.kind, operation.page), until);
        if operation.owner != NOBODY {
            clocks.add(accounts::cause(operation.kind), until - self.now);
            accounts.interrupt(id, clocks, until);
        }
    }

    /// A LUN holds a page that it has read, and waits for its channel.
    fn account_holds(&mut self, number: usize) {
        let present = self.luns[number].present;
        if let Some(accounts) =
            self.accounts.as_mut().filter(|_| self.operations[present].owner != NOBODY)
        {
            accounts.await_channel(present, number, self.now);
        }
    }

    /// A LUN begins a phase of its present operation.
    #[cold]
    fn account_phase(&mut self, number: usize, phase: Phase) {
        self.account_pass(number);
        let Lun { present, phase: before, .. } = self.luns[number];
        let operation = &self.operations[present];
        let Some(accounts) = &mut self.accounts else { return };
        if before == Phase::HoldsPage && operation.owner != NOBODY {
            accounts.get_channel(present, number, self.now);
        }
        if matches!(phase, Phase::Out | Phase::In) {
            accounts.take_channel(number, operation.kind, self.now);
        }
    }
}
