//! What the host waits for.

/// What a request may spend its time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Its own operation: the cells and the transfer.
    Own,
    /// The LUN was busy with other operations of the host, or those reserved it.
    Lun,
    /// Other pages of the host were on the channel, or had reserved it.
    Channel,
    /// Pages that a collection or a merge moved: the LUN or the channel was busy with them, or the write had to
    /// wait until they were moved.
    Collection,
    /// The LUN erased, or the write had to wait until a block was erased.
    Erase,
    /// The write buffer was full, or the page waited there for its program.
    Buffer,
    /// In the queue of its tenant, before the drive took it.
    Queue,
    /// Pages of a map that does not fit into memory, or of the rest of a unit: the LUN or the channel was busy with
    /// them, or they had to be read first.
    Map,
}

impl Wait {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Own,
        Self::Lun,
        Self::Channel,
        Self::Collection,
        Self::Erase,
        Self::Buffer,
        Self::Queue,
        Self::Map,
    ];
}

/// Nanoseconds by [`Wait`]; their sum is the time from the arrival to the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits([u64; Wait::ALL.len()]);

impl Waits {
    /// So long for one reason.
    pub fn of(cause: Wait, nanoseconds: u64) -> Self {
        let mut waits = Self::default();
        waits.add(cause, nanoseconds);
        waits
    }

    /// So long more for one reason.
    #[inline]
    pub fn add(&mut self, cause: Wait, nanoseconds: u64) {
        self.0[cause as usize] += nanoseconds;
    }

    /// As long more, and for the same reasons, as `other`.
    #[inline]
    pub fn add_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// What came on top of `before`, which is a part of it.
    #[inline]
    pub(crate) fn since(&self, before: &Self) -> Self {
        let mut waits = *self;
        waits.0.iter_mut().zip(before.0).for_each(|(sum, less)| *sum -= less);
        waits
    }

    /// Nanoseconds for this reason.
    pub fn get(&self, cause: Wait) -> u64 {
        self.0[cause as usize]
    }

    /// Nanoseconds for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}
