//! What LUNs did of late.

/// What a LUN did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LunWork {
    /// The host read a page.
    HostRead,
    /// The host wrote a page.
    HostProgram,
    /// The FTL read a page, to move it.
    Read,
    /// The FTL programmed a page that it had read.
    Program,
    /// A block was erased.
    Erase,
}

impl LunWork {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::HostRead, Self::HostProgram, Self::Read, Self::Program, Self::Erase];

    /// What viewers of timelines show.
    pub fn name(self) -> &'static str {
        match self {
            Self::HostRead => "host read",
            Self::HostProgram => "host program",
            Self::Read => "read to move",
            Self::Program => "program of a moved page",
            Self::Erase => "erase",
        }
    }
}

/// What a LUN did without a break; waits for its channel in between are part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// Its number on the drive.
    pub lun: u32,
    /// When it began, in nanoseconds.
    pub begin_ns: u64,
    /// When it was over, or interrupted.
    pub end_ns: u64,
    /// What it was.
    pub work: LunWork,
    /// The page of the drive, or the block that was erased.
    pub page: u32,
    /// The number of the request that asked for it, if one did.
    pub request: Option<u64>,
}

/// How many slices there are, at least, before old ones are forgotten.
const SLICES_MIN: usize = 1 << 16;

/// What the LUNs did of late, and may be going to do.
#[derive(Debug, Clone, Default)]
pub struct Log {
    slices: Vec<Slice>,
    /// How many there may be before it is worth it to forget some.
    slices_max: usize,
}

impl Log {
    pub(crate) fn add(&mut self, slice: Slice) {
        if slice.begin_ns < slice.end_ns {
            self.slices.push(slice);
        }
    }

    /// Those that overlap this time, in order of LUNs and time.
    pub fn during(&self, begin_ns: u64, end_ns: u64) -> Vec<Slice> {
        let overlaps = |slice: &&Slice| slice.end_ns > begin_ns && slice.begin_ns < end_ns;
        let mut during: Vec<_> = self.slices.iter().filter(overlaps).copied().collect();
        during.sort_by_key(|slice| (slice.lun, slice.begin_ns));
        during
    }

    /// Whether it is time to forget some.
    pub fn is_full(&self) -> bool {
        self.slices.len() >= self.slices_max.max(SLICES_MIN)
    }

    /// Forgets what was over by then.
    pub fn forget(&mut self, before_ns: u64) {
        self.slices.retain(|slice| slice.end_ns > before_ns);
        self.slices_max = 2 * self.slices.len();
    }
}
