//! Random numbers of workloads: those of fio, bit for bit, and those of the literature.
//!
//! | file | what it is |
//! |---|---|
//! | `taus` | the generators of fio |
//! | `seeds` | with what its jobs seed them |
//! | `zipf` | fio's zipf distribution |
//! | `ranks`, `rejection` | ranks after Zipf: in fio's formula, and exactly |
//! | `permutation` | every number once, in random order |
//! | `draw` | uniform numbers: below a limit, and below 1 |
//!
//! fio is free software under the GPL, version 2. Nothing here is taken from its source but facts: constants,
//! and the order in which numbers are drawn.
#![forbid(unsafe_code)]

pub mod seeds;

mod draw;
mod permutation;
mod ranks;
mod rejection;
mod taus;
mod zipf;

pub use draw::{draw_below, draw_share, scale_below};
pub use permutation::{NUMBERS_MAX, Permutation};
pub use ranks::{Ranks, ScrambledKeys, ZETA_TERMS_MAX, zeta};
pub use rejection::Rejection;
pub use taus::{Random, Taus88, Taus258};
pub use zipf::{SPREAD, Zipf};
