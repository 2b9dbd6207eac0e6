//! The engine: it carries out what a policy decides.

mod background;
mod ftl;
mod incremental;
mod level;
pub(crate) mod page_mapped;
pub(crate) mod progress;
mod resume;
mod retire;

pub use page_mapped::PageMapped;
pub use resume::Resume;
