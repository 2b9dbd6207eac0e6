//! What decides: policies, and the placements and victim rules of which pairs make one.
//!
//! Each is one file, or a folder with one `policy.rs`, under the contracts of
//! [`page::policy`](crate::page::policy); it presents itself as [`page::entry`](crate::page::entry) says.

pub mod address_groups;
pub mod dogi;
pub mod fk;
pub mod groups;
pub mod hazard;
pub mod midas;
pub mod nodap;
pub mod placement;
pub mod tools;
pub mod two_r;
pub mod victim;
