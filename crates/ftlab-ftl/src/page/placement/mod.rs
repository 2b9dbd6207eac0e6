//! Placements: which open block takes a page.

mod baseline;
mod dac;
mod lru;
mod mbf;
mod oracle;
mod sep_gc;
mod sepbit;
mod single;

pub use baseline::Baseline;
pub use dac::{Dac, DacParameters, Level};
pub use lru::{Lru, LruParameters};
#[cfg(test)]
pub(crate) use mbf::places_of;
pub use mbf::{Mbf, MbfParameters};
pub use oracle::{HotArea, Oracle, OracleParameters};
pub use sep_gc::SepGc;
pub use sepbit::{History, SepBit, SepBitParameters};
pub use single::Single;

use crate::Metadata;
use crate::page::Drive;
use crate::page::policy::{HostWrite, Relocation, Stream, StreamId};
use ftlab_flash::{BlockId, Lpn};

/// Chooses the stream of every page; any victim rule goes with it.
pub trait Placement: Send {
    /// The streams, in order of their ids.
    fn streams(&self) -> Vec<Stream>;

    /// Fetches what the placement keeps of `lpn`, whose present version lies in `block` and which is
    /// about to be written or moved; changes speed only.
    #[inline]
    fn fetch_ahead(&self, _lpn: Lpn, _block: BlockId) {}

    /// Which open block takes a page that the host writes.
    fn place_host(&mut self, write: HostWrite, drive: &Drive) -> StreamId;

    /// Which open block takes a valid page of a victim.
    fn place_relocation(&mut self, page: Relocation, drive: &Drive) -> StreamId;

    /// `block` has been opened; [`Drive::stream_of`] tells for which stream.
    fn on_block_opened(&mut self, _block: BlockId, _drive: &Drive) {}

    /// `block` has been collected and erased.
    fn on_block_erased(&mut self, _block: BlockId, _drive: &Drive) {}

    /// The host trimmed `lpn`, which held data.
    fn on_trim(&mut self, _lpn: Lpn, _drive: &Drive) {}

    /// What the placement has to remember, as a formula.
    fn metadata(&self) -> Metadata;

    /// Bytes of memory that the placement takes here.
    fn metadata_bytes(&self) -> usize {
        0
    }

    /// Verifies the placement's own invariants.
    fn check(&self, _drive: &Drive) -> Result<(), String> {
        Ok(())
    }
}
