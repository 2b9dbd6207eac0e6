//! Requests of the host, on flash with a clock.

use crate::any_ftl::Stop;
use ftlab_flash::{Arrival, Flash, HostOp, Lpn, Timed};
use ftlab_ftl::{Ftl, Observer, PageBatch};

/// Consecutive pages of a request: all of it, or a part.
#[derive(Debug, Clone, Copy)]
pub struct RequestPart {
    /// What the host asks for.
    pub op: HostOp,
    /// The first page; a write takes the pages that are next in its batch.
    pub first: Lpn,
    /// How many pages; a flush has none.
    pub pages: u32,
    /// When the request arrives.
    pub arrival: Arrival,
    /// Whether this is its first part.
    pub begins: bool,
    /// Whether this is its last.
    pub ends: bool,
}

/// Carries out parts of requests in order; the writes of `batch` are those of their writes.
pub(crate) fn serve<F: Flash, O: Observer>(
    ftl: &mut dyn Ftl<Flash = Timed<F>, Observer = O>,
    batch: &PageBatch,
    parts: &[RequestPart],
) -> Result<(), Stop> {
    let mut written = 0;
    for part in parts {
        if part.begins {
            ftl.flash_mut().begin_request(part.op, part.arrival);
        }
        let pages = (part.first.0..part.first.0 + part.pages).map(Lpn);
        match part.op {
            HostOp::Write => {
                let after = written + part.pages as usize;
                ftl.write_some(batch, written..after)?;
                written = after;
            }
            HostOp::Read => {
                for lpn in pages {
                    let from = ftl.flash_page(lpn);
                    ftl.flash_mut().read_for_host(from);
                }
            }
            HostOp::Trim => {
                for lpn in pages {
                    ftl.trim(lpn)?;
                }
            }
            HostOp::Flush => {}
        }
        if part.ends {
            ftl.flash_mut().end_request();
        }
    }
    Ok(())
}
