//! DOGI: groups by predicted lifetimes, as many as the predictions are good for.

mod grouping;
mod hot;
mod policy;
mod victims;

pub use policy::{Candidates, Dogi, DogiParameters, LastGroup};
