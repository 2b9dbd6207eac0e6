//! The chips of a drive: LUNs, channels and cells, what is under way on them, and the clock.
//!
//! They know nothing of hosts but this: somebody asks, at the present, for pages that are [awaited](crate::Purpose).
//! Whoever asks passes time, and takes the [answer].
//!
//! [answer]: Chip::take_answer

use crate::cause::Purpose;
use crate::cells::Reader;
use crate::ledger::Ledger;
use crate::luns::Luns;
use crate::merge::Merge;
use crate::occupation::{After, By};
use crate::occupied::Occupied;
use crate::owner::{NOBODY, Owner};
use crate::parameters::{ChipParameters, Priority};
use crate::schedule::{ReadOrder, Schedule};
use crate::timeline::Log;
use crate::waits::Waits;
use crate::work::Work;
use crate::{BlockId, Cause, Geometry, Ppn, Unit};

/// The chips of a drive, and their clock.
#[derive(Debug, Clone)]
pub struct Chip {
    /// The present, before which nothing starts that is asked for from here on.
    now: u64,
    luns: Luns,
    /// LUNs that choose what to do next, if they do.
    schedule: Option<Box<Schedule>>,
    /// Whether they do so already.
    chooses: bool,
    /// Whether a page write of the host waited -> every copy so far for which it did is complete by then.
    moved_by: [u64; 2],
    /// When every erase and read so far of a collection that a host write had to wait for is complete.
    collected_by: u64,
    /// Whether operations wait for those that they depend on.
    has_dependencies: bool,
    /// When a map on flash has told where the next page of the host is, where operations follow each other.
    mapped_by: u64,
    /// Whether something has been done for a page write of the host that is not programmed yet.
    is_awaited: bool,
    /// For whom the host asks.
    owner: Owner,
    /// When its reads come, where LUNs choose what to do next.
    read_order: ReadOrder,
    answer: Answer,
    /// What the page waited for that is complete last of those that are answered.
    answered_waits: Waits,
    work: Work,
}

/// When what the host asked for is complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answer {
    /// When the last of those pages is, of which it is known; none if it is known of none.
    pub done_ns: Option<u64>,
    /// Pages of which [time](Chip::advance) will tell.
    pub pending: u32,
}

impl Chip {
    /// The chips of a drive of this geometry; pages beyond it are SLC pages, if there are some.
    pub fn new(parameters: &ChipParameters, geometry: &Geometry, has_slc_pages: bool) -> Self {
        let priority = parameters.order.priority;
        let chooses = priority == Priority::ReadFirst;
        Self {
            now: 0,
            luns: Luns::new(parameters, geometry, has_slc_pages),
            schedule: chooses.then(|| Box::new(Schedule::new(parameters, geometry))),
            chooses: false,
            moved_by: [0; 2],
            collected_by: 0,
            has_dependencies: priority != Priority::Femu,
            mapped_by: 0,
            is_awaited: false,
            owner: NOBODY,
            read_order: ReadOrder::First,
            answer: Answer::default(),
            answered_waits: Waits::default(),
            work: Work::default(),
        }
    }

    /// Keeps accounts of what operations of the host wait for, and a log of what LUNs do, or none.
    pub fn keep_accounts(&mut self, keeps_log: bool) {
        match &mut self.schedule {
            Some(schedule) => schedule.keep_accounts(keeps_log),
            None => self.luns.keep_accounts(keeps_log),
        }
    }

    /// A block had been erased so often before, beside what the parameters say.
    pub fn wear(&mut self, block: BlockId, erases: u32) {
        self.luns.wear(block, erases);
    }

    /// How many LUNs there are.
    pub fn luns(&self) -> u32 {
        self.luns.count()
    }

    /// Time that a page takes from or to the drive, in nanoseconds.
    pub fn transfer_ns(&self) -> u64 {
        self.luns.transfer_ns
    }
}

/// The clock.
impl Chip {
    /// The present, in nanoseconds.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.now
    }

    /// When everything so far is complete, in nanoseconds, as far as that is known.
    pub fn end_ns(&self) -> u64 {
        let chosen = self.schedule.as_ref().map_or(0, |schedule| schedule.now());
        self.luns.end().max(chosen)
    }

    /// It is this time, in nanoseconds, or later: time does not run back.
    #[inline]
    pub fn pass_to(&mut self, time_ns: u64) {
        self.now = self.now.max(time_ns);
    }

    /// Everything so far is complete; from here on, LUNs choose what to do next, if they do.
    pub fn begin_to_choose(&mut self) {
        self.now = self.luns.end();
        if let Some(schedule) = &mut self.schedule {
            schedule.begin_at(self.now);
            self.chooses = true;
        }
    }

    /// What comes first, up to `until_ns`: a page that somebody asked for is complete; when, and for whom. None if it
    /// is known of all when they are complete.
    #[inline]
    pub fn advance(&mut self, until_ns: u64) -> Option<(u64, Owner)> {
        self.schedule()?.advance(until_ns)
    }

    /// From when on all LUNs are at rest, if that is before this time, up to which nobody asks for anything.
    pub fn rest_before(&mut self, until_ns: u64) -> Option<u64> {
        let now = self.now;
        let mut rest = now.max(self.luns.end());
        if let Some(schedule) = self.schedule() {
            while schedule.pending() > 0 {
                let next = schedule.next_event();
                if next >= until_ns {
                    return None;
                }
                // Nobody waits for any of it.
                schedule.advance(next);
            }
            rest = now.max(schedule.now());
            schedule.advance(rest);
        }
        (rest < until_ns).then_some(rest)
    }

    /// Operations that are not complete, where LUNs choose what to do next.
    pub fn pending(&self) -> usize {
        self.schedule.as_ref().map_or(0, |schedule| schedule.pending())
    }
}

/// What the host asks for.
impl Chip {
    /// From here on, what the host asks for is for this owner, and this request in the log.
    #[inline]
    pub fn ask_for(&mut self, owner: Owner, request: Option<u64>) {
        self.owner = owner;
        if let Some(ledger) = self.ledger_mut() {
            ledger.request = request;
        }
    }

    /// Where LUNs choose what to do next: this is when reads come that the host asks for from here on.
    #[inline]
    pub fn order_reads(&mut self, order: ReadOrder) {
        self.read_order = order;
    }

    /// The host reads a page.
    #[inline]
    pub fn read_for_host(&mut self, from: Ppn) {
        let (owner, order, now) = (self.owner, self.read_order, self.now);
        let from = self.schedule().map_or(from, |schedule| schedule.readable(from));
        self.luns.sense(from, Reader::Host { request: owner, now });
        let time_ns = self.luns.read_ns(from);
        self.work.host_reads_ns += time_ns;
        if let Some(schedule) = self.schedule() {
            schedule.read(from, time_ns, owner, order);
            self.answer.pending += 1;
            return;
        }
        let after = After { mapped: std::mem::take(&mut self.mapped_by), ..After::default() };
        let done = self.luns.read(from, now, after, By::Host);
        self.answer(done);
    }

    /// The page that the host would read holds nothing: nobody waits for what a map was asked.
    pub fn forget_map(&mut self) {
        self.mapped_by = 0;
        if let Some(schedule) = self.schedule() {
            schedule.forget_map();
        }
    }

    /// When what the host asked for since the last call is complete.
    #[inline]
    pub fn take_answer(&mut self) -> Answer {
        std::mem::take(&mut self.answer)
    }

    /// What the page waited for that is complete last of the last answer, if accounts are kept.
    pub fn answered_waits(&self) -> Waits {
        self.answered_waits
    }

    /// What the page waited for that [was complete](Self::advance) last, if accounts are kept of LUNs that choose what to
    /// do next.
    pub fn latest_waits(&self) -> Option<Waits> {
        let ledger = self.schedule.as_ref().and_then(|schedule| schedule.ledger());
        ledger.map(|ledger| ledger.latest)
    }

    /// It is known of another page when it is complete.
    #[inline]
    fn answer(&mut self, done: u64) {
        if self.answer.done_ns.is_none_or(|latest| done > latest) {
            self.answer.done_ns = Some(done);
            if let Some(ledger) = self.luns.ledger() {
                self.answered_waits = ledger.latest;
            }
        }
    }
}

/// What is measured.
impl Chip {
    /// What was done so far.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// How occupied everything was up to this time, which is not before the present.
    pub fn occupied(&self, until_ns: u64) -> Occupied {
        match &self.schedule {
            Some(schedule) => schedule.occupied(),
            None => self.luns.occupied(until_ns),
        }
    }

    /// What LUNs did of late, if it is kept.
    pub fn log(&self) -> Option<&Log> {
        let ledger = self.schedule.as_ref().and_then(|schedule| schedule.ledger());
        ledger.or_else(|| self.luns.ledger())?.log.as_ref()
    }

    /// The log, to forget some of it.
    pub fn log_mut(&mut self) -> Option<&mut Log> {
        self.ledger_mut()?.log.as_mut()
    }

    #[inline]
    fn ledger_mut(&mut self) -> Option<&mut Ledger> {
        match &mut self.schedule {
            Some(schedule) => schedule.ledger_mut(),
            None => self.luns.ledger_mut(),
        }
    }
}

/// What the FTL asks for.
impl Chip {
    /// Whether the next thing that is awaited is the first for a page write of the host.
    #[inline]
    pub(crate) fn begins_host_write(&self, purpose: Purpose) -> bool {
        purpose.is_awaited && !self.is_awaited
    }

    /// A page write of the host begins at this time, or at the present if that is later.
    #[inline]
    pub(crate) fn begin_host_write(&mut self, arrival: u64) {
        self.pass_to(arrival);
        self.is_awaited = true;
    }

    /// Programs a page with new content: when that is complete, if it is known and a page write of the host.
    #[expect(clippy::inline_always, reason = "called for each page that is written")]
    #[inline(always)]
    pub(crate) fn program(&mut self, to: Ppn, is_awaited: bool) -> Option<u64> {
        let (now, time_ns) = (self.now, self.luns.program_ns(to));
        if !is_awaited {
            self.work.others_ns += time_ns;
            match self.schedule() {
                Some(schedule) => schedule.program_unawaited(to, time_ns),
                None => _ = self.luns.program(to, now, After::default(), By::Collection),
            }
            return None;
        }
        self.is_awaited = false;
        self.work.host_writes += 1;
        self.work.host_writes_ns += time_ns;
        let owner = self.owner;
        if let Some(schedule) = self.schedule() {
            schedule.program(to, time_ns, owner);
            self.answer.pending += 1;
            return None;
        }
        let after = self.after();
        self.mapped_by = 0;
        let done = self.luns.program(to, now, after, By::Host);
        self.answer(done);
        Some(done)
    }

    /// Programs a unit with new content: when it is complete, if that is known and the host wrote some of it.
    pub(crate) fn program_unit(&mut self, unit: &Unit, purpose: Purpose) -> Option<u64> {
        if !purpose.is_awaited || purpose.cause == Cause::Map {
            self.program_unit_of_map(unit, purpose.is_awaited);
            return None;
        }
        self.is_awaited = false;
        let (now, owner, after) = (self.now, self.owner, self.after());
        let mut complete = 0;
        let group = self.schedule().map(|schedule| schedule.begin_unit(unit.pages));
        for (to, index) in unit.places().zip(0..) {
            let time_ns = self.luns.program_ns(to);
            if unit.asked.contains(&index) {
                self.work.host_writes += 1;
                self.work.host_writes_ns += time_ns;
            } else {
                self.work.others_ns += time_ns;
            }
            if let (Some(schedule), Some(group)) = (self.schedule(), &group) {
                schedule.program_in(group, to, time_ns, owner);
            } else {
                let done = self.luns.program(to, now, after, By::Host);
                self.answer(done);
                complete = complete.max(done);
            }
        }
        if group.is_some() {
            self.answer.pending += 1;
            return None;
        }
        self.mapped_by = 0;
        Some(complete)
    }

    /// Programs a unit of a map, for which the next page of the host waits, or nobody.
    fn program_unit_of_map(&mut self, unit: &Unit, is_awaited: bool) {
        let before = self.mapped_by;
        let mut complete = before;
        for to in unit.places() {
            if is_awaited {
                // Its pages do not wait for each other.
                self.mapped_by = before;
                self.program_map(to);
                complete = complete.max(self.mapped_by);
            } else {
                self.program(to, false);
            }
        }
        self.mapped_by = complete;
    }

    /// Reads `from` and programs `to`.
    #[expect(clippy::inline_always, reason = "called for each page that is moved")]
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: Ppn, to: Ppn, purpose: Purpose) {
        self.luns.sense(from, Reader::Ftl);
        let times = [self.luns.read_ns(from), self.luns.program_ns(to)];
        *self.work.copies_ns(purpose.cause) += times[0] + times[1];
        if let Some(schedule) = self.schedule() {
            return schedule.copy(from, to, times, purpose.is_awaited);
        }
        let done = self.luns.copy(from, to, self.now);
        self.moved_until(done, purpose.is_awaited);
    }

    /// Whether [merges](Self::merge) need not be taken page by page.
    #[inline]
    pub(crate) fn adds_up(&self) -> bool {
        !self.chooses && self.luns.add_up()
    }

    /// Copies of all pages of a merge, which [add up](Self::adds_up).
    #[inline]
    pub(crate) fn merge(&mut self, merge: Merge, purpose: Purpose) {
        let copied = self.luns.merge(merge, self.now);
        *self.work.copies_ns(purpose.cause) += copied.lun_ns;
        self.moved_until(copied.done, purpose.is_awaited);
    }

    #[inline]
    pub(crate) fn erase(&mut self, block: BlockId, is_awaited: bool) {
        self.luns.wear(block, 1);
        self.work.erases_ns += self.luns.luns_of(block).len() as u64 * self.luns.erase_ns;
        if let Some(schedule) = self.schedule() {
            return schedule.erase(block, is_awaited);
        }
        let moved = self.moved_by[0].max(self.moved_by[1]);
        let done = self.luns.erase(block, self.now, moved);
        self.collect_until(done, is_awaited);
    }

    /// The FTL reads a page for itself.
    pub(crate) fn read(&mut self, from: Ppn, is_awaited: bool) {
        self.luns.sense(from, Reader::Ftl);
        let time_ns = self.luns.read_ns(from);
        self.work.others_ns += time_ns;
        if let Some(schedule) = self.schedule() {
            return schedule.read_for_ftl(from, time_ns, is_awaited);
        }
        let done = self.luns.read(from, self.now, After::default(), By::Collection);
        self.collect_until(done, is_awaited);
    }

    /// A page of a map, or of the rest of a unit, is read: the next page of the host waits for it.
    pub(crate) fn read_map(&mut self, from: Ppn) {
        self.luns.sense(from, Reader::Ftl);
        let time_ns = self.luns.read_ns(from);
        self.work.others_ns += time_ns;
        if let Some(schedule) = self.schedule() {
            return schedule.read_map(from, time_ns);
        }
        let done = self.luns.read(from, self.now, After::default(), By::Map);
        self.mapped_by = self.mapped_by.max(done);
    }

    /// A part of a map is read that is not on flash, in this time: the next page of the host waits for it.
    pub(crate) fn await_map(&mut self, time_ns: u64) {
        if let Some(schedule) = self.schedule() {
            return schedule.await_map_elsewhere(time_ns);
        }
        self.mapped_by = self.mapped_by.max(self.now + time_ns);
    }

    /// A page of a map is programmed, after what was read of it: the next page of the host waits for it.
    pub(crate) fn program_map(&mut self, to: Ppn) {
        let time_ns = self.luns.program_ns(to);
        self.work.others_ns += time_ns;
        if let Some(schedule) = self.schedule() {
            return schedule.program_map(to, time_ns);
        }
        self.mapped_by = self.luns.program(to, self.now, self.after(), By::Map);
    }

    /// What the next page of the host that is written waits for.
    #[inline]
    fn after(&self) -> After {
        After { moved: self.moved_by[1], erased: self.collected_by, mapped: self.mapped_by }
    }

    /// LUNs that choose what to do next, once they do.
    #[inline]
    fn schedule(&mut self) -> Option<&mut Schedule> {
        if !self.chooses {
            return None;
        }
        self.schedule.as_deref_mut()
    }

    /// Takes note of copies, which are complete at `done`.
    #[inline]
    fn moved_until(&mut self, done: u64, is_awaited: bool) {
        if self.has_dependencies {
            let moved_by = &mut self.moved_by[usize::from(is_awaited)];
            *moved_by = done.max(*moved_by);
        }
    }

    /// Takes note of an operation of a collection, which is complete at `done`.
    #[inline]
    fn collect_until(&mut self, done: u64, is_awaited: bool) {
        if is_awaited && self.has_dependencies {
            self.collected_by = self.collected_by.max(done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AtOnce, Flash, Lpn, NEVER, NoPayload, Page, Timed, Wait};
    use ftlab_spec::Parameters;

    /// Read 10, program 100, in microseconds, on two LUNs.
    fn timed(more: &str) -> Timed<NoPayload> {
        let spec = format!("chip:read-us=10,program-us=100,luns=2{more}");
        let parameters = ChipParameters::from_spec(&spec.parse().unwrap()).unwrap();
        let chip = Chip::new(&parameters, &Geometry::new(4, 4, 4096).unwrap(), false);
        Timed::new(NoPayload, chip, AtOnce)
    }

    fn write(timed: &mut Timed<NoPayload>, page: u32) {
        timed.program(Ppn(page), Page::new(Lpn(0), &[]), Cause::Host.awaited()).unwrap();
    }

    #[test]
    fn an_answer_is_of_the_page_that_is_complete_last_of_those_since_the_one_before() {
        let mut timed = timed("");
        assert_eq!(timed.chip_mut().take_answer(), Answer::default());
        for page in 0..3 {
            write(&mut timed, page);
        }
        timed.chip_mut().read_for_host(Ppn(1));
        // A copy is no answer.
        let copy = Page::copy(Lpn(0), Ppn(0));
        timed.program(Ppn(4), copy, Cause::Move.unawaited()).unwrap();
        let known = |done_ns| Answer { done_ns: Some(done_ns), pending: 0 };
        assert_eq!(timed.chip_mut().take_answer(), known(200_000));
        // Time is that of whoever passes it, and does not run back.
        for (time_ns, done_ns) in [(1_000_000, 1_010_000), (500_000, 1_020_000)] {
            timed.chip_mut().pass_to(time_ns);
            timed.chip_mut().read_for_host(Ppn(1));
            assert_eq!(timed.chip_mut().take_answer(), known(done_ns));
        }
        assert_eq!((timed.chip().now_ns(), timed.chip().end_ns()), (1_000_000, 1_020_000));
    }

    #[test]
    fn what_the_host_asks_for_waits_for_pages_of_a_map() {
        const MAP: Purpose = Cause::Map.awaited();
        for more in ["", ",priority=femu", ",priority=read-first"] {
            let mut timed = timed(more);
            timed.chip_mut().begin_to_choose();
            // One LUN has even pages, the other odd ones.
            timed.chip_mut().ask_for(1, None);
            timed.read(Ppn(0), &mut [], MAP).unwrap();
            timed.chip_mut().read_for_host(Ppn(1));
            let mut done = told(&mut timed);
            assert_eq!(done, [20_000], "a read after that of the map {more}");
            timed.chip_mut().pass_to(20_000);
            timed.chip_mut().read_for_host(Ppn(2));
            timed.chip_mut().read_for_host(Ppn(3));
            done = told(&mut timed);
            assert_eq!(done, [30_000], "reads of which it was not asked {more}");
            timed.chip_mut().pass_to(30_000);
            // An entry makes room: its page is read and written, and then another is read.
            timed.read(Ppn(0), &mut [], MAP).unwrap();
            timed.program(Ppn(5), Page::new(Lpn(9), &[]), MAP).unwrap();
            timed.read(Ppn(2), &mut [], MAP).unwrap();
            timed.program(Ppn(4), Page::new(Lpn(0), &[]), Cause::Host.awaited()).unwrap();
            assert_eq!(told(&mut timed), [240_000], "{more}");
            assert_eq!(timed.chip().work().others_ns, 130_000, "{more}");
        }
    }

    #[test]
    fn a_unit_is_there_when_its_rest_was_read_and_all_of_it_is_programmed() {
        for more in ["", ",priority=femu", ",priority=read-first"] {
            let mut timed = timed(more);
            timed.chip_mut().begin_to_choose();
            timed.chip_mut().ask_for(1, None);
            for page in [0, 2, 3] {
                timed.read(Ppn(page), &mut [], Cause::Rewrite.awaited()).unwrap();
            }
            let unit = |to, asked| Unit { lpn: Lpn(0), to: Ppn(to), pages: 4, asked };
            timed.program_unit(&unit(4, 1..2), Cause::Host.awaited()).unwrap();
            // One LUN reads two pages, and each programs two after that.
            assert_eq!(told(&mut timed), [220_000], "{more}");
            let work = *timed.chip().work();
            assert_eq!((work.host_writes, work.host_writes_ns), (1, 100_000), "{more}");
            assert_eq!(work.others_ns, 330_000, "{more}");
            // What comes next waits for nothing of that.
            timed.chip_mut().pass_to(220_000);
            timed.chip_mut().read_for_host(Ppn(5));
            assert_eq!(told(&mut timed), [230_000], "{more}");
            // A translation page of two pages is read and written, before a unit of the host.
            timed.chip_mut().pass_to(230_000);
            let map = Cause::Map.awaited();
            (0..2).for_each(|page| timed.read(Ppn(page), &mut [], map).unwrap());
            let of_map = Unit { pages: 2, ..unit(8, 0..2) };
            timed.program_unit(&of_map, map).unwrap();
            timed.program_unit(&unit(12, 0..4), Cause::Host.awaited()).unwrap();
            assert_eq!(told(&mut timed), [540_000], "{more}");
            assert_eq!(timed.chip().work().host_writes, 5, "{more}");
            // Nobody waits for one that collection changed.
            timed.chip_mut().pass_to(540_000);
            timed.program_unit(&of_map, Cause::Map.unawaited()).unwrap();
            assert_eq!(told(&mut timed), [], "{more}");
        }
    }

    #[test]
    fn what_is_read_of_a_map_elsewhere_takes_no_lun() {
        for more in ["", ",priority=femu", ",priority=read-first"] {
            let mut timed = timed(more);
            timed.chip_mut().begin_to_choose();
            timed.chip_mut().ask_for(1, None);
            timed.await_map(3_000);
            timed.chip_mut().read_for_host(Ppn(0));
            assert_eq!(told(&mut timed), [13_000], "{more}");
            timed.chip_mut().pass_to(13_000);
            // The LUN is free meanwhile, and what is not asked of the map waits for nothing.
            timed.await_map(3_000);
            timed.chip_mut().forget_map();
            timed.chip_mut().read_for_host(Ppn(0));
            assert_eq!(told(&mut timed), [23_000], "{more}");
            timed.chip_mut().pass_to(23_000);
            // An entry makes room: what is programmed was read elsewhere before.
            timed.await_map(3_000);
            timed.program(Ppn(5), Page::new(Lpn(9), &[]), Cause::Map.awaited()).unwrap();
            timed.await_map(3_000);
            timed.program(Ppn(4), Page::new(Lpn(0), &[]), Cause::Host.awaited()).unwrap();
            assert_eq!(told(&mut timed), [226_000], "{more}");
            assert_eq!(timed.chip().work().others_ns, 100_000, "{more}");
        }
    }

    #[test]
    fn a_read_waits_for_what_holds_it_back_longest_its_map_or_the_program_of_its_page() {
        for (map_ns, cause) in [(3_000, Wait::Lun), (150_000, Wait::Map)] {
            let mut timed = timed(",priority=read-first");
            timed.chip_mut().keep_accounts(false);
            timed.chip_mut().begin_to_choose();
            timed.chip_mut().ask_for(1, None);
            timed.program(Ppn(0), Page::new(Lpn(0), &[]), Cause::Host.unawaited()).unwrap();
            timed.await_map(map_ns);
            timed.chip_mut().read_for_host(Ppn(0));
            let begun = map_ns.max(100_000);
            assert_eq!(told(&mut timed), [begun + 10_000]);
            let waits = timed.chip().latest_waits().unwrap();
            assert_eq!((waits.get(cause), waits.total()), (begun, begun + 10_000), "{waits:?}");
        }
    }

    #[test]
    fn a_page_that_is_moved_is_read_where_it_was_until_its_copy_is_there() {
        let mut timed = timed(",priority=read-first");
        timed.chip_mut().begin_to_choose();
        // From the first LUN to the second: read until 10 us, programmed until 110.
        let copy = Page::copy(Lpn(0), Ppn(0));
        timed.program(Ppn(5), copy, Cause::Move.unawaited()).unwrap();
        timed.chip_mut().pass_to(20_000);
        timed.chip_mut().advance(20_000);
        for (page, at, done) in [(5, 20_000, 30_000), (5, 120_000, 130_000)] {
            timed.chip_mut().advance(at);
            timed.chip_mut().pass_to(at);
            timed.chip_mut().ask_for(1, None);
            timed.chip_mut().read_for_host(Ppn(page));
            assert_eq!(timed.chip_mut().advance(NEVER), Some((done, 1)));
        }
        // What is programmed there again waits for the copy, and so does who reads the page.
        timed.program(Ppn(7), Page::copy(Lpn(0), Ppn(0)), Cause::Move.unawaited()).unwrap();
        timed.erase(BlockId(0), Cause::Move.unawaited()).unwrap();
        timed.program(Ppn(0), Page::new(Lpn(1), &[]), Cause::Host.unawaited()).unwrap();
        timed.chip_mut().read_for_host(Ppn(7));
        assert_eq!(timed.chip_mut().advance(NEVER), Some((250_000, 1)));
    }

    #[test]
    fn a_read_that_was_held_back_comes_in_its_own_order() {
        for (order, done) in [(ReadOrder::First, 60_000), (ReadOrder::Last, 110_000)] {
            let mut timed = timed(",priority=read-first,suspend=programs,suspend-us=0");
            timed.chip_mut().begin_to_choose();
            write(&mut timed, 0);
            // A map tells late where it is; meanwhile another read comes in another order.
            timed.await_map(50_000);
            timed.chip_mut().order_reads(order);
            timed.chip_mut().ask_for(1, None);
            timed.chip_mut().read_for_host(Ppn(2));
            let other = if order == ReadOrder::First { ReadOrder::Last } else { ReadOrder::First };
            timed.chip_mut().order_reads(other);
            timed.chip_mut().ask_for(2, None);
            timed.chip_mut().read_for_host(Ppn(1));
            let told: Vec<_> = std::iter::from_fn(|| timed.chip_mut().advance(NEVER)).collect();
            assert!(
                told.contains(&(done, 1)) && told.contains(&(10_000, 2)),
                "{order:?}: {told:?}"
            );
        }
    }

    /// When what was asked for last is complete.
    fn told(timed: &mut Timed<NoPayload>) -> Vec<u64> {
        let answer = timed.chip_mut().take_answer();
        let mut done = answer.done_ns;
        while let Some((time, _)) = timed.chip_mut().advance(NEVER) {
            done = done.max(Some(time));
        }
        done.into_iter().collect()
    }

    #[test]
    fn where_luns_choose_time_tells_for_whom_a_page_is_complete() {
        let mut timed = timed(",priority=read-first");
        write(&mut timed, 0);
        let before = timed.chip_mut().take_answer();
        assert_eq!((before.done_ns, before.pending), (Some(100_000), 0), "not yet");
        timed.chip_mut().begin_to_choose();
        for (owner, page) in [(7, 0), (8, 2)] {
            timed.chip_mut().ask_for(owner, None);
            write(&mut timed, page);
        }
        timed.chip_mut().ask_for(9, None);
        timed.chip_mut().read_for_host(Ppn(4));
        assert_eq!(timed.chip_mut().take_answer(), Answer { done_ns: None, pending: 3 });
        // The read overtakes the second write.
        assert_eq!(timed.chip_mut().rest_before(150_000), None);
        let told: Vec<_> = std::iter::from_fn(|| timed.chip_mut().advance(NEVER)).collect();
        assert_eq!(told, [(200_000, 7), (210_000, 9), (310_000, 8)]);
        assert_eq!(timed.chip_mut().rest_before(400_000), Some(310_000));
        assert_eq!((timed.chip().pending(), timed.chip().work().host_writes), (0, 3));
    }
}
