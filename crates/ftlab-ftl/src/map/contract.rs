//! What a map decides.

use ftlab_flash::Lpn;

/// Which entries of a map are in memory. It decides; `PagedMap` carries out.
pub(crate) trait Map: Send {
    /// The place of `lpn` is asked for: whether its entry is in memory.
    fn look_up(&mut self, lpn: Lpn) -> bool;

    /// Drops entries until there is room for those that come with `lpn`, or until some that changed have to be written
    /// back: the number of their translation page. It is asked again until it returns none.
    fn make_room(&mut self, lpn: Lpn) -> Option<u32>;

    /// The entry of `lpn` comes into memory, where there is room for it.
    fn load(&mut self, lpn: Lpn);

    /// `lpn` is at another place, or nowhere: whether its entry is in memory, which tells so from now on.
    fn change(&mut self, lpn: Lpn) -> bool;

    /// Whether the entry of `lpn` in memory tells otherwise than its translation page.
    fn is_changed(&self, lpn: Lpn) -> bool;

    /// Bytes of memory that are taken here.
    fn memory_bytes(&self) -> usize;

    /// Fetches what will be asked about a page soon.
    fn fetch_ahead(&self, lpn: Lpn);

    /// Verifies its own invariants; the message says what is broken.
    fn check(&self) -> Result<(), String>;
}
