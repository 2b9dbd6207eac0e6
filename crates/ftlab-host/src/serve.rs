//! A host above an FTL.

use crate::host::{Awaited, Host, HostedFlash, Step};
use crate::host_op::HostOp;
use crate::request_part::RequestPart;
use crate::write_buffer::BufferedWrite;
use ftlab_flash::Flash;
use ftlab_ftl::{Ftl, FtlError, Observer, PageBatch, PageWrite};
use std::ops::Range;

/// How many requests ahead a mapping entry is fetched, and what depends on it: the wait for memory, in requests.
const FETCH_MAPPING_AHEAD: usize = 8;
const FETCH_OLD_VERSION_AHEAD: usize = 4;

/// An FTL below a host.
type HostedFtl<F, O> = dyn Ftl<Flash = HostedFlash<F>, Observer = O>;

/// Whether an FTL could do what the host asked for.
type Served<F, T = ()> = Result<T, FtlError<<F as Flash>::Error>>;

impl Host {
    /// Writes and trims pages one by one; those arrive at these times of a trace, in microseconds, if there are some,
    /// or as the timing says.
    pub fn write_pages<F: Flash, O: Observer>(
        &mut self,
        ftl: &mut HostedFtl<F, O>,
        batch: &PageBatch,
        arrivals_us: &[u64],
    ) -> Served<F> {
        if !arrivals_us.is_empty() {
            let (chip, pages) = ftl.flash_mut().parts_mut();
            pages.expect(arrivals_us, chip.end_ns());
        }
        ftl.apply(batch)
    }

    /// Carries out writes that all arrive at one time, in nanoseconds; when the last is complete, or 0 if there is
    /// none.
    pub fn write_pages_at<F: Flash, O: Observer>(
        &mut self,
        ftl: &mut HostedFtl<F, O>,
        batch: &PageBatch,
        arrival_ns: u64,
    ) -> Served<F, u64> {
        let (chip, pages) = ftl.flash_mut().parts_mut();
        chip.take_answer();
        pages.expect_at(arrival_ns, batch.writes.len());
        ftl.apply(batch)?;
        Ok(ftl.flash_mut().chip_mut().take_answer().done_ns.unwrap_or(0))
    }

    /// Carries out parts of requests in order; the writes of `batch` are those of their writes.
    pub fn serve<F: Flash, O: Observer>(
        &mut self,
        ftl: &mut HostedFtl<F, O>,
        batch: &PageBatch,
        parts: &[RequestPart],
    ) -> Served<F> {
        let has_buffer = self.has_buffer();
        let mut written = 0;
        for (index, part) in parts.iter().enumerate() {
            if let Some(far) = parts.get(index + FETCH_MAPPING_AHEAD) {
                ftl.fetch_ahead(parts[index + FETCH_OLD_VERSION_AHEAD].first, far.first);
            }
            if part.begins {
                self.begin(ftl, part)?;
            }
            self.ask_for_pages(part.pages, part.lacking, part.asker);
            let which = written..written + part.pages as usize;
            match part.op {
                HostOp::Write => {
                    written = which.end;
                    if has_buffer {
                        self.put(ftl, batch, which);
                    } else {
                        ftl.write_some(batch, which)?;
                    }
                }
                HostOp::Read => self.read_pages(ftl, part, has_buffer)?,
                HostOp::Trim => self.trim_pages(ftl, part)?,
                HostOp::Flush => self.flush(),
            }
            if part.ends {
                self.end_request(ftl.flash_mut().chip_mut());
            }
        }
        Ok(())
    }

    /// Passes time until a request of a host is complete, at most to `until_ns`: which host, and when.
    pub fn await_any<F: Flash, O: Observer>(
        &mut self,
        ftl: &mut HostedFtl<F, O>,
        until_ns: u64,
    ) -> Served<F, Option<(u32, u64)>> {
        loop {
            match self.await_hosts(ftl.flash_mut().chip_mut(), until_ns) {
                Awaited::Program(write) => program(ftl, write)?,
                Awaited::Host { host, done_ns } => return Ok(Some((host, done_ns))),
                Awaited::Nobody => return Ok(None),
            }
        }
    }

    /// Writes everything that is in the write buffer.
    pub fn write_buffered<F: Flash, O: Observer>(
        &mut self,
        ftl: &mut HostedFtl<F, O>,
    ) -> Served<F> {
        while let Some(write) = self.empty_buffer(ftl.flash_mut().chip_mut()) {
            program(ftl, write)?;
        }
        Ok(())
    }

    /// Passes time to the arrival of the request of a part.
    fn begin<F: Flash, O: Observer>(
        &mut self,
        ftl: &mut HostedFtl<F, O>,
        part: &RequestPart,
    ) -> Served<F> {
        loop {
            match self.begin_request(ftl.flash_mut(), part.op, part.arrival) {
                Step::Program(write) => program(ftl, write)?,
                Step::Idle => self.work_while_idle(ftl)?,
                Step::Arrived => return Ok(()),
            }
        }
    }

    /// Lets the FTL work, a page for each LUN.
    fn work_while_idle<F: Flash, O: Observer>(&mut self, ftl: &mut HostedFtl<F, O>) -> Served<F> {
        let luns = ftl.flash().chip().luns();
        if !ftl.work_while_idle(luns)? {
            self.rest();
        }
        Ok(())
    }

    /// Puts pages of `batch` into the write buffer.
    fn put<F: Flash, O: Observer>(
        &mut self,
        ftl: &mut HostedFtl<F, O>,
        batch: &PageBatch,
        which: Range<usize>,
    ) {
        let chip = ftl.flash_mut().chip_mut();
        for index in which {
            let PageWrite { page, hint, .. } = batch.page_write(index);
            self.buffer_write(chip, BufferedWrite { lpn: page.lpn, hint });
        }
    }

    fn read_pages<F: Flash, O: Observer>(
        &mut self,
        ftl: &mut HostedFtl<F, O>,
        part: &RequestPart,
        has_buffer: bool,
    ) -> Served<F> {
        for (lpn, following) in part.lpns().zip((0..part.pages).rev()) {
            if has_buffer && self.read_buffered(ftl.flash().chip(), lpn) {
                continue;
            }
            let is_on_flash = ftl.look_up_to_read(lpn, following)?;
            let from = ftl.flash_page(lpn).filter(|_| is_on_flash);
            self.read(ftl.flash_mut().chip_mut(), from);
            from.map_or(Ok(()), |page| ftl.count_read(page))?;
        }
        Ok(())
    }

    fn trim_pages<F: Flash, O: Observer>(
        &mut self,
        ftl: &mut HostedFtl<F, O>,
        part: &RequestPart,
    ) -> Served<F> {
        for lpn in part.lpns() {
            self.trim_buffered(ftl.flash().chip(), lpn);
        }
        ftl.trim_pages(part.first, part.pages)
    }
}

/// Writes a page of the write buffer.
fn program<F: Flash, O: Observer>(ftl: &mut HostedFtl<F, O>, write: BufferedWrite) -> Served<F> {
    let BufferedWrite { lpn, hint } = write;
    ftl.write_page(PageWrite { hint, ..PageWrite::by_host(lpn, &[]) })
}
