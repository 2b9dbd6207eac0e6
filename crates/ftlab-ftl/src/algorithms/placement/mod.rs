//! Placements: which open block takes a page.

mod baseline;
pub(crate) mod classes;
mod dac;
mod fadac;
pub(crate) mod fk;
mod lru;
mod mbf;
mod multilog;
mod nvme_fdp;
mod oracle;
mod phftl;
mod sep_gc;
mod sepbit;
mod sepbit_multilog;
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
pub use nvme_fdp::{HandleSet, Inner, NvmeFdp, NvmeFdpParameters, UnitSize};
pub use oracle::{HotArea, Oracle, OracleParameters};
pub use phftl::{Phftl, PhftlParameters};
pub use sep_gc::SepGc;
pub use sepbit::{History, SepBit, SepBitParameters};
pub use sepbit_multilog::{SepBitMultiLog, SepBitMultiLogParameters};
pub use sfs::{Sfs, SfsParameters};
pub use single::Single;
pub use warcip::{Warcip, WarcipParameters};
