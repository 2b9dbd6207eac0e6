//! MiDAS: a chain of groups whose sizes follow a model of how pages live.

mod groups;
mod model;
mod policy;

pub use policy::Midas;
