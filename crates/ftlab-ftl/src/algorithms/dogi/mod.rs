//! DOGI: groups by predicted lifetimes, as many as the predictions are good for.

mod chain;
mod grouping;
mod hot;
mod policy;
mod victims;

pub use policy::{Categories, Dogi, DogiParameters, LastGroup};
