//! Placements: which open block takes a page.

mod baseline;
mod dac;
mod fadac;
mod fk;
mod lru;
mod mbf;
mod multilog;
mod nvme_fdp;
mod oracle;
mod sep_gc;
mod sepbit;
mod sfs;
mod single;
mod warcip;

pub use baseline::Baseline;
pub use dac::{Dac, DacParameters, Level};
pub use fadac::{Fadac, FadacParameters};
pub use fk::{Fk, FkParameters, Spacing};
pub use lru::{Lru, LruParameters};
#[cfg(test)]
pub(crate) use mbf::places_of;
pub use mbf::{Mbf, MbfParameters};
pub use multilog::{MultiLog, MultiLogParameters};
pub use nvme_fdp::{Handles, NvmeFdp, NvmeFdpParameters};
pub use oracle::{HotArea, Oracle, OracleParameters};
pub use sep_gc::SepGc;
pub use sepbit::{History, SepBit, SepBitParameters};
pub use sfs::{Sfs, SfsParameters};
pub use single::Single;
pub use warcip::{Warcip, WarcipParameters};

use crate::page::Drive;
use crate::page::policy::{Hints, HostWrite, Relocation, Stream, StreamId};
use crate::{Metadata, State};
use ftlab_flash::{BlockId, Lpn};

/// Chooses the stream of every page; any victim rule goes with it.
pub trait Placement: State + Send {
    /// The streams, in order of their ids.
    fn streams(&self) -> Vec<Stream>;

    /// The fewest free blocks that have to be in reserve, as of
    /// [`Policy::reserve_blocks_min`](crate::page::Policy::reserve_blocks_min).
    fn reserve_blocks_min(&self) -> u32 {
        self.streams().iter().filter(|stream| stream.takes_relocations).count() as u32
    }

    /// Fetches what the placement keeps of `lpn`, whose present version lies in `block` and which is
    /// about to be written or moved; changes speed only.
    #[inline]
    fn fetch_ahead(&self, _lpn: Lpn, _block: BlockId) {}

    /// What hints it asks for, as of [`Policy::hints`](crate::page::Policy::hints).
    #[inline]
    fn hints(&self) -> Hints {
        Hints::None
    }

    /// Which open block takes a page that the host writes.
    fn place_host(&mut self, write: HostWrite, drive: &Drive) -> StreamId;

    /// Which open block takes a valid page of a victim.
    fn place_relocation(&mut self, page: Relocation, drive: &Drive) -> StreamId;

    /// `block` has been opened; [`Drive::stream_of`] tells for which stream.
    fn on_block_opened(&mut self, _block: BlockId, _drive: &Drive) {}

    /// `block` is full; from now on it may be a victim.
    fn on_block_sealed(&mut self, _block: BlockId, _drive: &Drive) {}

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

const CLASSES: [&str; 8] =
    ["class 0", "class 1", "class 2", "class 3", "class 4", "class 5", "class 6", "class 7"];

/// The most classes that are told apart.
pub(crate) const CLASSES_MAX: u32 = CLASSES.len() as u32;

/// Streams of so many classes from cold to hot, that take host writes and relocated pages alike.
fn classes(count: usize) -> Vec<Stream> {
    let classes = CLASSES.iter().take(count).enumerate();
    let stream = |(class, &name)| Stream { name, takes_relocations: true, cold: class == 0 };
    classes.map(stream).collect()
}

/// The binary logarithm of a number of at least 1, straight lines within an octave.
#[inline]
fn log2(number: f32) -> f32 {
    (number.max(1.0).to_bits() - 1.0_f32.to_bits()) as f32
        / (1_u32 << (f32::MANTISSA_DIGITS - 1)) as f32
}
