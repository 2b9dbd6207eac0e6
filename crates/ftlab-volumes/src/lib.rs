//! The requests of the volumes of a trace. Which volumes count and what runs on them is up to `ftlab-fleet`.
//!
//! [`Spread`] sets the requests of a trace apart by volume, in a file of [parts](PartWriter). [`SharesSource`] reads a
//! volume from the parts of all traces, [`Merged`] several volumes in the order of time. [`Facts`] say what is in a volume.
//! [`FleetSource`] makes volumes up.

#![forbid(unsafe_code)]

mod codec;
mod facts;
mod generated;
mod merged;
mod parts;
mod shares;
mod spread;

pub use facts::{Facts, Reach};
pub use generated::{FleetSource, generated, generator_version};
pub use merged::{Merged, Placed};
pub use parts::PartWriter;
pub use shares::SharesSource;
pub use spread::{Share, Spread};
