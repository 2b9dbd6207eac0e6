//! Who occupies LUNs and channels that serve in the order of requests, and so what waits for them are for.

use crate::BlockId;
use crate::ledger::Ledger;
use crate::timeline::{LunWork, Slice};
use crate::waits::{Wait, Waits};
use std::collections::VecDeque;

/// When something is occupied from the present on, and for what.
#[derive(Debug, Clone, Default)]
struct Occupation {
    /// In order of time, without gaps after the present.
    spans: VecDeque<Span>,
    /// Time by cause up to the first of these.
    before: Waits,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    cause: Wait,
    end: u64,
    /// Time by cause up to its end.
    so_far: Waits,
}

impl Occupation {
    /// It is occupied from its end, or from `now` if that is later, to `end`; not longer if that has been.
    fn occupy(&mut self, now: u64, end: u64, cause: Wait) {
        while let Some(first) = self.spans.front().filter(|first| first.end <= now) {
            self.before = first.so_far;
            self.spans.pop_front();
        }
        let (start, mut so_far) = match self.spans.back() {
            Some(last) => (last.end, last.so_far),
            None => (now, self.before),
        };
        if end <= start {
            return;
        }
        so_far.add(cause, end - start);
        match self.spans.back_mut() {
            Some(last) if last.cause == cause => (last.end, last.so_far) = (end, so_far),
            _ => self.spans.push_back(Span { cause, end, so_far }),
        }
    }

    /// Time by cause up to `time`, which is not in the past.
    fn up_to(&self, time: u64) -> Waits {
        let index = self.spans.partition_point(|span| span.end < time);
        let Some(span) = self.spans.get(index) else {
            return self.spans.back().map_or(self.before, |last| last.so_far);
        };
        let start = if index == 0 { self.before } else { self.spans[index - 1].so_far };
        // Nothing that is over is asked for, so `time` is not in a gap before the first span.
        let of_span = span.so_far.since(&start).total();
        let mut so_far = start;
        so_far.add(span.cause, of_span.saturating_sub(span.end - time));
        so_far
    }

    fn between(&self, from: u64, to: u64) -> Waits {
        if from >= to {
            return Waits::default();
        }
        self.up_to(to).since(&self.up_to(from))
    }
}

/// An operation that has its time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Booked {
    pub(crate) lun: usize,
    pub(crate) channel: usize,
    pub(crate) page: u32,
    /// When it was asked for.
    pub(crate) now: u64,
    /// When the LUN is free of what it was asked for before.
    pub(crate) free: u64,
    pub(crate) start: u64,
    pub(crate) done: u64,
    /// What it takes where nothing is in its way.
    pub(crate) own_ns: u64,
    /// Of that, the time of a transfer; 0 if nobody waits for channels.
    pub(crate) transfer_ns: u64,
    pub(crate) by: By,
}

/// Who asked for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Host,
    /// The FTL, for a collection or a merge.
    Collection,
    /// The FTL, for a page of its map.
    Map,
}

impl Booked {
    /// An erase of a part of a block: when it was asked for, when it starts, when it is done.
    pub(crate) fn erase(lun: usize, block: BlockId, [now, start, done]: [u64; 3]) -> Self {
        let own_ns = done - start;
        Self {
            lun,
            channel: 0,
            page: block.0,
            now,
            free: start,
            start,
            done,
            own_ns,
            transfer_ns: 0,
            by: By::Collection,
        }
    }
}

/// What an operation waits for before its LUN: that pages are moved, that blocks are erased, and that a map on flash has
/// told where its page is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct After {
    pub(crate) moved: u64,
    pub(crate) erased: u64,
    pub(crate) mapped: u64,
}

impl After {
    #[inline]
    pub(crate) fn all(self) -> u64 {
        self.moved.max(self.erased).max(self.mapped)
    }
}

/// All LUNs and channels, and what the last operation of the host waited for.
#[derive(Debug, Clone)]
pub(crate) struct Accounts {
    luns: Vec<Occupation>,
    channels: Vec<Occupation>,
    pub(crate) ledger: Ledger,
}

impl Accounts {
    pub(crate) fn new(luns: usize, channels: usize, keeps_log: bool) -> Self {
        Self {
            luns: vec![Occupation::default(); luns],
            channels: vec![Occupation::default(); channels],
            ledger: Ledger::new(keeps_log),
        }
    }

    /// A page is read from the cells and transferred.
    pub(crate) fn read(&mut self, booked: Booked, after: After) {
        let Booked { now, start, done, own_ns, transfer_ns, .. } = booked;
        let (lun, channel) = (&mut self.luns[booked.lun], &mut self.channels[booked.channel]);
        if booked.by == By::Host {
            let mut waits = dependency(now, after);
            waits.add_all(&lun.between(now.max(after.all()), start));
            waits.add_all(&channel.between(start + own_ns - transfer_ns, done - transfer_ns));
            waits.add(Wait::Own, own_ns);
            self.ledger.latest = waits;
        }
        let (of_lun, of_channel) = causes(booked.by);
        lun.occupy(now, after.mapped, Wait::Map);
        lun.occupy(now, done, of_lun);
        channel.occupy(now, if transfer_ns > 0 { done } else { 0 }, of_channel);
        self.note(booked, [LunWork::HostRead, LunWork::Read]);
    }

    /// A page is transferred and programmed.
    pub(crate) fn program(&mut self, booked: Booked, after: After) {
        let Booked { now, free, start, done, own_ns, transfer_ns, .. } = booked;
        let (lun, channel) = (&mut self.luns[booked.lun], &mut self.channels[booked.channel]);
        if booked.by == By::Host {
            let asked = now.max(after.all());
            let mut waits = dependency(now, after);
            waits.add_all(&lun.between(asked, free));
            waits.add_all(&channel.between(asked.max(free), start));
            waits.add(Wait::Own, own_ns);
            self.ledger.latest = waits;
        }
        let (of_lun, of_channel) = causes(booked.by);
        lun.occupy(now, after.moved, Wait::Collection);
        lun.occupy(now, after.erased, Wait::Erase);
        lun.occupy(now, after.mapped, Wait::Map);
        lun.occupy(now, done, of_lun);
        channel.occupy(now, if transfer_ns > 0 { start + transfer_ns } else { 0 }, of_channel);
        self.note(booked, [LunWork::HostProgram, LunWork::Program]);
    }

    /// Takes note of what a LUN does: the first of these for the host, the second for the FTL.
    fn note(&mut self, booked: Booked, work: [LunWork; 2]) {
        let Booked { lun, page, start, done, by, .. } = booked;
        let is_host = by == By::Host;
        let Some(log) = &mut self.ledger.log else { return };
        log.add(Slice {
            lun: lun as u32,
            begin_ns: start,
            end_ns: done,
            work: work[usize::from(!is_host)],
            page,
            request: self.ledger.request.filter(|_| is_host),
        });
    }

    /// A part of a block is erased.
    pub(crate) fn erase(&mut self, booked: Booked, moved: u64) {
        let Booked { lun, page, now, start, done, .. } = booked;
        let occupation = &mut self.luns[lun];
        occupation.occupy(now, moved, Wait::Collection);
        occupation.occupy(now, done, Wait::Erase);
        if let Some(log) = &mut self.ledger.log {
            let (lun, work) = (lun as u32, LunWork::Erase);
            log.add(Slice { lun, begin_ns: start, end_ns: done, work, page, request: None });
        }
    }
}

/// What a LUN and a channel are occupied for.
fn causes(by: By) -> (Wait, Wait) {
    match by {
        By::Host => (Wait::Lun, Wait::Channel),
        By::Collection => (Wait::Collection, Wait::Collection),
        By::Map => (Wait::Map, Wait::Map),
    }
}

/// What the host waits for before its LUN: until pages are moved for it, then for erases, and then for the map.
fn dependency(now: u64, after: After) -> Waits {
    let moved = after.moved.max(now);
    let mut waits = Waits::of(Wait::Collection, moved - now);
    let erased = after.erased.max(moved);
    waits.add(Wait::Erase, erased - moved);
    waits.add(Wait::Map, after.mapped.max(erased) - erased);
    waits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_by_cause_is_that_of_a_list_of_nanoseconds() {
        let mut random = 1_u64;
        let mut draw = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % most
        };
        let (mut occupation, mut naive, mut now) = (Occupation::default(), Vec::new(), 0_u64);
        for _ in 0..2000 {
            now += draw(20);
            naive.resize(naive.len().max(now as usize), None);
            let end = now + draw(60);
            let cause = Wait::ALL[draw(6) as usize];
            naive.resize(naive.len().max(end as usize), Some(cause));
            occupation.occupy(now, end, cause);
            let from = now + draw(30);
            let to = from + draw(60);
            let waits = occupation.between(from, to);
            for cause in Wait::ALL {
                let expected = (from..to)
                    .filter(|time| naive.get(*time as usize).copied().flatten() == Some(cause));
                assert_eq!(waits.get(cause), expected.count() as u64, "{now}: {from}..{to}");
            }
        }
    }
}
