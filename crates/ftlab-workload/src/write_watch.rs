//! Ends that are never reached: what is counted are page writes, and a workload brings none.

use ftlab_trace::{Op, RequestBatch, TraceError};

/// Requests in a row without a page write, after which a workload that does not end by itself is not read further.
const IDLE_REQUESTS_MAX: u64 = if cfg!(test) { 1 << 14 } else { 1 << 24 };

/// Watches whether a workload writes pages. Whoever reads one that has no end, or begins again at its end, asks it.
///
/// ```
/// use ftlab_trace::{Op, RequestBatch};
/// use ftlab_workload::WriteWatch;
/// let (mut watch, mut batch) = (WriteWatch::default(), RequestBatch::new());
/// batch.push(Op::Read, 0, 8);
/// watch.see(&batch);
/// assert!(watch.end_pass("reads.csv").is_err());
/// batch.push(Op::Write, 0, 8);
/// watch.see(&batch);
/// assert!(watch.end_pass("reads.csv").is_ok());
/// ```
#[derive(Debug, Clone, Default)]
pub struct WriteWatch {
    /// Requests since the last page write.
    idle: u64,
    /// Whether there was one in this pass.
    has_written: bool,
}

impl WriteWatch {
    /// Sees the next requests. A batch without any counts for one, so that empty ones come to an end, too.
    pub fn see(&mut self, batch: &RequestBatch) {
        let mut requests = batch.op.iter().zip(&batch.sectors);
        let last = requests.rposition(|(op, sectors)| *op == Op::Write && *sectors > 0);
        if let Some(last) = last {
            self.has_written = true;
            self.idle = (batch.len() - 1 - last) as u64;
        } else {
            self.idle += batch.len().max(1) as u64;
        }
    }

    /// What came so far is no sign that nothing else comes: time passes.
    pub fn forget(&mut self) {
        self.idle = 0;
    }

    /// An error if the workload `name`, which has no end, has brought no page write for too long.
    pub fn check(&self, name: &str) -> Result<(), TraceError> {
        if self.idle <= IDLE_REQUESTS_MAX {
            return Ok(());
        }
        Err(Self::never(name, &format!("no page writes in {IDLE_REQUESTS_MAX} requests in a row")))
    }

    /// An error if the workload `name` brought no page write from its first request to its last; it begins again.
    pub fn end_pass(&mut self, name: &str) -> Result<(), TraceError> {
        let requests = std::mem::take(&mut self.idle);
        if std::mem::take(&mut self.has_written) {
            return Ok(());
        }
        Err(TraceError::NoPageWrites {
            name: name.into(),
            what: format!("it has no page writes at all among its {requests} requests"),
            remedy: "take a workload that writes",
        })
    }

    /// The error of a workload that neither writes nor ends.
    pub(crate) fn never(name: &str, what: &str) -> TraceError {
        TraceError::NoPageWrites {
            name: name.into(),
            what: format!("{what}, and it does not end by itself"),
            remedy: "take a workload that writes, or one that ends",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_since_the_last_page_write() {
        let mut watch = WriteWatch::default();
        let mut batch = RequestBatch::with_limit(4);
        let last = IDLE_REQUESTS_MAX / 4;
        for (op, sectors) in [(Op::Read, 8), (Op::Trim, 8), (Op::Flush, 0), (Op::Write, 0)] {
            batch.push(op, 0, sectors);
        }
        for _ in 0..last {
            watch.see(&batch);
        }
        watch.check("t").unwrap();
        batch.push(Op::Write, 0, 1);
        batch.push(Op::Read, 0, 1);
        watch.see(&batch);
        assert_eq!(watch.idle, 1);
        batch.clear();
        for _ in 0..=IDLE_REQUESTS_MAX {
            watch.see(&batch);
        }
        let error = watch.check("t").unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "t: no page writes in {IDLE_REQUESTS_MAX} requests in a row, and it does not end by itself; take a \
                 workload that writes, or one that ends"
            )
        );
        watch.forget();
        watch.check("t").unwrap();
    }

    #[test]
    fn jobs_are_read_until_those_that_write_have_ended() {
        let mut file = tempfile::Builder::new().suffix(".fio").tempfile().unwrap();
        let jobs = "[global]\nfilename=drive\nsize=1m\n[r]\nrw=randread\ntime_based\nruntime=5\n[w]\nrw=write\n";
        std::io::Write::write_all(&mut file, jobs.as_bytes()).unwrap();
        let spec = format!("fio:file={}", file.path().display()).parse().unwrap();
        let space = ftlab_trace::Space { logical_pages: 256, page_bytes: 4096, seed: 1 };
        let mut source = crate::build_to_write(&spec, &space).unwrap();
        let (mut batch, mut writes) = (RequestBatch::new(), 0);
        let error = loop {
            match source.next_batch(&mut batch) {
                Ok(_) => writes += batch.op.iter().filter(|op| **op == Op::Write).count(),
                Err(error) => break error.to_string(),
            }
        };
        assert!(writes == 256 && error.contains("no page writes in "), "{writes}: {error}");
    }

    #[test]
    fn each_pass_is_judged_by_itself() {
        let (mut watch, mut batch) = (WriteWatch::default(), RequestBatch::new());
        batch.push(Op::Write, 0, 8);
        batch.push(Op::Read, 0, 8);
        watch.see(&batch);
        watch.end_pass("t").unwrap();
        batch.op[0] = Op::Trim;
        watch.see(&batch);
        let error = watch.end_pass("t").unwrap_err().to_string();
        assert!(error.starts_with("t: it has no page writes at all among its "), "{error}");
    }
}
