//! Requests of the host, on flash with a clock.

use crate::stop::Stop;
use ftlab_flash::{Arrival, Asker, Awaited, BufferedWrite, Flash, HostOp, Lpn, Step, Timed};
use ftlab_ftl::{Ftl, Observer, PageBatch, PageWrite};
use std::ops::Range;

/// Consecutive pages of a request: all of it, or a part.
#[derive(Debug, Clone, Copy)]
pub struct RequestPart {
    /// What the host asks for.
    pub op: HostOp,
    /// The first page; a write takes the pages that are next in its batch.
    pub first: Lpn,
    /// How many pages; a flush has none.
    pub pages: u32,
    /// Sectors of 512 bytes of these pages that the host does not ask for.
    pub lacking: u32,
    /// When the request arrives.
    pub arrival: Arrival,
    /// Who asks, and for which stream.
    pub asker: Asker,
    /// Whether this is its first part.
    pub begins: bool,
    /// Whether this is its last.
    pub ends: bool,
}

/// How many requests ahead a mapping entry is fetched, and what depends on it: the wait for memory, in requests.
const FETCH_MAPPING_AHEAD: usize = 8;
const FETCH_OLD_VERSION_AHEAD: usize = 4;

/// An FTL on flash with a clock.
type TimedFtl<F, O> = dyn Ftl<Flash = Timed<F>, Observer = O>;

/// Carries out parts of requests in order; the writes of `batch` are those of their writes.
pub(crate) fn serve<F: Flash, O: Observer>(
    ftl: &mut TimedFtl<F, O>,
    batch: &PageBatch,
    parts: &[RequestPart],
) -> Result<(), Stop> {
    let has_buffer = ftl.flash_mut().has_buffer();
    let mut written = 0;
    for (index, part) in parts.iter().enumerate() {
        if let Some(far) = parts.get(index + FETCH_MAPPING_AHEAD) {
            ftl.fetch_ahead(parts[index + FETCH_OLD_VERSION_AHEAD].first, far.first);
        }
        if part.begins {
            begin(ftl, part)?;
        }
        ftl.flash_mut().ask_for_pages(part.pages, part.lacking, part.asker);
        let pages = (part.first.0..part.first.0 + part.pages).map(Lpn);
        match part.op {
            HostOp::Write => {
                let which = written..written + part.pages as usize;
                written = which.end;
                if has_buffer {
                    put(ftl, batch, which);
                } else {
                    ftl.write_some(batch, which)?;
                }
            }
            HostOp::Read => {
                for lpn in pages {
                    if !has_buffer || !ftl.flash_mut().read_buffered(lpn) {
                        let from = ftl.flash_page(lpn);
                        ftl.flash_mut().read_for_host(from);
                        from.map_or(Ok(()), |page| ftl.count_read(page))?;
                    }
                }
            }
            HostOp::Trim => {
                for lpn in pages {
                    ftl.flash_mut().trim_buffered(lpn);
                    ftl.trim(lpn)?;
                }
            }
            HostOp::Flush => ftl.flash_mut().flush(),
        }
        if part.ends {
            ftl.flash_mut().end_request();
        }
    }
    Ok(())
}

/// Passes time until a request of a host is complete, at most to `until_ns`: which host, and when.
pub(crate) fn await_hosts<F: Flash, O: Observer>(
    ftl: &mut TimedFtl<F, O>,
    until_ns: u64,
) -> Result<Option<(u32, u64)>, Stop> {
    loop {
        match ftl.flash_mut().await_hosts(until_ns) {
            Awaited::Program(write) => program(ftl, write)?,
            Awaited::Host { host, done_ns } => return Ok(Some((host, done_ns))),
            Awaited::Nobody => return Ok(None),
        }
    }
}

/// Writes everything that is in the write buffer.
pub(crate) fn empty_buffer<F: Flash, O: Observer>(ftl: &mut TimedFtl<F, O>) -> Result<(), Stop> {
    while let Some(write) = ftl.flash_mut().empty_buffer() {
        program(ftl, write)?;
    }
    Ok(())
}

/// Passes time to the arrival of the request of a part.
fn begin<F: Flash, O: Observer>(ftl: &mut TimedFtl<F, O>, part: &RequestPart) -> Result<(), Stop> {
    loop {
        match ftl.flash_mut().begin_request(part.op, part.arrival) {
            Step::Program(write) => program(ftl, write)?,
            Step::Idle => work_while_idle(ftl)?,
            Step::Arrived => return Ok(()),
        }
    }
}

/// Lets the FTL work, a page for each LUN.
fn work_while_idle<F: Flash, O: Observer>(ftl: &mut TimedFtl<F, O>) -> Result<(), Stop> {
    let luns = ftl.flash().luns();
    if !ftl.work_while_idle(luns)? {
        ftl.flash_mut().rest();
    }
    Ok(())
}

/// Puts pages of `batch` into the write buffer.
fn put<F: Flash, O: Observer>(ftl: &mut TimedFtl<F, O>, batch: &PageBatch, which: Range<usize>) {
    for index in which {
        let PageWrite { page, hint, .. } = batch.page_write(index);
        ftl.flash_mut().buffer_write(BufferedWrite { lpn: page.lpn, hint });
    }
}

/// Writes a page of the write buffer.
fn program<F: Flash, O: Observer>(
    ftl: &mut TimedFtl<F, O>,
    write: BufferedWrite,
) -> Result<(), Stop> {
    let BufferedWrite { lpn, hint } = write;
    ftl.write_page(PageWrite { hint, ..PageWrite::by_host(lpn, &[]) })?;
    Ok(())
}
