//! What a chip is like, and the drive that it is in: times, LUNs and channels, and what LUNs do next.

use crate::flash_page::FlashPage;
use crate::page_times::PageTimes;
use crate::read_retries::ReadRetries;

ftlab_spec::choices! {
    /// Where the pages of an erase block are.
    pub enum Layout {
        /// The erase block is a superblock: page i of it is on LUN i mod n, and it is erased on all.
        Superblock = "superblock",
        /// Erase block b is on LUN b mod n as a whole.
        Block = "block",
    }
}

ftlab_spec::choices! {
    /// What a LUN does next.
    pub enum Priority {
        /// What it was asked for first; it waits until that can begin.
        None = "none",
        /// What it was asked for first; nothing waits for anything but its LUN, as FEMU has it.
        Femu = "femu",
        /// Reads before programs before erases, of those that can begin.
        ReadFirst = "read-first",
    }
}

ftlab_spec::choices! {
    /// With priority=read-first: where collections come.
    pub enum GcPriority {
        /// Their reads and programs are like those of the host.
        Same = "same",
        /// After everything that the host asked for.
        Last = "last",
        /// Before everything that the host asked for, but for erases, which come after reads.
        First = "first",
    }
}

ftlab_spec::choices! {
    /// With priority=read-first: what a read of the host interrupts.
    pub enum Suspend {
        /// Nothing.
        Off = "off",
        /// Programs.
        Programs = "programs",
        /// Erases.
        Erases = "erases",
        /// Programs and erases.
        Both = "both",
    }
}

impl Suspend {
    pub(crate) fn programs(self) -> bool {
        matches!(self, Self::Programs | Self::Both)
    }

    pub(crate) fn erases(self) -> bool {
        matches!(self, Self::Erases | Self::Both)
    }
}

ftlab_spec::choices! {
    /// What the pages of a word line have to do with each other.
    pub enum PageTypes {
        /// Nothing: each takes the mean of their times.
        Mean = "mean",
        /// Each takes its own time.
        Each = "each",
        /// They are read each in its own time, and programmed at once, in the sum of their times.
        OneShot = "one-shot",
    }
}

ftlab_spec::parameters! {
    /// How long operations take, and what there is that does them; times are per page of the simulated drive, whatever
    /// its size.
    pub struct ChipTimes {
        /// Microseconds to read a page from the cells; with page-types, those of the pages of a word line, as 48/64.
        read_us: PageTimes = PageTimes::alike(25.0), "read-us", from "FASTer (SNAPI 2010), table I", of "chip";
        /// Microseconds to program a page; with page-types, those of the pages of a word line, as 850/2300.
        program_us: PageTimes = PageTimes::alike(200.0), "program-us", from "FASTer (SNAPI 2010), table I", of "chip";
        /// Microseconds to erase a block.
        erase_us: f64 = 1500.0, "erase-us" in 0.0..=1e9, from "FASTer (SNAPI 2010), table I", of "chip";
        /// Microseconds to read a page of an SLC cache from the cells.
        slc_read_us: f64 = 25.0, "slc-read-us" in 0.0..=1e9, from "SLC, as FASTer (SNAPI 2010), table I", of "chip";
        /// Microseconds to program a page of an SLC cache.
        slc_program_us: f64 = 200.0, "slc-program-us" in 0.0..=1e9, from "SLC, as FASTer (SNAPI 2010), table I", of "chip";
        /// Microseconds to transfer a page over its channel, in or out.
        transfer_us: f64 = 0.0, "transfer-us" in 0.0..=1e9, from "FASTer (SNAPI 2010) counts none", of "drive";
        /// Channels, each used by one transfer at a time.
        channels: u32 = 1, "channels" in 1..=1024, from "one, as FASTer (SNAPI 2010) counts", of "drive";
        /// LUNs on a channel, each used by one operation at a time.
        luns: u32 = 1, "luns" in 1..=1024, from "one, as FASTer (SNAPI 2010) counts", of "drive";
        /// Where the pages of an erase block are.
        layout: Layout = Layout::Superblock, "layout", from "our choice", of "drive";
    }
}

ftlab_spec::parameters! {
    /// In which order LUNs do what they are asked for.
    pub struct LunOrder {
        /// What a LUN does next.
        priority: Priority = Priority::None, "priority", from "our choice", of "drive";
    }
}

ftlab_spec::parameters! {
    /// What LUNs that choose do next.
    pub struct LunChoice {
        /// With priority=read-first: where the operations of collections come.
        gc_priority: GcPriority = GcPriority::Same, "gc-priority", from "our choice", of "drive";
        /// With priority=read-first: what reads of the host interrupt.
        suspend: Suspend = Suspend::Off, "suspend", from "our choice", of "drive";
        /// Microseconds that an interruption takes, before the read and after it together.
        suspend_us: f64 = 5.0, "suspend-us" in 0.0..=1e6, from "our choice", of "chip";
        /// Microseconds of a program or erase between the points at which it can be interrupted, such as its pulses,
        /// counted from its end; a read waits for the next one. 0 if it can be at any time.
        suspend_slice_us: f64 = 0.0, "suspend-slice-us" in 0.0..=1e6, from "our choice", of "chip";
        /// How often the same program or erase may be interrupted; 0 for any number of times.
        suspend_max: u32 = 0, "suspend-max", from "our choice", of "drive";
        /// With priority=read-first: whether the page of the chip that a LUN programs next comes over the channel while it
        /// still programs the one before (cache program). It is then programmed right after that.
        cached_transfers: bool = false, "cached-transfers", from "ONFI, page cache program; off as papers count", of "drive";
    }
}

ftlab_spec::parameters! {
    /// How the pages of a chip differ.
    pub struct PageKinds {
        /// Whether each page takes its own time by its place in its word line: LSB, CSB, MSB.
        page_types: PageTypes = PageTypes::Mean, "page-types", from "the means, as papers count", of "chip";
        /// Planes of a LUN, on which the pages of a block take turns; those of the same offset are programmed at
        /// once.
        planes: u32 = 1, "planes" in 1..=16, from "one, as FASTer (SNAPI 2010) counts", of "chip";
        /// Page of the chip, which is read and programmed as one, such as 16KiB: with 4 KiB pages, four that follow
        /// each other. Pages of it, and of those at the same place of other planes, that a collection or a request
        /// reads one after the other take one read and a transfer each. Times of reads and programs are then those
        /// of a page of the chip.
        flash_page: FlashPage = FlashPage::OFF, "flash-page", from "as FASTer (SNAPI 2010) counts", of "chip";
        /// Retries of a read by the P/E cycles of its block: 1000:1/3000:3 for one from 1,000 on and three from
        /// 3,000 on. Each takes another read and transfer.
        read_retries: ReadRetries = ReadRetries::default(), "read-retries", from "none: new flash", of "chip";
        /// With read-retries: P/E cycles that every block has had before.
        pe_cycles: u32 = 0, "pe-cycles" in 0..=1_000_000, from "new flash", of "chip";
    }
}

ftlab_spec::parameters! {
    /// Times of a chip, the order of its work, and the kinds of its pages.
    pub struct ChipParameters {
        ..times: ChipTimes;
        ..order: LunOrder;
        ..choice: LunChoice;
        ..pages: PageKinds;
    }
}

impl ChipParameters {
    /// LUNs of the drive.
    pub fn luns(&self) -> u32 {
        self.times.channels * self.times.luns
    }
}

/// Microseconds as whole nanoseconds.
pub(crate) fn nanoseconds(microseconds: f64) -> u64 {
    (microseconds * 1e3).round() as u64
}
