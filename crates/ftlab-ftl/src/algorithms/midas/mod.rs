//! MiDAS: a chain of groups whose sizes follow a model of how pages live.

mod groups;
mod hot;
mod intervals;
mod model;
mod policy;

pub use policy::Midas;
