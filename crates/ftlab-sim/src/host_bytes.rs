//! How many page writes a host needs for its bytes.
//!
//! A host that writes pages in part needs more than one page write for as many bytes as a page has. What the counters of a
//! drive tell is bytes; what is simulated is page writes.

use crate::SimError;
use crate::progress::{Phase, Progress, Status};
use crate::run_options::Experiment;
use ftlab_feed::Bounds;
use ftlab_feed::Chunk;
use ftlab_feed::Feed;
use ftlab_feed::Schedule;
use ftlab_ftl::PageBatch;
use ftlab_trace::Space;
use ftlab_trace::pages::SECTOR_BYTES;

impl Experiment {
    /// Page writes of the workload by the time that its host has sent each of these numbers of bytes, which rise; none
    /// if the host writes whole pages, so that bytes tell page writes. After the end of a workload, its average
    /// continues. Nothing is simulated: it is a pass over the workload.
    pub fn page_writes_at(
        &self,
        host_bytes: &[f64],
        progress: &mut impl Progress,
    ) -> Result<Option<Vec<f64>>, SimError> {
        let last = host_bytes.last().copied().unwrap_or_default();
        if !self.workload.may_write_parts() || last <= 0.0 {
            return Ok(None);
        }
        // Every page write has a sector at least.
        let most = (last / SECTOR_BYTES as f64).ceil() as u64;
        let (mut feed, _) = self.page_writes(most)?;
        let mut pass = Pass::new(host_bytes, self.drive.page_bytes);
        let mut chunk = Chunk::default();
        while !pass.is_complete() && feed.next_chunk(&mut chunk)? {
            chunk.segments().iter().for_each(|segment| pass.add(&segment.batch));
            let status = Status {
                phase: Phase::LookAhead,
                writes: pass.writes,
                share: Some(pass.bytes as f64 / last),
                wafs: Vec::new(),
            };
            if progress.update(&status).is_break() {
                return Err(SimError::Stopped);
            }
        }
        Ok(pass.finish())
    }

    /// The share of the drive's pages that the workload writes again within its first drive write: none if it only fills
    /// the drive. Nothing is simulated: it is a pass over the workload.
    pub fn overwritten_while_filling(&self, progress: &mut impl Progress) -> Result<f64, SimError> {
        let (mut feed, logical_pages) = self.page_writes(u64::MAX)?;
        let mut is_written = vec![false; logical_pages as usize];
        let (mut writes, mut overwritten) = (0, 0_u64);
        let mut chunk = Chunk::default();
        while writes < logical_pages && feed.next_chunk(&mut chunk)? {
            let pages = chunk.segments().iter().flat_map(|segment| &segment.batch.writes);
            for page in pages.take((logical_pages - writes) as usize) {
                writes += 1;
                let was_written = std::mem::replace(&mut is_written[page.index()], true);
                overwritten += u64::from(was_written);
            }
            let status = Status {
                phase: Phase::LookAhead,
                writes,
                share: Some(writes as f64 / logical_pages as f64),
                wafs: Vec::new(),
            };
            if progress.update(&status).is_break() {
                return Err(SimError::Stopped);
            }
        }
        Ok(overwritten as f64 / logical_pages as f64)
    }

    /// The page writes of the workload, this many at most, and the pages of the drive.
    fn page_writes(&self, most: u64) -> Result<(Feed, u64), SimError> {
        let page_bytes = self.drive.page_bytes;
        let trace = self.workload.open_trace(page_bytes, false)?;
        let wanted =
            self.workload.logical_size(self.drive.logical, page_bytes, trace.as_deref())?;
        let (_, drive) = self.drive.configure(wanted)?;
        let logical_pages = u64::from(drive.logical_pages);
        let space = Space { logical_pages, page_bytes, seed: self.seed };
        let bounds = Bounds {
            logical_pages: drive.logical_pages,
            page_bytes,
            wrap: self.wrap,
            ignore_trims: true,
        };
        let source = self.source(trace, &space, false)?;
        Ok((self.feed(source, bounds, Schedule::uncounted(most))?, logical_pages))
    }
}

/// A pass over the page writes of a workload.
struct Pass<'a> {
    wanted: &'a [f64],
    page_bytes: u64,
    /// Page writes at each of the first of these numbers of bytes.
    found: Vec<f64>,
    writes: u64,
    bytes: u64,
}

impl<'a> Pass<'a> {
    fn new(wanted: &'a [f64], page_bytes: u32) -> Self {
        Self { wanted, page_bytes: page_bytes.into(), found: Vec::new(), writes: 0, bytes: 0 }
    }

    fn is_complete(&self) -> bool {
        self.found.len() == self.wanted.len()
    }

    fn add(&mut self, batch: &PageBatch) {
        for lacking in &batch.lacking {
            let lacking = u64::from(lacking.unsigned_abs()) * SECTOR_BYTES;
            self.pass(1, self.page_bytes.saturating_sub(lacking));
        }
        let whole = (batch.writes.len() - batch.lacking.len()) as u64;
        self.pass(whole, whole * self.page_bytes);
    }

    /// Passes page writes, each with as many bytes.
    fn pass(&mut self, writes: u64, bytes: u64) {
        let (from, before) = (self.writes as f64, self.bytes as f64);
        let next = self.wanted[self.found.len()..].iter();
        let reached = next.take_while(|wanted| **wanted <= before + bytes as f64);
        let each = writes as f64 / bytes.max(1) as f64;
        self.found.extend(reached.map(|wanted| from + (wanted - before) * each));
        self.writes += writes;
        self.bytes += bytes;
    }

    fn finish(mut self) -> Option<Vec<f64>> {
        if self.bytes == 0 || self.bytes == self.writes * self.page_bytes {
            return None;
        }
        let each = self.writes as f64 / self.bytes as f64;
        let (writes, bytes) = (self.writes as f64, self.bytes as f64);
        let beyond = self.wanted[self.found.len()..].iter();
        self.found.extend(beyond.map(|wanted| writes + (wanted - bytes) * each));
        Some(self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DriveOptions, Logical, Requests, Workload};
    use ftlab_trace::{Input, OpenOptions, open_input};

    /// What is found of requests of (first sector, sectors) on pages of 4 KiB.
    fn found(requests: &'static [(u64, u64)], host_bytes: &[f64]) -> Option<Vec<f64>> {
        let lines = requests.iter().map(|(at, n)| format!("W,{at},{n}\n"));
        let lines = lines.collect::<Vec<_>>().concat();
        let open = move || {
            let input = Input::from_bytes("requests", lines.clone().into_bytes())?;
            let map = Some("op=1,off:sectors=2,len:sectors=3".into());
            open_input(input, &OpenOptions { map, ..OpenOptions::default() })
        };
        let workload = Workload::Requests(Requests::new("requests", false, open));
        let drive = DriveOptions { logical: Logical::Pages(4096), ..DriveOptions::default() };
        let experiment = Experiment { drive, ..Experiment::new(workload, Vec::new()) };
        experiment.page_writes_at(host_bytes, &mut ()).unwrap()
    }

    #[test]
    fn bytes_are_found_among_page_writes() {
        // Pages with 512, 4,096, 1,024 and 2,048 bytes, the last two of one request.
        let requests: &[(u64, u64)] = &[(3, 1), (8, 8), (22, 6)];
        let at = [256.0, 512.0, 2560.0, 4608.0, 5120.0, 6656.0];
        let writes = [0.5, 1.0, 1.5, 2.0, 2.5, 3.5];
        assert_eq!(found(requests, &at), Some(writes.to_vec()));
        // After the end, 4 page writes for each 7,680 bytes.
        assert_eq!(found(requests, &[7680.0, 15_360.0]), Some(vec![4.0, 8.0]));
    }

    #[test]
    fn a_fill_overwrites_nothing() {
        let of = |workload: &str| {
            let workload = Workload::parse(workload, OpenOptions::default()).unwrap();
            let drive = DriveOptions { logical: Logical::Pages(4096), ..DriveOptions::default() };
            let experiment = Experiment { drive, ..Experiment::new(workload, Vec::new()) };
            experiment.overwritten_while_filling(&mut ()).unwrap()
        };
        // Of pages drawn at random, 1/e are not among the first drive write.
        assert!((of("uniform") - (-1.0_f64).exp()).abs() < 0.02);
        assert!(of("zones:size=512KiB") > 0.2);
        let filling = ["fio --name=a --rw=write --bs=64k", "fio --name=a --rw=randwrite --bs=16k"];
        for workload in filling {
            assert!(of(workload).abs() < 1e-9, "{workload}");
        }
    }

    #[test]
    fn whole_pages_need_no_answer() {
        assert_eq!(found(&[(0, 8), (800, 80)], &[512.0, 1e9]), None);
        assert_eq!(found(&[(0, 1)], &[0.0]), None);
    }
}
