//! A buffer of pages that the host has written and the flash has not.

use ftlab_flash::{Gate, Hint, Lpn, NOBODY, Owner};
use ftlab_spec::{ByteSize, Domain, Share, Value};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::fmt;

ftlab_spec::choices! {
    /// When a host is told that a page is written.
    pub enum Acknowledgement {
        /// When it is in the buffer.
        Arrival = "arrival",
        /// When it is in flash.
        Program = "program",
    }
}

/// What a write buffer is like: `64MiB:plp=on:ack=arrival:keep=0%`, or `off`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteBuffer {
    /// Its size; none if there is no buffer.
    pub bytes: Option<u64>,
    /// Whether it survives a loss of power, so that a flush has nothing to wait for.
    pub plp: bool,
    /// When the host is told that a page is written.
    pub ack: Acknowledgement,
    /// Share of it that is programmed only if the host asks for that, and is there to be rewritten.
    pub keep: f64,
}

impl WriteBuffer {
    /// There is none.
    pub const OFF: Self = Self { bytes: None, plp: true, ack: Acknowledgement::Arrival, keep: 0.0 };
}

impl fmt::Display for WriteBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(bytes) = self.bytes else { return f.write_str("off") };
        let plp = self.plp.print();
        write!(f, "{}:plp={plp}:ack={}:keep={}", ByteSize(bytes), self.ack, Share(self.keep))
    }
}

impl Value for WriteBuffer {
    fn expects() -> String {
        "off, or a size such as 64MiB, maybe with parts such as 64MiB:plp=off:ack=program:keep=50%"
            .into()
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "off" {
            return Some(Self::OFF);
        }
        let mut parts = text.split(':');
        let bytes = parts.next()?.parse::<ByteSize>().ok().filter(|size| size.0 > 0)?;
        let mut buffer = Self { bytes: Some(bytes.0), ..Self::OFF };
        for part in parts {
            match part.split_once('=')? {
                ("plp", value) => buffer.plp = bool::parse(value)?,
                ("ack", value) => buffer.ack = Acknowledgement::parse(value)?,
                ("keep", value) => {
                    buffer.keep = value.parse::<Share>().ok().filter(|share| share.0 <= 1.0)?.0;
                }
                _ => return None,
            }
        }
        Some(buffer)
    }

    fn domain() -> Domain {
        Domain::Text
    }
}

/// A page that the host writes, with what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferedWrite {
    /// Which page.
    pub lpn: Lpn,
    /// What is known beside.
    pub hint: Hint,
}

/// What happened in a buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BufferCounts {
    /// Pages that the host wrote.
    pub writes: u64,
    /// Of these, pages that took the place of an older version, which was never programmed.
    pub coalesced: u64,
    /// Pages that were trimmed before they were programmed.
    pub trimmed: u64,
    /// Pages that had to wait until there was room.
    pub waited: u64,
    /// Pages that the host read from the buffer.
    pub read_hits: u64,
}

/// The pages in it, and those that wait outside. Pages are programmed in the order in which they came, at
/// most a fixed number at once; a page that is rewritten before that keeps its turn.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    pages_max: usize,
    /// Sectors of 512 bytes in a page.
    page_sectors: i32,
    programs_max: usize,
    /// Pages that are left in it unless the host asks for all.
    kept: usize,
    plp: bool,
    ack: Acknowledgement,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Page -> its newest version here.
    of_page: FxHashMap<u32, u32>,
    /// What waits for its program, the oldest first; trimmed ones among it.
    queue: VecDeque<u32>,
    /// How many of these are not trimmed.
    waiting: usize,
    programming: usize,
    /// Pages for which there is no room, and who writes them.
    outside: VecDeque<(BufferedWrite, Owner)>,
    /// Flushes wait for all that came before.
    programs: Gate<Owner>,
    /// The number up to which entries have to be programmed, kept or not.
    hurried: u64,
    pub(crate) counts: BufferCounts,
}

#[derive(Debug, Clone)]
struct Entry {
    write: BufferedWrite,
    state: State,
    /// Its number among the programs.
    number: u64,
    /// Who waits for its program.
    owners: Vec<Owner>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Programming,
    Trimmed,
}

/// What became of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    /// It is written, as far as the host knows.
    Acknowledged,
    /// It will be, when it is programmed or there is room for it.
    Waits,
}

impl Buffer {
    /// A buffer of pages of `page_bytes`, from which at most `programs_max` are programmed at once.
    pub(crate) fn new(options: WriteBuffer, page_bytes: u32, programs_max: usize) -> Option<Self> {
        let pages_max = (options.bytes? / u64::from(page_bytes)).max(1) as usize;
        Some(Self {
            pages_max,
            page_sectors: (page_bytes / 512).cast_signed(),
            programs_max,
            kept: (options.keep * pages_max as f64) as usize,
            plp: options.plp,
            ack: options.ack,
            entries: Vec::new(),
            free: Vec::new(),
            of_page: FxHashMap::default(),
            queue: VecDeque::new(),
            waiting: 0,
            programming: 0,
            outside: VecDeque::new(),
            programs: Gate::default(),
            hurried: 0,
            counts: BufferCounts::default(),
        })
    }

    /// Whether a page is in it.
    #[inline]
    pub(crate) fn holds(&self, lpn: Lpn) -> bool {
        self.of_page.contains_key(&lpn.0)
    }

    /// The host writes a page.
    pub(crate) fn put(&mut self, write: BufferedWrite, owner: Owner) -> Put {
        self.counts.writes += 1;
        if self.outside.is_empty()
            && let Some(put) = self.admit(write, owner)
        {
            return put;
        }
        self.counts.waited += 1;
        self.outside.push_back((write, owner));
        Put::Waits
    }

    /// Takes a page in, if there is room or it takes the place of an older version.
    fn admit(&mut self, write: BufferedWrite, owner: Owner) -> Option<Put> {
        let older = self.of_page.get(&write.lpn.0).copied();
        let older = older.filter(|id| self.entries[*id as usize].state == State::Waiting);
        let id = match older {
            Some(id) => {
                self.counts.coalesced += 1;
                let entry = &mut self.entries[id as usize];
                // What the host sent of both is programmed once.
                let sent_before = self.page_sectors.saturating_sub(entry.write.hint.lacking);
                entry.write = write;
                entry.write.hint.lacking = write.hint.lacking.saturating_sub(sent_before);
                id
            }
            None if self.waiting + self.programming < self.pages_max => self.add(write),
            None => return None,
        };
        if self.ack == Acknowledgement::Arrival {
            return Some(Put::Acknowledged);
        }
        self.entries[id as usize].owners.push(owner);
        Some(Put::Waits)
    }

    fn add(&mut self, write: BufferedWrite) -> u32 {
        let number = self.programs.enter();
        let id = self.free.pop().unwrap_or_else(|| {
            let owners = Vec::new();
            self.entries.push(Entry { write, state: State::Waiting, number, owners });
            self.entries.len() as u32 - 1
        });
        let entry = &mut self.entries[id as usize];
        (entry.write, entry.state, entry.number) = (write, State::Waiting, number);
        self.of_page.insert(write.lpn.0, id);
        self.queue.push_back(id);
        self.waiting += 1;
        id
    }

    /// Somebody wants all pages programmed that are in it; false if none is, or none need be.
    pub(crate) fn flush(&mut self, owner: Owner) -> bool {
        if self.plp {
            return false;
        }
        self.hurry();
        self.programs.wait(owner)
    }

    /// All pages that are in it have to be programmed, and kept ones too.
    pub(crate) fn hurry(&mut self) {
        self.hurried = self.programs.last();
    }

    /// The next page to program, if one is due: a number for it, and what it is.
    pub(crate) fn next_program(&mut self) -> Option<(u32, BufferedWrite)> {
        while let Some(&id) = self.queue.front()
            && self.entries[id as usize].state == State::Trimmed
        {
            self.queue.pop_front();
            self.free.push(id);
        }
        let id = *self.queue.front()?;
        let entry = &mut self.entries[id as usize];
        let is_due =
            entry.number <= self.hurried || self.waiting > self.kept || !self.outside.is_empty();
        if self.programming == self.programs_max || !is_due {
            return None;
        }
        self.queue.pop_front();
        entry.state = State::Programming;
        self.waiting -= 1;
        self.programming += 1;
        Some((id, entry.write))
    }

    /// A page of it is in flash: `told` gets whoever waited for that.
    pub(crate) fn programmed(&mut self, id: u32, told: &mut Vec<Owner>) {
        self.programming -= 1;
        let entry = &mut self.entries[id as usize];
        told.append(&mut entry.owners);
        let (lpn, number) = (entry.write.lpn.0, entry.number);
        if self.of_page.get(&lpn) == Some(&id) {
            self.of_page.remove(&lpn);
        }
        self.free.push(id);
        self.leave(number, told);
    }

    fn leave(&mut self, number: u64, told: &mut Vec<Owner>) {
        self.programs.leave(number);
        told.extend(std::iter::from_fn(|| self.programs.release()));
    }

    /// Takes in what waits outside, as far as there is room: the owners whose pages are written with that.
    pub(crate) fn take_in(&mut self, told: &mut Vec<Owner>) {
        while let Some(&(write, owner)) = self.outside.front() {
            let Some(put) = self.admit(write, owner) else { return };
            self.outside.pop_front();
            if put == Put::Acknowledged {
                told.push(owner);
            }
        }
    }

    /// The host gives up a page; `told` gets whoever waited for it.
    pub(crate) fn trim(&mut self, lpn: Lpn, told: &mut Vec<Owner>) {
        let Some(id) = self.of_page.remove(&lpn.0) else { return };
        let entry = &mut self.entries[id as usize];
        if entry.state != State::Waiting {
            return;
        }
        entry.state = State::Trimmed;
        self.counts.trimmed += 1;
        self.waiting -= 1;
        told.append(&mut entry.owners);
        let number = entry.number;
        self.leave(number, told);
    }

    /// Whether pages wait for room in it.
    pub(crate) fn is_full(&self) -> bool {
        !self.outside.is_empty()
    }

    /// Whether nothing is in it, nor waits to be.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting + self.programming + self.outside.len() == 0
    }

    /// Pages in it and outside that are not being programmed: the host wrote them, and the FTL has not heard of
    /// them.
    pub(crate) fn unheard(&self) -> u64 {
        (self.waiting + self.outside.len()) as u64
    }
}

/// The mark of owners that are entries of the buffer.
const ENTRY: Owner = 1 << 31;

pub(crate) fn entry_owner(id: u32) -> Owner {
    ENTRY | id
}

pub(crate) fn entry_of(owner: Owner) -> Option<u32> {
    (owner != NOBODY && owner & ENTRY != 0).then_some(owner & !ENTRY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(text: &str) -> Buffer {
        Buffer::new(WriteBuffer::parse(text).unwrap(), 4096, 2).unwrap()
    }

    fn write(page: u32) -> BufferedWrite {
        BufferedWrite { lpn: Lpn(page), hint: Hint::NONE }
    }

    /// The pages that are programmed next.
    fn programs(buffer: &mut Buffer) -> Vec<(u32, u32)> {
        std::iter::from_fn(|| buffer.next_program().map(|(id, write)| (id, write.lpn.0))).collect()
    }

    #[test]
    fn buffers_are_typed_as_a_size_and_parts() {
        for text in ["off", "64MiB:plp=on:ack=arrival:keep=0%", "4KiB:plp=off:ack=program:keep=50%"]
        {
            assert_eq!(WriteBuffer::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            WriteBuffer::parse("1M").unwrap().to_string(),
            "1MiB:plp=on:ack=arrival:keep=0%"
        );
        for text in
            ["", "0", "on", "1MiB:", "1MiB:plp", "1MiB:plp=maybe", "1MiB:keep=200%", "1MiB:x=1"]
        {
            assert_eq!(WriteBuffer::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_rewrite_keeps_the_turn_of_the_page_until_it_is_programmed() {
        let mut buffer = buffer("16KiB");
        for page in [1, 2, 3, 1, 3] {
            assert_eq!(buffer.put(write(page), 0), Put::Acknowledged);
        }
        assert_eq!(buffer.counts.coalesced, 2);
        assert_eq!(programs(&mut buffer), [(0, 1), (1, 2)]);
        // Page 1 is being programmed: its rewrite is another page.
        assert_eq!(buffer.put(write(1), 7), Put::Acknowledged);
        assert_eq!(buffer.put(write(4), 8), Put::Waits);
        let mut told = Vec::new();
        buffer.programmed(0, &mut told);
        assert!(buffer.holds(Lpn(1)) && told.is_empty());
        buffer.take_in(&mut told);
        assert_eq!((told, buffer.counts.waited), (vec![8], 1));
    }

    #[test]
    fn a_page_that_is_sent_in_parts_is_programmed_with_all_of_them() {
        let mut buffer = buffer("16KiB");
        for _ in 0..3 {
            buffer.put(BufferedWrite { hint: Hint { lacking: 7, ..Hint::NONE }, ..write(1) }, 0);
        }
        buffer.put(write(2), 0);
        buffer.put(write(2), 0);
        let lacking =
            |buffer: &mut Buffer| buffer.next_program().map(|(_, write)| write.hint.lacking);
        // Three sectors of eight; and a page of which all came twice.
        assert_eq!([lacking(&mut buffer), lacking(&mut buffer)], [Some(5), Some(-8)]);
    }

    #[test]
    fn a_flush_waits_for_what_is_in_a_volatile_buffer() {
        let mut safe = buffer("16KiB:keep=100%");
        let mut volatile = buffer("16KiB:plp=off:keep=100%");
        for buffer in [&mut safe, &mut volatile] {
            buffer.put(write(1), 0);
            buffer.put(write(2), 0);
            buffer.put(write(3), 0);
            assert_eq!(programs(buffer), []);
        }
        assert!(!safe.flush(9) && volatile.flush(9));
        volatile.put(write(4), 0);
        assert_eq!(programs(&mut volatile), [(0, 1), (1, 2)]);
        let mut told = Vec::new();
        volatile.trim(Lpn(3), &mut told);
        volatile.programmed(1, &mut told);
        assert_eq!(told, []);
        volatile.programmed(0, &mut told);
        assert_eq!(told, [9]);
        assert_eq!(programs(&mut volatile), [], "the fourth page came after the flush");
    }

    #[test]
    fn with_acknowledgement_at_the_program_every_version_waits_for_it() {
        let mut buffer = buffer("16KiB:ack=program");
        assert_eq!([buffer.put(write(1), 5), buffer.put(write(1), 6)], [Put::Waits; 2]);
        assert_eq!(programs(&mut buffer), [(0, 1)]);
        let mut told = Vec::new();
        buffer.programmed(0, &mut told);
        assert_eq!((told, buffer.is_empty()), (vec![5, 6], true));
    }
}
