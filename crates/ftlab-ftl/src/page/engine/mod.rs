//! The engine: it carries out what a policy decides.

mod adopt;
mod background;
mod ftl;
mod incremental;
mod level;
mod map_page;
mod page_mapped;
mod progress;
mod reclaim;
mod refresh;
mod refreshing;
mod renew_handle;
mod resume;
mod retire;
mod write;

pub use page_mapped::PageMapped;
pub use resume::{Adopt, Resume};
