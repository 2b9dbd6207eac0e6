//! LUNs and channels: who is busy until when.

use crate::cells::{Cells, Reader};
use crate::ledger::Ledger;
use crate::merge::{first_bits, ones};
use crate::occupation::{Accounts, After, Booked, By};
use crate::occupied::Occupied;
use crate::parameters::{ChipParameters, ChipTimes, Priority, nanoseconds};
use crate::striping::Striping;
use crate::{BlockId, Geometry, Merge, Ppn};
use std::ops::Range;

/// The LUNs of a drive; LUN l is on channel l mod the number of channels.
///
/// Every operation names the time before which it cannot start and gets the time when it is
/// complete. Operations of a LUN, and transfers of a channel, follow each other in the order in which
/// they are asked for.
#[derive(Debug, Clone)]
pub(crate) struct Luns {
    /// Of the cells and the transfer, where all pages take as long.
    read_ns: u64,
    /// The transfer and the program, where all pages take as long.
    program_ns: u64,
    pub(crate) erase_ns: u64,
    pub(crate) transfer_ns: u64,
    /// Times of the cells, where they depend on the page.
    cells: Option<Box<Cells>>,
    /// Whether the program of a copy waits for its read.
    reads_first: bool,
    striping: Striping,
    all: Vec<Lun>,
    /// No LUN is free before that, whatever it says itself.
    none_free_before: u64,
    /// They say so themselves up to that.
    all_know: u64,
    /// Time for which all LUNs were occupied at once up to some such time, which they count as idle themselves.
    all_occupied_ns: u64,
    /// When the last operation is complete.
    end: u64,
    /// LUN -> time that operations of the host waited until it began them, in sum.
    queued_ns: Vec<u64>,
    /// None where transfers take no time.
    shared: Option<Channels>,
    /// What operations of the host wait for, if somebody wants to know.
    accounts: Option<Box<Accounts>>,
    channels: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Lun {
    /// When it is free, unless no LUN is.
    free: u64,
    /// Time for which it was not occupied by itself before that.
    idle_ns: u64,
}

#[derive(Debug, Clone)]
struct Channels {
    transfer_ns: u64,
    /// Channel -> when it is free.
    free: Vec<u64>,
    /// Channel -> pages that passed over it.
    passed: Vec<u64>,
    /// LUN -> its channel.
    of_lun: Vec<u32>,
}

impl Luns {
    pub(crate) fn new(
        parameters: &ChipParameters,
        geometry: &Geometry,
        has_slc_pages: bool,
    ) -> Self {
        let ChipTimes { read_us, program_us, erase_us, transfer_us, channels, .. } =
            parameters.times;
        let count = parameters.luns();
        let transfer_ns = nanoseconds(transfer_us);
        let striping = Striping::new(parameters, geometry);
        Self {
            read_ns: nanoseconds(read_us.mean_us()) + transfer_ns,
            program_ns: transfer_ns + nanoseconds(program_us.mean_us()),
            erase_ns: nanoseconds(erase_us),
            transfer_ns,
            cells: Cells::new(parameters, striping, geometry, has_slc_pages).map(Box::new),
            reads_first: parameters.order.priority != Priority::Femu,
            striping,
            all: vec![Lun::default(); count as usize],
            none_free_before: 0,
            all_know: 0,
            all_occupied_ns: 0,
            end: 0,
            queued_ns: vec![0; count as usize],
            shared: (transfer_ns > 0).then(|| Channels {
                transfer_ns,
                free: vec![0; channels as usize],
                passed: vec![0; channels as usize],
                of_lun: (0..count).map(|lun| lun % channels).collect(),
            }),
            accounts: None,
            channels,
        }
    }

    /// Keeps accounts of what operations of the host wait for, and a log of what LUNs do, or none.
    pub(crate) fn keep_accounts(&mut self, keeps_log: bool) {
        let accounts = Accounts::new(self.all.len(), self.channels as usize, keeps_log);
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

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// When the last operation is complete.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// LUN -> time for which it was occupied by then, were it occupied without pause from its last operations
    /// to that time.
    fn busy_ns(&self, until: u64) -> Vec<u64> {
        let busy_ns = |mut lun: Lun| {
            let free = lun.take(self.none_free_before, 0);
            (free.min(until) + self.all_occupied_ns).saturating_sub(lun.idle_ns)
        };
        self.all.iter().copied().map(busy_ns).collect()
    }

    /// When a LUN is free.
    #[inline]
    fn free(&self, lun: usize) -> u64 {
        self.all[lun].free.max(self.none_free_before)
    }

    /// An operation of a LUN is complete.
    #[inline]
    fn ends(&mut self, done: u64) -> u64 {
        self.end = self.end.max(done);
        done
    }

    /// How occupied LUNs and channels were by then, and how long operations waited.
    pub(crate) fn occupied(&self, until: u64) -> Occupied {
        let channel_ns = match &self.shared {
            Some(channels) => {
                channels.passed.iter().map(|pages| pages * self.transfer_ns).collect()
            }
            None => vec![0; self.channels as usize],
        };
        Occupied { busy_ns: self.busy_ns(until), channel_ns, queued_ns: self.queued_ns.clone() }
    }

    /// A page is about to be read: its LUN may have read it together with another.
    #[inline]
    pub(crate) fn sense(&mut self, page: Ppn, by: Reader) {
        self.cells.iter_mut().for_each(|cells| cells.sense(page, by));
    }

    /// LUN time of a read of a page.
    #[inline]
    pub(crate) fn read_ns(&self, page: Ppn) -> u64 {
        self.cells.as_ref().map_or(self.read_ns, |cells| cells.read_ns(page) + self.transfer_ns)
    }

    /// LUN time of a program of a page.
    #[inline]
    pub(crate) fn program_ns(&self, page: Ppn) -> u64 {
        self.cells
            .as_ref()
            .map_or(self.program_ns, |cells| self.transfer_ns + cells.program_ns(page))
    }

    /// Takes note that a block is erased so often more, if times depend on that.
    #[inline]
    pub(crate) fn wear(&mut self, block: BlockId, erases: u32) {
        self.cells.iter_mut().for_each(|cells| cells.wear(block, erases));
    }

    #[inline]
    fn lun_of(&self, page: Ppn) -> usize {
        self.striping.lun(page)
    }

    /// The LUNs that hold pages of `block`.
    #[inline]
    pub(crate) fn luns_of(&self, block: BlockId) -> Range<usize> {
        self.striping.luns_of(block)
    }

    /// Reads from the cells, then transfers out; the LUN holds the page until that is done.
    #[inline]
    pub(crate) fn read(&mut self, page: Ppn, now: u64, after: After, by: By) -> u64 {
        if self.accounts.is_some() {
            return self.read_and_account(page, now, after, by);
        }
        let (lun, earliest) = (self.lun_of(page), now.max(after.all()));
        if by == By::Host {
            self.queued_ns[lun] += earliest.max(self.free(lun)) - now;
        }
        self.read_from(lun, earliest, self.read_ns(page))
    }

    #[inline]
    fn read_from(&mut self, lun: usize, earliest: u64, read_ns: u64) -> u64 {
        let start = earliest.max(self.free(lun));
        let mut done = start + read_ns;
        if let Some(channels) = &mut self.shared {
            let channel = channels.of_lun[lun] as usize;
            channels.passed[channel] += 1;
            let channel_free = &mut channels.free[channel];
            done = done.max(*channel_free + channels.transfer_ns);
            *channel_free = done;
        }
        self.all[lun].occupy(start, done);
        self.ends(done)
    }

    /// Transfers in, which takes LUN and channel, then programs.
    #[expect(clippy::inline_always, reason = "called for each page that is written")]
    #[inline(always)]
    pub(crate) fn program(&mut self, page: Ppn, now: u64, after: After, by: By) -> u64 {
        if self.accounts.is_some() {
            return self.program_and_account(page, now, after, by);
        }
        let (lun, earliest, time) =
            (self.lun_of(page), now.max(after.all()), self.program_ns(page));
        let done = self.program_on(lun, earliest, time);
        if by == By::Host {
            self.queued_ns[lun] += done - time - now;
        }
        done
    }

    #[expect(clippy::inline_always, reason = "called for each page that is written")]
    #[inline(always)]
    fn program_on(&mut self, lun: usize, earliest: u64, program_ns: u64) -> u64 {
        let mut start = earliest.max(self.free(lun));
        if let Some(channels) = &mut self.shared {
            let channel = channels.of_lun[lun] as usize;
            channels.passed[channel] += 1;
            let channel_free = &mut channels.free[channel];
            start = start.max(*channel_free);
            *channel_free = start + channels.transfer_ns;
        }
        self.all[lun].occupy(start, start + program_ns);
        self.ends(start + program_ns)
    }

    /// Reads `from` and programs `to`.
    #[expect(clippy::inline_always, reason = "called for each page that is moved")]
    #[inline(always)]
    pub(crate) fn copy(&mut self, from: Ppn, to: Ppn, earliest: u64) -> u64 {
        if self.accounts.is_some() {
            return self.copy_and_account(from, to, earliest);
        }
        let (read_ns, program_ns) = (self.read_ns(from), self.program_ns(to));
        if let [lun] = &mut self.all[..] {
            self.shared.iter_mut().for_each(|channels| channels.passed[0] += 2);
            let done = lun.take(earliest.max(self.none_free_before), read_ns + program_ns);
            return self.ends(done);
        }
        let (from, to) = (self.lun_of(from), self.lun_of(to));
        let is_read = self.read_from(from, earliest, read_ns);
        self.program_on(to, if self.reads_first { is_read } else { earliest }, program_ns)
    }

    /// Whether copies can be added up: no page differs from others, nobody keeps accounts, and LUNs share no channels.
    #[inline]
    pub(crate) fn add_up(&self) -> bool {
        let is_alone = self.all.len() == 1;
        self.cells.is_none() && self.accounts.is_none() && (self.shared.is_none() || is_alone)
    }

    /// Copies pages that [add up](Self::add_up), one after the other, as [`copy`](Self::copy) does.
    #[inline]
    pub(crate) fn merge(&mut self, merge: Merge, earliest: u64) -> Copied {
        let luns = self.all.len() as u32;
        let pages = u64::from(merge.pages());
        let lun_ns = pages * (self.read_ns + self.program_ns);
        let mut done = 0;
        if luns == 1 {
            self.shared.iter_mut().for_each(|channels| channels.passed[0] += 2 * pages);
            if pages > 0 {
                done = self.all[0].take(earliest.max(self.none_free_before), lun_ns);
                self.ends(done);
            }
        } else if let Striping::Even { mask, .. } = self.striping {
            self.wait_until(earliest);
            for part in merge.parts(luns) {
                done = self.merge_part(part, mask).max(done);
                self.ends(done);
            }
        } else {
            for (from, to, _) in merge.moves() {
                done = done.max(self.copy(from, to, earliest));
            }
        }
        Copied { lun_ns, done }
    }

    /// Copies pages to successive LUNs, one to each, where all LUNs say when they are free: when all are complete.
    ///
    /// Those of the data block stay on their LUN, which is not idle in between: they are added up first. Those of the
    /// log follow in order; what they read from a LUN before that copies a page of its own delays that page, not them.
    fn merge_part(&mut self, part: Merge, mask: u32) -> u64 {
        let Self { read_ns, program_ns, reads_first, none_free_before: earliest, .. } = *self;
        debug_assert_eq!(part.data.0 & mask, part.to.0 & mask, "another place in the block");
        let copy_ns = read_ns + program_ns;
        let (first, count) = (part.to.0 & mask, part.log_pages.len() as u32);
        let logged = part.logged();
        let stay = part.live & !logged;
        let are_alike = self.end <= earliest;
        let luns = &mut self.all[first as usize..(first + count) as usize];
        for lun in &mut *luns {
            lun.free += copy_ns;
        }
        for step in ones(first_bits(count) & !stay) {
            luns[step as usize].free -= copy_ns;
        }
        let mut stayed = ones(stay).map(|step| luns[step as usize].free);
        let mut done = if are_alike { stayed.next() } else { stayed.max() }.unwrap_or(0);
        for step in ones(logged) {
            let reads_at = part.log_pages[step as usize] & mask;
            let reader = &mut self.all[reads_at as usize];
            reader.free += read_ns;
            done = done.max(reader.free);
            let copies_at = reads_at.wrapping_sub(first);
            let copies_later = copies_at > step && copies_at < count && stay >> copies_at & 1 == 1;
            let is_read = reader.free - if copies_later { copy_ns } else { 0 };
            let writer = &mut self.all[(first + step) as usize];
            done = done.max(writer.take(if reads_first { is_read } else { earliest }, program_ns));
        }
        done
    }

    /// No LUN is free before this time: those that are are idle up to it, and say so.
    #[inline]
    fn wait_until(&mut self, time: u64) {
        let time = time.max(self.none_free_before);
        if self.end <= time {
            for lun in &mut self.all {
                lun.occupy(time, time);
            }
        } else if self.all_know < time {
            for lun in &mut self.all {
                lun.take(time, 0);
            }
        }
        (self.none_free_before, self.all_know) = (time, time);
    }

    /// Erases on every LUN of `block`, once the pages in it are moved; complete when the last is.
    #[inline]
    pub(crate) fn erase(&mut self, block: BlockId, now: u64, moved: u64) -> u64 {
        if self.accounts.is_some() {
            self.account_erase(block, now, moved);
        }
        let earliest = now.max(moved).max(self.none_free_before);
        let (erase_ns, luns) = (self.erase_ns, self.luns_of(block));
        if luns.len() == self.all.len() && earliest >= self.end {
            self.none_free_before = earliest + erase_ns;
            self.all_occupied_ns += erase_ns;
            return self.ends(self.none_free_before);
        }
        let luns = self.all[luns].iter_mut();
        let done = luns.map(|lun| lun.take(earliest, erase_ns)).max().unwrap_or(earliest);
        self.ends(done)
    }
}

/// The operations where accounts are kept, apart from the others so that they cost nothing there.
impl Luns {
    #[cold]
    #[inline(never)]
    fn read_and_account(&mut self, page: Ppn, now: u64, after: After, by: By) -> u64 {
        let (lun, own_ns) = (self.lun_of(page), self.read_ns(page));
        let (free, earliest) = (self.free(lun), now.max(after.all()));
        let (start, done) = (earliest.max(free), self.read_from(lun, earliest, own_ns));
        self.queued_ns[lun] += if by == By::Host { start - now } else { 0 };
        let booked = Booked { free, start, own_ns, by, ..self.booked(page, now, done) };
        self.accounts.iter_mut().for_each(|it| it.read(booked, after));
        done
    }

    #[cold]
    #[inline(never)]
    fn program_and_account(&mut self, page: Ppn, now: u64, after: After, by: By) -> u64 {
        let (lun, own_ns) = (self.lun_of(page), self.program_ns(page));
        let free = self.free(lun);
        let done = self.program_on(lun, now.max(after.all()), own_ns);
        let start = done - own_ns;
        self.queued_ns[lun] += if by == By::Host { start - now } else { 0 };
        let booked = Booked { free, start, own_ns, by, ..self.booked(page, now, done) };
        self.accounts.iter_mut().for_each(|it| it.program(booked, after));
        done
    }

    #[cold]
    #[inline(never)]
    fn copy_and_account(&mut self, from: Ppn, to: Ppn, now: u64) -> u64 {
        let by = By::Collection;
        let is_read = self.read_and_account(from, now, After::default(), by);
        let moved = if self.reads_first { is_read } else { 0 };
        self.program_and_account(to, now, After { moved, ..After::default() }, by)
    }

    #[cold]
    #[inline(never)]
    fn account_erase(&mut self, block: BlockId, now: u64, moved: u64) {
        for lun in self.luns_of(block) {
            let start = now.max(moved).max(self.free(lun));
            let booked = Booked::erase(lun, block, [now, start, start + self.erase_ns]);
            self.accounts.iter_mut().for_each(|accounts| accounts.erase(booked, moved));
        }
    }

    /// An operation of the FTL of which it is known when it is done.
    fn booked(&self, page: Ppn, now: u64, done: u64) -> Booked {
        let lun = self.lun_of(page);
        Booked {
            lun,
            channel: lun % self.channels as usize,
            page: page.0,
            now,
            free: 0,
            start: 0,
            done,
            own_ns: 0,
            // Nobody waits for a channel that a LUN has for itself.
            transfer_ns: if self.all.len() > self.channels as usize { self.transfer_ns } else { 0 },
            by: By::Collection,
        }
    }
}

/// Pages that were copied.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Copied {
    /// Time that they take of their LUNs.
    pub(crate) lun_ns: u64,
    /// When all are complete.
    pub(crate) done: u64,
}

impl Lun {
    /// Is occupied for so long as soon as it is free, but not before `earliest`.
    #[inline]
    fn take(&mut self, earliest: u64, time_ns: u64) -> u64 {
        let start = earliest.max(self.free);
        self.occupy(start, start + time_ns);
        self.free
    }

    #[inline]
    fn occupy(&mut self, start: u64, done: u64) {
        self.idle_ns += start - self.free;
        self.free = done;
    }
}
